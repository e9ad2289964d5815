#include "explore/question.hpp"

#include <utility>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery::explore {
namespace {

constexpr const char* kQuestion = "question";
constexpr const char* kExperiment = "experiment.yaml";

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Setup setup_of(const Json& object) {
  Setup setup{text_at(object, "text"), {}};
  const auto changes = object.find("changes");
  if (changes == object.end() || !changes->is_array()) return setup;
  for (const Json& change : *changes)
    if (change.is_string()) setup.changes.push_back(change.get<std::string>());
  return setup;
}

Setup setup_at(const Json& question, const char* key) {
  const auto found = question.find(key);
  return found != question.end() && found->is_object() ? setup_of(*found) : Setup{};
}

}  // namespace

BaseExperiment Setup::base() const { return {kExperiment, text, changes}; }

Question read_question(std::string_view json) {
  const Json question = parse_document(json, kQuestion).value;
  if (!question.is_object()) throw InputError("", "found no object, allowed a question");
  return {setup_at(question, "setup"), setup_at(question, "pinned"), text_at(question, "key"),
          text_at(question, "form")};
}

LocatedExperiment read_setup(const Setup& setup) {
  return read_experiment_text(setup.text, kExperiment, setup.changes, Catalog::embedded(), menus());
}

}  // namespace orrery::explore
