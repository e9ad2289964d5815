#include "planner/sweep/space_text.hpp"

#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string dumped(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// A value as JSON has it where it is one, else a text.
OrderedJson value_of(const std::string& text) {
  OrderedJson value = OrderedJson::parse(text, nullptr, false);
  return value.is_discarded() ? OrderedJson(text) : value;
}

}  // namespace

SpaceText text_of(const Space& space) {
  OrderedJson description = OrderedJson::object();
  for (const SpaceKey& key : space.keys()) {
    OrderedJson& values = description[key.key] = OrderedJson::array();
    for (const std::string& text : key.values) values.push_back(value_of(text));
  }
  for (const Condition& condition : space.conditions()) description["where"].push_back(condition.text());
  return {dumped(description), space.base().text, dumped(OrderedJson(space.base().overrides))};
}

}  // namespace orrery
