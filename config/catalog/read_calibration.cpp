#include "config/catalog/read_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/catalog/locate.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/read_fields.hpp"
#include "config/text/document.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kParts{"gpu", "node", "fabric", "software"};

struct Header {
  std::string name, summary, source, part, inherits;
};

const std::vector<Field<Header>>& header_fields() {
  using T = FieldTable<Header>;
  static const std::vector<Field<Header>> fields{
      T::text("name", &Header::name, "what experiments call it, in place of the file's name"),
      T::text("summary", &Header::summary, "one sentence"),
      T::text("source", &Header::source, "where it comes from"),
      T::choice("part", {kParts, nullptr, {}}, &Header::part, "", "what it is of"),
      T::text("inherits", &Header::inherits, "calibration that has what this one lacks"),
      T::nested("constants", "an object of constants"),
      T::nested("domain", "what the measured runs behind it span: names and [least, largest]"),
      T::nested("serving_errors", "how far figures of requests are off on rows that no fit saw"),
      T::nested("fit", "how its constants were fitted; not read"),
  };
  return fields;
}

struct Description {
  std::string source;
  double minimum = 0, maximum = 0;
  double standard_error = 0, spread = 0;
  bool pinned = false;
};

const std::vector<Field<Description>>& constant_fields() {
  using T = FieldTable<Description>;
  static const std::vector<Field<Description>> fields{
      T::nested("value", "the constant, in the unit of its key"),
      T::text("source", &Description::source, "where it comes from"),
      T::number("minimum", "", -1e300, 1e300, &Description::minimum, "", "least value a fit tries"),
      T::number("maximum", "", -1e300, 1e300, &Description::maximum, "", "largest value a fit tries"),
      T::number("standard_error", "", 0, 1e300, &Description::standard_error, "",
                "of the value, relative to it"),
      T::number("spread", "", 1e-6, 10, &Description::spread, "",
                "heirs lie so far from this value: standard deviation of the logarithm of theirs over this"),
      T::flag("pinned", &Description::pinned, "", "known from elsewhere: no joint fit changes it"),
  };
  return fields;
}

const std::vector<Field<ServingErrors>>& serving_error_fields() {
  using T = FieldTable<ServingErrors>;
  static const std::vector<Field<ServingErrors>> fields{
      T::choice(
          "figure", {kServingErrorFigures, nullptr, {}},
          [](ServingErrors& errors, std::size_t i) { errors.figure = kServingErrorFigures[i]; }, "",
          "what was measured"),
      T::flag("experts", &ServingErrors::experts, "false", "of models with experts; of dense ones otherwise"),
      T::nested("gpus", "of the rows, a list of names"),
      T::integer("rows", 1, 1e9, &ServingErrors::rows, "", "their number"),
      T::number("p10", "", -1, 1e6, &ServingErrors::p10, "",
                "lower decile of measured over predicted, less 1"),
      T::number("p90", "", -1, 1e6, &ServingErrors::p90, "", "upper decile"),
  };
  return fields;
}

template <class T>
void add_calibrated(std::vector<FieldInfo>& out, const std::vector<Field<T>>& fields) {
  for (const Field<T>& field : fields) {
    const bool simple =
        field.type == FieldType::number || field.type == FieldType::integer || field.type == FieldType::flag;
    if (simple) out.push_back(field);
  }
}

class CalibrationReader {
 public:
  NamedCalibration read(const Json& root) {
    Header header;
    const Path top;
    read_fields(root, header_fields(), header, top, scope_);
    if (!root.is_object()) return {};
    require(root, header_fields(), "part", "every calibration", top, scope_);
    require(root, header_fields(), "constants", "every calibration", top, scope_);
    CatalogEntry entry{"", Json::object(), header.summary, header.part, header.inherits};
    if (!header.part.empty() && root.contains("constants"))
      read_constants(root["constants"], calibrated_fields(header.part), entry.value, Path(top, "constants"));
    if (root.contains("domain")) read_domain(root["domain"], entry.domain, Path(top, "domain"));
    if (root.contains("serving_errors"))
      read_serving_errors(root["serving_errors"], entry.serving_errors, Path(top, "serving_errors"));
    return {header.name, std::move(entry)};
  }

  [[nodiscard]] const Findings& findings() const { return findings_; }

 private:
  void read_constants(const Json& given, const std::vector<FieldInfo>& fields, Json& values,
                      const Path& path) {
    if (!expect_object(given, path, scope_)) return;
    for (const auto& [key, constant] : given.items()) {
      const Path here(path, key);
      const auto field = std::ranges::find(fields, key, &FieldInfo::name);
      if (field == fields.end()) {
        std::vector<std::string_view> names;
        for (const FieldInfo& known : fields) names.push_back(known.name);
        report_unknown_key(key, names, here, scope_);
        continue;
      }
      Description description;
      read_fields(constant, constant_fields(), description, here, scope_);
      if (!constant.is_object()) continue;
      for (const std::string_view needed : {"value", "source"})
        require(constant, constant_fields(), needed, "every constant", here, scope_);
      if (constant.contains("source") && constant["source"] == "")
        findings_.add(Path(here, "source"),
                      "found \"\", allowed a text that says where the value comes from");
      if (!constant.contains("value")) continue;
      read_value(constant["value"], *field, Path(here, "value"));
      values[key] = constant["value"];
    }
  }

  void read_domain(const Json& given, CalibrationDomain& domain, const Path& path) {
    if (!expect_object(given, path, scope_)) return;
    for (const auto& [key, value] : given.items()) {
      const Path here(path, key);
      const auto name = std::ranges::find(kDomainNames, key);
      const auto span = std::ranges::find(kDomainSpans, key);
      if (name != kDomainNames.end()) {
        read_names(value, domain.names[static_cast<std::size_t>(name - kDomainNames.begin())], here);
      } else if (span != kDomainSpans.end()) {
        read_span(value, domain.spans[static_cast<std::size_t>(span - kDomainSpans.begin())], here);
      } else {
        std::vector<std::string_view> known(kDomainNames.begin(), kDomainNames.end());
        known.insert(known.end(), kDomainSpans.begin(), kDomainSpans.end());
        report_unknown_key(key, known, here, scope_);
      }
    }
  }

  void read_serving_errors(const Json& given, std::vector<ServingErrors>& list, const Path& path) {
    if (!given.is_array())
      return findings_.add(path, fmt::format("found {}, allowed a list of objects", given.type_name()));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Path here(path, i);
      ServingErrors errors;
      read_fields(given[i], serving_error_fields(), errors, here, scope_);
      if (!given[i].is_object()) continue;
      for (const std::string_view needed : {"figure", "gpus", "rows", "p10", "p90"})
        require(given[i], serving_error_fields(), needed, "serving_errors", here, scope_);
      if (given[i].contains("gpus")) read_names(given[i]["gpus"], errors.gpus, Path(here, "gpus"));
      if (!(errors.p10 <= errors.p90))
        findings_.add(Path(here, "p90"),
                      fmt::format("found {}, allowed p10 ({}) or more", errors.p90, errors.p10));
      list.push_back(std::move(errors));
    }
  }

  void read_names(const Json& value, std::set<std::string>& names, const Path& path) {
    const bool texts =
        value.is_array() && std::ranges::all_of(value, [](const Json& name) { return name.is_string(); });
    if (!texts) return findings_.add(path, fmt::format("found {}, allowed a list of texts", value.dump()));
    for (const Json& name : value) names.insert(name.get<std::string>());
  }

  void read_span(const Json& value, std::optional<ValueSpan>& span, const Path& path) {
    const bool two = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
    if (!two || !(value[0].get<double>() <= value[1].get<double>()))
      return findings_.add(path, fmt::format("found {}, allowed [least, largest]", value.dump()));
    span = ValueSpan{value[0].get<double>(), value[1].get<double>()};
  }

  void read_value(const Json& value, const FieldInfo& field, const Path& path) {
    if (field.type == FieldType::number) static_cast<void>(read_number(value, field, path, scope_));
    if (field.type == FieldType::integer) static_cast<void>(read_integer(value, field, path, scope_));
    if (field.type == FieldType::flag) static_cast<void>(read_flag(value, field, path, scope_));
  }

  Menus menus_;
  Findings findings_;
  Scope scope_{menus_, findings_};
};

}  // namespace

std::span<const std::string_view> calibrated_parts() { return kParts; }

std::vector<FieldInfo> calibrated_fields(std::string_view part) {
  std::vector<FieldInfo> out;
  if (part == "gpu") add_calibrated(out, gpu_fields());
  if (part == "node") add_calibrated(out, node_fields());
  if (part == "fabric") add_calibrated(out, fabric_fields());
  if (part == "software") add_calibrated(out, software_fields());
  return out;
}

NamedCalibration read_calibration(std::string_view text, const std::string& source) {
  const Document document = parse_document(text, source);
  CalibrationReader reader;
  NamedCalibration calibration = reader.read(document.value);
  if (!reader.findings().empty()) {
    const CatalogData none;
    throw InputError(located(reader.findings(), {document, source, document.value, {}, {}, none}));
  }
  if (!calibration.entry.inherits.empty()) {
    Findings place;
    place.add("/inherits", "");
    calibration.entry.inherits_at = located(place, {document, source, document.value, {}, {}, {}}).front();
  }
  const bool json = document.syntax == Syntax::json;
  calibration.entry.text = json ? std::string(document.text) : document.value.dump(2);
  return calibration;
}

}  // namespace orrery
