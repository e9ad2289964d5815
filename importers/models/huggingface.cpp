#include "importers/models/huggingface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/wording.hpp"
#include "importers/models/catalog_twin.hpp"
#include "importers/models/decoder.hpp"
#include "importers/models/families.hpp"
#include "importers/models/known_keys.hpp"
#include "importers/models/quantization.hpp"

namespace orrery::importers::models {
namespace {

/// Objects of files of several models in one, that describe the language model.
constexpr std::array<std::string_view, 9> kTextParts{"thinker_config.text_config",
                                                     "text_config",
                                                     "llm_config",
                                                     "language_config",
                                                     "language_model_config",
                                                     "text_model_config",
                                                     "llm_backbone_config",
                                                     "language_model",
                                                     "decoder_config"};

/// Holds the names by which a family is known, in the order in which they count.
struct FamilyNames {
  std::string type;   ///< model_type of the language model
  std::string whole;  ///< model_type of the file
  std::vector<std::string> classes;
};

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

std::string text_part(const SourceKeys& all) {
  for (const std::string_view part : kTextParts)
    if (!all.below(part).list().empty()) return std::string(part);
  return "";
}

void add_classes(const SourceKeys& all, const std::string& key, std::vector<std::string>& classes) {
  const Json& list = all.value(key);
  for (const Json& name : list.is_array() ? list : Json::array())
    if (name.is_string()) classes.push_back(name.get<std::string>());
}

/// @param settled  a model_type that the user gives with --set; "" where he does not
FamilyNames names_of(const SourceKeys& all, const std::string& part, const std::string& settled) {
  FamilyNames names;
  const std::string inside = part.empty() ? "" : part + '.';
  names.whole = text_of(all.value("model_type"));
  names.type = text_of(all.value(inside + "model_type"));
  if (names.type.empty()) names.type = names.whole;
  add_classes(all, inside + "architectures", names.classes);
  add_classes(all, "architectures", names.classes);
  if (!settled.empty()) names = {settled, settled, {}};
  return names;
}

std::vector<const Family*> all_families() {
  std::vector<const Family*> all;
  for (const auto& table :
       {llama_families(), dense_families(), expert_families(), hybrid_families(), encoder_families()})
    for (const Family& family : table) all.push_back(&family);
  return all;
}

const Family* family_of(const FamilyNames& names) {
  const std::vector<const Family*> all = all_families();
  for (const std::string& type : {names.type, names.whole})
    for (const Family* family : all)
      if (is_among(family->types, type)) return family;
  for (const std::string& name : names.classes)
    for (const Family* family : all)
      if (is_among(family->classes, name)) return family;
  return nullptr;
}

const RefusedFamily* refusal_of(const FamilyNames& names) {
  for (const RefusedFamily& family : refused_families()) {
    if (is_among(family.types, names.type) || is_among(family.types, names.whole)) return &family;
    for (const std::string& name : names.classes)
      if (is_among(family.classes, name)) return &family;
  }
  return nullptr;
}

std::vector<std::string_view> known_types() {
  std::vector<std::string_view> types;
  for (const Family* family : all_families())
    for (std::string_view rest = family->types; !rest.empty();) {
      const std::size_t end = rest.find(' ');
      types.push_back(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
  return types;
}

/// Reports what nobody read: parts together, the other keys one by one.
void report_left(const ConfigKeys& keys, Draft& draft) {
  std::string_view part;
  for (const SourceKey* key : keys.left()) {
    const std::string_view inner = keys.name_in_part(*key);
    const std::string_view name = inner.empty() ? std::string_view(key->key) : inner;
    if (const std::string_view of = part_of(name); !of.empty()) {
      if (of == part) continue;
      part = of;
      draft.ignore({std::string(of), "its keys", key->place}, std::string(reason_to_ignore_part(of)));
      continue;
    }
    std::string_view reason = reason_to_ignore(name);
    if (key->value.is_null()) reason = "no value";
    if (reason.empty())
      reason = inner.empty() ? "stands outside the language model"
                             : "Orrery does not know this key, and takes nothing from it";
    draft.ignore(*key, std::string(reason));
  }
}

/// Language models that nobody knows are like Llama more often than not.
const Family& likeliest() { return llama_families().front(); }

constexpr const char* kNearest = "a decoder like Llama's with the sizes that the file has";

/// Returns the family to read the file as; null where it is refused.
const Family* choose_family(const FamilyNames& names, const SourceKey* type, bool approximate, Draft& draft) {
  const RefusedFamily* refused = refusal_of(names);
  const Family* known = refused == nullptr ? family_of(names) : nullptr;
  if (known != nullptr) return known;
  const SourceKey unnamed{"model_type", nullptr, {}};
  const SourceKey& key = type == nullptr ? unnamed : *type;
  const std::vector<std::string_view> types = known_types();
  const std::string what = refused != nullptr
                               ? fmt::format("an experiment cannot say this family: {}", refused->reason)
                               : fmt::format("found no family of that name{}", hint(names.type, types));
  if (approximate) {
    draft.ignore(key, fmt::format("approximated: {}; taken is {}", what, kNearest));
    return &likeliest();
  }
  draft.lack(key, fmt::format("{}; --approximate takes {}{}", what, kNearest,
                              refused != nullptr ? "" : ", --set model_type=NAME a known family"));
  return nullptr;
}

void read_model(const ImportContext& context, const SourceKeys& all, const std::string& part,
                const Family& family, Draft& draft) {
  ConfigKeys keys(all, part);
  const Keys types = keys.take_outer({"model_type"});
  ModelReading reading(family, keys, draft, context.options.approximate);
  read_quantization(keys, draft);
  read_decoder(reading);
  const std::string twin =
      compare_with_twin(reading, context.catalog, text_of(keys.value({"_name_or_path"})));
  for (const SourceKey* type : types) draft.map(*type, launch::kFamily, text_of(type->value), twin);
  reading.write();
  report_left(keys, draft);
}

bool recognises_config(const SourceFile& file) {
  const std::string_view text = file.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || text[first] != '{') return false;
  return text.find("\"model_type\"") != std::string_view::npos ||
         text.find("\"architectures\"") != std::string_view::npos;
}

void read_config(const ImportContext& context, Draft& draft) {
  const SourceKeys all(context.file);
  const std::string part = text_part(all);
  const auto settled = context.options.variables.find("model_type");
  const FamilyNames names =
      names_of(all, part, settled == context.options.variables.end() ? "" : settled->second);
  const SourceKey* type = all.find(part.empty() ? "model_type" : part + ".model_type");
  if (type == nullptr) type = all.find("model_type");
  if (type == nullptr) type = all.find("architectures");
  const Family* family = choose_family(names, type, context.options.approximate, draft);
  if (family != nullptr) read_model(context, all, part, *family, draft);
}

}  // namespace

const Importer kHuggingFace{
    {"huggingface", "config.json of a model on Hugging Face"}, recognises_config, read_config};

}  // namespace orrery::importers::models
