#include "importers/models/config_keys.hpp"

#include <algorithm>
#include <utility>

namespace orrery::importers::models {
namespace {

constexpr std::int64_t kMostInteger = 1'000'000'000'000'000;

}  // namespace

std::optional<std::int64_t> integer_of(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{kMostInteger})
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number < 0 || number > kMostInteger ? std::nullopt : std::optional(number);
}

std::int64_t product_of(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor <= 0) return 0;
    product = product > kMostInteger / factor ? kMostInteger : product * factor;
  }
  return product;
}

ConfigKeys::ConfigKeys(const SourceKeys& all, std::string part) : all_(&all), part_(std::move(part)) {
  if (!part_.empty()) part_ += '.';
}

const SourceKey* ConfigKeys::find(const std::string& part, std::string_view name) const {
  const SourceKey* key = all_->find(part + std::string(name));
  return key == nullptr || key->value.is_null() ? nullptr : key;
}

Keys ConfigKeys::take_from(const std::string& part, Names names) {
  Keys keys;
  for (const std::string_view name : names)
    if (const SourceKey* key = find(part, name); key != nullptr) keys.push_back(key);
  read_.insert(keys.begin(), keys.end());
  return keys;
}

Keys ConfigKeys::take(Names names) { return take_from(part_, names); }

Keys ConfigKeys::take_outer(Names names) {
  Keys keys = take(names);
  return keys.empty() ? take_from("", names) : keys;
}

Keys ConfigKeys::take_part(std::string_view name) {
  Keys keys;
  const std::string inside = part_ + std::string(name) + '.', outside = std::string(name) + '.';
  for (const SourceKey& key : all_->list())
    if (key.key.starts_with(inside) || key.key.starts_with(outside)) keys.push_back(&key);
  read_.insert(keys.begin(), keys.end());
  return keys;
}

const Json& ConfigKeys::value(Names names) const {
  static const Json kNone;
  for (const std::string_view name : names)
    if (const SourceKey* key = find(part_, name); key != nullptr) return key->value;
  return kNone;
}

bool ConfigKeys::flag(Names names, bool otherwise) const {
  const Json& found = value(names);
  return found.is_boolean() ? found.get<bool>() : otherwise;
}

Keys ConfigKeys::left() const {
  Keys left;
  for (const SourceKey& key : all_->list())
    if (!read_.contains(&key)) left.push_back(&key);
  return left;
}

std::string_view ConfigKeys::name_in_part(const SourceKey& key) const {
  const std::string_view name = key.key;
  return name.starts_with(part_) ? name.substr(part_.size()) : std::string_view{};
}

}  // namespace orrery::importers::models
