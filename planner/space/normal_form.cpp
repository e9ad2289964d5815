#include "planner/space/normal_form.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "orrery/long_run.hpp"

namespace orrery {
namespace {

/// Axes of one rank have no place: they come last, in the order of the table.
std::string order_without_single_ranks(const Plan& plan) {
  std::string wide;
  std::string single;
  const auto append = [](std::string& order, std::string_view name) {
    if (!order.empty()) order += '-';
    order += name;
  };
  for (std::size_t begin = 0; begin <= plan.rank_order.size();) {
    const std::size_t end = std::min(plan.rank_order.find('-', begin), plan.rank_order.size());
    const std::string_view name = std::string_view(plan.rank_order).substr(begin, end - begin);
    for (std::size_t axis = 0; axis < kAxisCount; ++axis)
      if (kAxes[axis].name == name && plan.degree(static_cast<Axis>(axis)) > 1) append(wide, name);
    begin = end + 1;
  }
  for (std::size_t axis = 0; axis < kAxisCount; ++axis)
    if (plan.degree(static_cast<Axis>(axis)) == 1) append(single, kAxes[axis].name);
  if (wide.empty() || single.empty()) return wide + single;
  return wide + '-' + single;
}

}  // namespace

Experiment normal_form(Experiment experiment) {
  experiment.name.clear();
  Plan& plan = experiment.plan;
  // Experts are ranks of other axes counted again, so their place among those matters.
  if (experiment.model.experts == 0) plan.rank_order = order_without_single_ranks(plan);
  if (plan.virtual_stages == 1 && plan.pipeline_schedule == "interleaved-1f1b")
    plan.pipeline_schedule = "1f1b";
  return experiment;
}

ContentHash content_of_normal_form(const Experiment& experiment) {
  ContentHash content = content_of(normal_form(experiment));
  if (experiment.run) append_content(content, *experiment.run);
  return content;
}

}  // namespace orrery
