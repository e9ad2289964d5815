#include "planner/space/automatic_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "config/experiment/schema.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

using Values = std::vector<std::string>;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d * d != number) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

template <class Fits>
Values divisors_that(std::int64_t number, Fits fits) {
  Values values;
  for (const std::int64_t divisor : divisors_of(number))
    if (fits(divisor)) values.push_back(std::to_string(divisor));
  return values;
}

Values all_divisors(std::int64_t number) {
  return divisors_that(number, [](std::int64_t) { return true; });
}

Values tensor_degrees(const Experiment& e) {
  return divisors_that(e.plan.gpus(), [&](std::int64_t d) { return e.model.heads % d == 0; });
}
Values pipeline_degrees(const Experiment& e) {
  return divisors_that(e.plan.gpus(), [&](std::int64_t d) { return d <= e.model.all_layers(); });
}
Values data_degrees(const Experiment& e) { return all_divisors(e.plan.gpus()); }
/// Each rank has two slices of a sequence, so that causal masks leave all with equal work.
Values context_degrees(const Experiment& e) {
  return divisors_that(e.plan.gpus(),
                       [&](std::int64_t d) { return d == 1 || e.model.seq_length % (2 * d) == 0; });
}
Values expert_degrees(const Experiment& e) {
  return divisors_that(std::max<std::int64_t>(e.model.experts, 1),
                       [&](std::int64_t d) { return e.plan.gpus() % d == 0; });
}
/// Returns powers of two, up to the default limit of serving engines' schedulers.
Values requests_in_flight(const Experiment&) {
  constexpr std::int64_t kMost = 512;
  Values values;
  for (std::int64_t size = 1; size <= kMost; size *= 2) values.push_back(std::to_string(size));
  return values;
}

/// Replicas that do both, and quarters of all possible numbers of replicas for prompts and the rest for
/// outputs.
Values divided_replicas(const Experiment& e) {
  Values values{"null"};
  for (const std::int64_t replicas : divisors_of(e.plan.gpus())) {
    std::int64_t before = 0;
    for (const std::int64_t quarters : {1, 2, 3}) {
      const std::int64_t prefill = std::max<std::int64_t>(replicas * quarters / 4, 1);
      if (prefill >= replicas || prefill == before) continue;
      before = prefill;
      values.push_back(fmt::format(R"({{"prefill": {}, "decode": {}}})", prefill, replicas - prefill));
    }
  }
  return values;
}

Values micro_batches(const Experiment& e) { return all_divisors(e.plan.global_batch_size); }
Values chunks(const Experiment& e) { return all_divisors(e.model.all_layers()); }

/// Lists there are without number: the one that the simulator finds.
Values balanced_layers(const Experiment& /*experiment*/) { return {"auto"}; }

/// Without experts their axis stays behind that of contexts: its place changes nothing.
Values rank_orders(const Experiment& e) {
  Values orders;
  std::array<std::size_t, kAxisCount> axes{};
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  do {
    std::string order;
    for (const std::size_t axis : axes) {
      if (!order.empty()) order += '-';
      order += kAxes[axis].name;
    }
    if (e.model.experts > 0 || order.find("cp-ep") != std::string::npos) orders.push_back(std::move(order));
  } while (std::ranges::next_permutation(axes).found);
  return orders;
}

/// Returns the precision of the experiment and the narrower ones that its GPU computes in.
Values precisions(const Experiment& e) {
  Values values{std::string(kPrecisionNames[static_cast<std::size_t>(e.plan.precision)])};
  for (std::size_t i = 0; i < kPrecisionNames.size(); ++i) {
    const auto precision = static_cast<Precision>(i);
    if (is_narrow(precision) && precision != Precision::fp4 && precision != e.plan.precision &&
        e.cluster.gpu.peak(unit_of(precision)) > 0)
      values.emplace_back(kPrecisionNames[i]);
  }
  return values;
}

/// Keys whose values follow from the experiment.
struct AutomaticRow {
  std::string_view key;
  Values (*values)(const Experiment&) = nullptr;
};
constexpr std::array<AutomaticRow, 13> kAutomatic{{
    {"plan.tensor_parallel", tensor_degrees},
    {"plan.expert_tensor_parallel", tensor_degrees},
    {"plan.pipeline_parallel", pipeline_degrees},
    {"plan.data_parallel", data_degrees},
    {"plan.context_parallel", context_degrees},
    {"plan.expert_parallel", expert_degrees},
    {"plan.micro_batch_size", micro_batches},
    {"plan.precision", precisions},
    {"plan.virtual_stages", chunks},
    {"plan.rank_order", rank_orders},
    {"plan.stage_layers", balanced_layers},
    {"inference.batch_size", requests_in_flight},
    {"inference.disaggregated", divided_replicas},
}};

/// Returns the schema of a member of a described object; null if there is none.
nlohmann::json part_of(const nlohmann::json& schema, const std::string& name) {
  if (schema.contains("properties") && schema["properties"].contains(name)) return schema["properties"][name];
  const bool is_index = name.find_first_not_of("0123456789") == std::string::npos;
  if (is_index && schema.contains("items")) return schema["items"];
  if (!schema.contains("anyOf")) return {};
  for (const nlohmann::json& choice : schema["anyOf"])
    if (nlohmann::json part = part_of(choice, name); !part.is_null()) return part;
  return {};
}

/// Returns the schema of a key; null for an unknown key.
nlohmann::json schema_of(std::string_view key, const Menus& menus) {
  nlohmann::json at = nlohmann::json::parse(json_schema("experiment", menus));
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    nlohmann::json part = part_of(at, std::string(key.substr(begin, end - begin)));
    at = std::move(part);
    begin = end + 1;
  }
  return at;
}

Values values_in(const nlohmann::json& schema) {
  constexpr std::int64_t kNarrow = 16;
  Values values;
  if (schema.contains("anyOf")) return values_in(schema["anyOf"].front());
  if (schema.contains("enum"))
    for (const nlohmann::json& name : schema["enum"]) values.push_back(name.get<std::string>());
  if (schema.value("type", nlohmann::json()) == "boolean") return {"false", "true"};
  if (schema.value("type", nlohmann::json()) != "integer" || !schema.contains("maximum")) return values;
  const auto least = schema["minimum"].get<std::int64_t>();
  const auto most = schema["maximum"].get<std::int64_t>();
  for (std::int64_t i = least; most - least < kNarrow && i <= most; ++i) values.push_back(std::to_string(i));
  return values;
}

/// Returns all types that the key may have.
Values types_in(const nlohmann::json& schema) {
  Values types;
  if (schema.contains("type"))
    types.push_back(schema["type"].is_string() ? schema["type"].get<std::string>() : "");
  if (schema.contains("anyOf"))
    for (const nlohmann::json& choice : schema["anyOf"])
      std::ranges::move(types_in(choice), std::back_inserter(types));
  return types;
}

}  // namespace

Values automatic_values(const std::string& key, const Experiment& experiment, const Menus& menus) {
  const auto row = std::ranges::find(kAutomatic, key, &AutomaticRow::key);
  Values values = row != kAutomatic.end() ? row->values(experiment) : values_in(schema_of(key, menus));
  if (values.empty())
    throw InputError("",
                     fmt::format("found auto for {}, which has too many values: allowed a list or a range, "
                                 "such as 1..64*2",
                                 quote(key)));
  return values;
}

bool takes_integers_only(const std::string& key, const Menus& menus) {
  const std::vector<std::string> types = types_in(schema_of(key, menus));
  const auto has = [&types](std::string_view type) { return std::ranges::find(types, type) != types.end(); };
  if (has("number")) return false;
  if (has("integer")) return true;
  throw InputError(
      "",
      fmt::format("found an interval for {}, which takes no numbers: allowed a list of values", quote(key)));
}

}  // namespace orrery
