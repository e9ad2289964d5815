#include "planner/space/base_document.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/schema/aliases.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery {

Json value_at(const Json& document, std::string_view key) {
  const Json* at = &document;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const auto found = at->is_object() ? at->find(std::string(key.substr(begin, end - begin))) : at->end();
    if (found == at->end()) return nullptr;
    at = &*found;
    begin = end + 1;
  }
  return *at;
}

namespace {

/// A plan that is to be chosen is one of which the space varies the keys.
void leave_open(Json& plan) {
  if (plan == "auto") plan = Json::object();
  if (plan.is_object() && plan.value("base", Json()) == "auto") plan.erase("base");
}

}  // namespace

Json base_document(const BaseExperiment& base) {
  Json document = parse_document(base.text, base.source).value;
  std::vector<Diagnostic> diagnostics;
  use_full_names(document, base.source, diagnostics);
  apply_overrides(document, base.overrides, diagnostics);
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
  if (document.is_object() && document.contains("plan")) leave_open(document["plan"]);
  return document;
}

}  // namespace orrery
