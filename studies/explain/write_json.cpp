#include <cmath>
#include <nlohmann/json.hpp>

#include "studies/explain/writers.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson finite(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(); }

OrderedJson explained_terms_json(const Explanation& of) {
  OrderedJson list = OrderedJson::array();
  for (const ExplainedTerm& term : of.terms) {
    OrderedJson ranks = OrderedJson::array();
    for (const TermPlace& place : term.places)
      ranks.push_back({{"rank", place.rank},
                       {"difference_s", to_seconds(place.more_ps)},
                       {"at_s", to_seconds(place.at_ps)}});
    list.push_back({{"term", term.name},
                    {"simulated_s", to_seconds(term.simulated_ps)},
                    {"measured_s", to_seconds(term.measured_ps)},
                    {"difference_s", to_seconds(term.more_ps())},
                    {"difference_ps", term.more_ps()},
                    {"ranks", std::move(ranks)}});
  }
  return list;
}

OrderedJson findings_json(const Explanation& of) {
  OrderedJson list = OrderedJson::array();
  for (const ExplainedCause& finding : of.findings)
    list.push_back(
        {{"cause", finding.cause},
         {"sentence", finding.sentence},
         {"factor", finding.factor > 0 ? finite(finding.factor) : OrderedJson()},
         {"delay_s", finding.factor > 0 ? OrderedJson() : OrderedJson(to_seconds(finding.delay_ps))},
         {"gain_s", finding.gain_ps ? OrderedJson(to_seconds(*finding.gain_ps)) : OrderedJson()}});
  return list;
}

OrderedJson messages_json(const Explanation& of) {
  OrderedJson list = OrderedJson::array();
  for (const ExplainedMessages& kind : of.messages)
    list.push_back({{"dimension", kind.dimension},
                    {"collective", kind.collective},
                    {"simulated_calls", kind.simulated_calls},
                    {"measured_calls", kind.measured_calls},
                    {"simulated_gb", kind.simulated_gb},
                    {"measured_gb", kind.measured_gb},
                    {"simulated_s", kind.simulated_s},
                    {"measured_s", kind.measured_s},
                    {"waiting_s", kind.waiting_s}});
  return list;
}

OrderedJson collectives_json(const Explanation& of) {
  OrderedJson list = OrderedJson::array();
  for (const ExplainedCollective& row : of.collectives)
    list.push_back({{"collective", row.collective},
                    {"ranks", row.ranks},
                    {"bytes", row.bytes},
                    {"simulated_s", row.simulated_s},
                    {"measured_s", row.measured_s}});
  return list;
}

OrderedJson figures_json(const Explanation& of) {
  OrderedJson list = OrderedJson::array();
  for (const ExplainedFigure& figure : of.figures)
    list.push_back({{"figure", figure.key},
                    {"simulated", finite(figure.simulated)},
                    {"measured", finite(figure.measured)}});
  return list;
}

OrderedJson constants_json(const Explanation& of) {
  OrderedJson list = OrderedJson::array();
  for (const ContradictedConstant& one : of.constants)
    list.push_back({{"key", one.key},
                    {"value", finite(one.value)},
                    {"implied", finite(one.implied)},
                    {"possible", one.possible},
                    {"by", one.why}});
  return list;
}

OrderedJson explanation_json(const Explanation& of) {
  const bool timed = of.measured_ps > 0;
  const auto seconds = [timed](Picoseconds time) {
    return timed ? OrderedJson(to_seconds(time)) : OrderedJson();
  };
  return {{"name", of.name},
          {"of", of.unit},
          {"simulated_s", seconds(of.simulated_ps)},
          {"measured_s", seconds(of.measured_ps)},
          {"measured_s_p10", finite(of.measured_s_p10)},
          {"measured_s_p90", finite(of.measured_s_p90)},
          {"measurements", of.steps},
          {"difference_s", seconds(of.more_ps())},
          {"terms", explained_terms_json(of)},
          {"findings", findings_json(of)},
          {"messages", messages_json(of)},
          {"collectives", collectives_json(of)},
          {"figures", figures_json(of)},
          {"constants", constants_json(of)},
          {"read", of.read},
          {"not_lined_up", of.unmatched},
          {"confidence", of.confidence}};
}

}  // namespace

void write_explanation_json(const Explanation& explanation, const Sink& sink) {
  sink(explanation_json(explanation).dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

}  // namespace orrery
