#include "config/text/yaml_text.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <istream>
#include <limits>
#include <streambuf>
#include <string>
#include <vector>

#include "config/text/tree_builder.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

std::size_t offset_of(const YAML::Mark& mark) {
  return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
}

class YamlEvents : public YAML::EventHandler {
 public:
  YamlEvents(TreeBuilder& tree, PositionTable* table) : tree_(tree), table_(table) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar(mark, nullptr, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw DocumentError{offset_of(mark), "", "YAML aliases (*name) are not accepted"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    const bool plain = tag == "?" || tag.empty();
    if (!plain && tag != "!" && tag != "tag:yaml.org,2002:str") refuse_tag(mark, tag);
    scalar(mark, plain ? plain_scalar(value) : Json(value), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, Json::value_t::array);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, Json::value_t::object);
  }
  void OnMapEnd() override { end(); }

 private:
  enum class Expect : char { item, key, value };

  [[noreturn]] static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    throw DocumentError{offset_of(mark), "", "YAML tag " + quote(tag) + " is not accepted"};
  }

  void scalar(const YAML::Mark& mark, Json value, const std::string& text) {
    with_offset(mark, [&] {
      if (!expect_.empty() && expect_.back() == Expect::key) {
        tree_.key(text);
        if (table_ != nullptr) table_->key_at(tree_.pointer(), offset_of(mark));
        expect_.back() = Expect::value;
        return;
      }
      tree_.value(std::move(value));
      placed(mark);
    });
  }

  void begin(const YAML::Mark& mark, const std::string& tag, Json::value_t type) {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse_tag(mark, tag);
    if (!expect_.empty() && expect_.back() == Expect::key) {
      throw DocumentError{offset_of(mark), "", "a key must be text"};
    }
    with_offset(mark, [&] { tree_.begin(type); });
    if (table_ != nullptr) table_->value_at(pointer_of_opened(), offset_of(mark));
    if (!expect_.empty() && expect_.back() == Expect::value) expect_.back() = Expect::key;
    expect_.push_back(type == Json::value_t::object ? Expect::key : Expect::item);
  }

  void end() {
    tree_.end();
    expect_.pop_back();
  }

  void placed(const YAML::Mark& mark) {
    if (table_ != nullptr) table_->value_at(tree_.pointer(), offset_of(mark));
    if (!expect_.empty() && expect_.back() == Expect::value) expect_.back() = Expect::key;
  }

  [[nodiscard]] std::string pointer_of_opened() const { return tree_.pointer(); }

  /// Gives the tree builder's complaints the position it does not know.
  template <class Action>
  static void with_offset(const YAML::Mark& mark, Action action) {
    try {
      action();
    } catch (DocumentError& error) {
      error.offset = offset_of(mark);
      throw;
    }
  }

  TreeBuilder& tree_;
  PositionTable* table_;
  std::vector<Expect> expect_;
};

/// A stream over text that stays where it is.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // streambuf's interface; never written to
    setg(begin, begin, begin + text.size());
  }
};

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kDigits = "0123456789";

/// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_float(std::string_view text) {
  const auto digits = [&] {
    const auto count = std::min(text.find_first_not_of(kDigits), text.size());
    text.remove_prefix(count);
    return count;
  };
  const auto whole = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (whole + digits() == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return all_of(text, kDigits);
}

/// `digits` in `base`; infinity where it exceeds 64 bits in a base other than ten.
Json whole_number(bool negative, std::string_view digits, int base) {
  std::uint64_t magnitude = 0;
  const auto end = digits.data() + digits.size();
  const bool fits = std::from_chars(digits.data(), end, magnitude, base).ec == std::errc();
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (fits && !negative) return magnitude;
  if (fits && magnitude <= kMax) return -static_cast<std::int64_t>(magnitude);
  double value = std::numeric_limits<double>::infinity();
  if (base == 10) std::from_chars(digits.data(), end, value);
  return negative ? -value : value;
}

Json number_or_text(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view rest = text;
  if (negative || text.starts_with('+')) rest.remove_prefix(1);
  if (all_of(rest, kDigits)) return whole_number(negative, rest, 10);
  if (rest == ".inf" || rest == ".Inf" || rest == ".INF") {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  if (!is_float(rest)) return std::string(text);
  double value = 0;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (result.ec == std::errc::result_out_of_range) value = std::numeric_limits<double>::infinity();
  return negative ? -value : value;
}

}  // namespace

Json plain_scalar(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.starts_with("0x") && all_of(text.substr(2), "0123456789abcdefABCDEF")) {
    return whole_number(false, text.substr(2), 16);
  }
  if (text.starts_with("0o") && all_of(text.substr(2), "01234567")) {
    return whole_number(false, text.substr(2), 8);
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return std::numeric_limits<double>::quiet_NaN();
  return number_or_text(text);
}

Json parse_yaml(std::string_view text, PositionTable* table) {
  if (text.size() > kMaxYamlBytes) {
    throw DocumentError{0, "", "YAML longer than 1 MB is not accepted; write it as JSON"};
  }
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder tree;
  YamlEvents events(tree, table);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(events)) throw DocumentError{0, "", "the document is empty"};
    TreeBuilder rest;
    YamlEvents ignored(rest, nullptr);
    if (parser.HandleNextDocument(ignored)) throw DocumentError{0, "", "more than one YAML document"};
  } catch (const YAML::Exception& error) {
    throw DocumentError{offset_of(error.mark), "", "YAML: " + printable(error.msg)};
  }
  return tree.take();
}

}  // namespace orrery
