// The result object of the interface: how its keys are chosen, and written as JSON, as one row of CSV and as
// a list of figures.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reports/result/result_key.hpp"
#include "reports/text/csv_field.hpp"
#include "reports/text/json_text.hpp"
#include "reports/writers.hpp"

namespace orrery {

namespace {

using Json = ResultJson;
using Needs = ResultKey::Needs;

/// The objects that a key lies in, with the dot; "" at the top.
std::string_view object_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot + 1);
}

void write_scalar(const Json& scalar, JsonText& text) {
  if (scalar.is_number_float()) return text.value(scalar.get<double>());
  if (scalar.is_number()) return text.value(scalar.get<std::int64_t>());
  if (scalar.is_boolean()) return text.value(scalar.get<bool>());
  if (scalar.is_string()) return text.value(std::string_view(scalar.get_ref<const std::string&>()));
  text.value(nullptr);
}

void write_value(const Json& value, JsonText& text);

void write_list(const Json::array_t& list, JsonText& text) {
  text.begin('[');
  for (const Json& member : list) {
    text.element();
    write_value(member, text);
  }
  text.end(']');
}

void write_object(const Json::object_t& object, JsonText& text) {
  text.begin('{');
  for (const auto& [key, member] : object) {
    text.key(key);
    write_value(member, text);
  }
  text.end('}');
}

void write_value(const Json& value, JsonText& text) {
  if (value.is_array()) return write_list(value.get_ref<const Json::array_t&>(), text);
  if (value.is_object()) return write_object(value.get_ref<const Json::object_t&>(), text);
  write_scalar(value, text);
}

/// The result object: opens and closes the objects that dotted paths lie in.
class ResultText {
 public:
  explicit ResultText(int indent) : text_(indent) { text_.begin('{'); }

  /// Keys of one object follow each other.
  void add(std::string_view path, const Json& value) {
    if (!path.starts_with(object_) || path.find('.', object_.size()) != std::string_view::npos) move_to(path);
    text_.key(path.substr(object_.size()));
    write_value(value, text_);
  }
  std::string finish() {
    while (!object_.empty()) leave_object();
    text_.end('}');
    return text_.take();
  }

 private:
  /// Closes and opens objects.
  void move_to(std::string_view path) {
    const std::string_view object = object_of(path);
    while (!object.starts_with(object_)) leave_object();
    while (object_.size() < object.size()) enter_object(path);
  }
  void enter_object(std::string_view path) {
    const std::size_t end = path.find('.', object_.size());
    text_.key(path.substr(object_.size(), end - object_.size()));
    object_ = path.substr(0, end + 1);
    text_.begin('{');
  }
  void leave_object() {
    object_ = object_of(object_.substr(0, object_.size() - 1));
    text_.end('}');
  }

  JsonText text_;
  std::string_view object_;  ///< that is open, with the dot
};

}  // namespace

std::string cell_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    std::string number;
    append_json(value.get<double>(), number);
    return number;
  }
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const Json& member : value) {
    if (!joined.empty()) joined += "; ";
    joined += member.is_string() ? member.get<std::string>() : member.dump();
  }
  return joined;
}

ResultSelection::ResultSelection() { keys_ = all_keys(); }

ResultSelection::ResultSelection(std::span<const std::string> names) {
  const auto is_named = [names](const ResultKey& key) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return key.path == name || (key.path.starts_with(name) && key.path[name.size()] == '.');
    });
  };
  for (const ResultKey* key : all_keys()) {
    if (is_named(*key)) keys_.push_back(key);
  }
}

bool ResultSelection::has_row() const {
  return std::ranges::any_of(keys_, [](const ResultKey* key) { return !key->is_list; });
}

Figures ResultSelection::figures() const {
  const auto needs = [this](Needs what) {
    return std::ranges::any_of(keys_, [what](const ResultKey* key) { return key->needs == what; });
  };
  const bool warns = needs(Needs::warnings);
  Figures figures{needs(Needs::breakdown) || warns, needs(Needs::critical_path), needs(Needs::traffic),
                  needs(Needs::origin) || warns,    needs(Needs::range),         needs(Needs::process)};
  figures.capacity = needs(Needs::capacity) && keys_.size() < all_keys().size();
  figures.kernels = needs(Needs::kernels) && keys_.size() < all_keys().size();
  figures.long_run = needs(Needs::long_run) && keys_.size() < all_keys().size();
  figures.breakdown = figures.breakdown || figures.kernels;
  return figures;
}

std::vector<std::string_view> ResultSelection::names() {
  std::vector<std::string_view> names;
  for (const ResultKey* key : all_keys()) {
    for (std::size_t dot = key->path.find('.'); dot != std::string_view::npos;
         dot = key->path.find('.', dot + 1)) {
      const std::string_view object = key->path.substr(0, dot);
      if (std::ranges::find(names, object) == names.end()) names.push_back(object);
    }
    names.push_back(key->path);
  }
  return names;
}

std::string ResultSelection::key_of(std::string_view name) {
  constexpr std::string_view kUnit = "_s";
  constexpr std::size_t kPercentile = 4;  // _p99
  const std::vector<std::string_view> known = names();
  if (std::ranges::find(known, name) != known.end() || !name.ends_with(kUnit)) return std::string(name);
  const std::string_view stem = name.substr(0, name.size() - kUnit.size());
  if (stem.size() <= kPercentile) return std::string(name);
  const std::size_t at = stem.size() - kPercentile;
  std::string turned = std::string(stem.substr(0, at)) + std::string(kUnit) + std::string(stem.substr(at));
  return std::ranges::find(known, turned) != known.end() ? turned : std::string(name);
}

std::vector<ResultFigure> result_figures(const Report& report, const ResultSelection& keys) {
  std::vector<ResultFigure> figures;
  for (const ResultKey* key : keys.keys()) {
    const Json value = key->value(report);
    if (value.is_number()) {
      figures.push_back({std::string(key->path), value.get<double>()});
    } else if (value.is_null()) {
      figures.push_back({std::string(key->path), std::nullopt});
    }
  }
  return figures;
}

void write_json(const Report& report, const ResultSelection& keys, int indent, const Sink& sink) {
  ResultText text(indent);
  for (const ResultKey* key : keys.keys()) {
    const Json value = key->value(report);
    if (!value.is_discarded()) text.add(key->path, value);
  }
  sink(text.finish());
}

void write_csv(const Report& report, const ResultSelection& keys, const Sink& sink) {
  std::string header;
  std::string row;
  for (const ResultKey* key : keys.keys()) {
    const Json value = key->value(report);
    if (value.is_discarded() || key->is_list) continue;
    const std::string_view comma = header.empty() ? "" : ",";
    header.append(comma).append(csv_field(key->path));
    row.append(comma).append(csv_field(cell_of(value)));
  }
  sink(header + "\n" + row + "\n");
}

}  // namespace orrery
