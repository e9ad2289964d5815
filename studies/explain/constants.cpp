#include "studies/explain/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "reports/difference_causes.hpp"
#include "sim/cost/price_list.hpp"

namespace orrery {
namespace {

constexpr double kAgrees = 0.03;           ///< a part that is off by no more contradicts nothing
constexpr double kMostContention = 0.9;    ///< that an experiment may say
constexpr double kWorthAConstant = 0.005;  ///< of the step: a smaller difference contradicts nothing

/// A constant in proportion to which a part takes longer, or shorter where it is a share that is reached.
struct Constant {
  std::string key;
  double value = 0;
  bool is_share = false;
};

class ConstantFinder {
 public:
  ConstantFinder(const Experiment& experiment, Explanation& to)
      : gpu_(experiment.cluster.gpu_of_class(0)), experiment_(experiment), to_(to) {}

  void run() {
    terms({"dense_products", "expert_products", "logits"}, gemm());
    terms({"norm", "residual", "activation"},
          {"software.elementwise_traffic", experiment_.software.elementwise_traffic, false});
    terms({"loss"},
          {"software.backward_bytes_per_logit", experiment_.software.backward_bytes_per_logit, false});
    terms({"optimizer", "accumulation", "embedding"},
          {"cluster.gpu.memory_efficiency", gpu_.memory_efficiency, true});
    terms({"host"}, {"software.forward_issue_us", experiment_.software.forward_issue_us, false});
    terms({"host"}, {"software.backward_issue_us", experiment_.software.backward_issue_us, false});
    messages("tensor", node());
    messages("expert", fabric());
    messages("data", fabric());
    collectives();
    contention();
  }

 private:
  [[nodiscard]] Constant gemm() const {
    const bool fp8 = is_narrow(experiment_.plan.precision) && gpu_.gemm_efficiency_fp8 > 0;
    return {fp8 ? "cluster.gpu.gemm_efficiency_fp8" : "cluster.gpu.gemm_efficiency",
            fp8 ? gpu_.gemm_efficiency_fp8 : gpu_.gemm_efficiency, true};
  }
  [[nodiscard]] Constant node() const {
    return {"cluster.node.efficiency", experiment_.cluster.node.efficiency, true};
  }
  [[nodiscard]] Constant fabric() const {
    if (experiment_.cluster.nodes == 1) return node();
    return {"cluster.fabric.efficiency", experiment_.cluster.fabric.efficiency, true};
  }

  void terms(std::initializer_list<std::string_view> names, const Constant& constant) {
    Picoseconds measured = 0;
    Picoseconds simulated = 0;
    std::string why;
    for (const ExplainedTerm& term : to_.terms) {
      if (std::ranges::find(names, std::string_view(term.name)) == names.end()) continue;
      measured += term.measured_ps;
      simulated += term.simulated_ps;
      why += (why.empty() ? "" : ", ") + std::string(words_of(term.name));
    }
    const auto worth = static_cast<double>(to_.simulated_ps) * kWorthAConstant;
    if (std::abs(static_cast<double>(measured - simulated)) < worth || simulated == 0) return;
    add(constant, static_cast<double>(measured) / static_cast<double>(simulated), why);
  }

  void messages(std::string_view dimension, const Constant& constant) {
    double measured = 0;
    double simulated = 0;
    for (const ExplainedMessages& kind : to_.messages) {
      if (kind.dimension != dimension) continue;
      measured += kind.measured_s;
      simulated += kind.simulated_s;
    }
    if (simulated > 0 && measured > 0)
      add(constant, measured / simulated, "messages of " + std::string(dimension) + " parallelism");
  }

  /// Large messages go at the pace of links.
  void collectives() {
    constexpr std::int64_t kLarge = 256'000'000;
    double measured = 0;
    double simulated = 0;
    std::int64_t ranks = 0;
    for (const ExplainedCollective& row : to_.collectives) {
      if (row.bytes < kLarge) continue;
      measured += row.measured_s;
      simulated += row.simulated_s;
      ranks = std::max(ranks, row.ranks);
    }
    if (!(simulated > 0)) return;
    const bool inside = ranks <= experiment_.cluster.gpus_per_node;
    add(inside ? node() : fabric(), measured / simulated, "collectives of 256 MB and more");
  }

  /// Kernels that keep a smaller share of their pace beside messages.
  void contention() {
    const auto found = std::ranges::find(to_.findings, "contention", &ExplainedCause::cause);
    if (found == to_.findings.end() || !(found->factor > 0)) return;
    const double value = communication_interference(experiment_);
    const double implied = 1 - (1 - value) / found->factor;
    to_.constants.push_back({"software.communication_interference", value, implied, "kernels beside messages",
                             implied >= 0 && implied <= kMostContention});
  }

  /// A share is at most 1.
  void add(const Constant& constant, double factor, const std::string& why) {
    if (!(constant.value > 0) || std::abs(factor - 1) < kAgrees) return;
    const double implied = constant.is_share ? constant.value / factor : constant.value * factor;
    to_.constants.push_back({constant.key, constant.value, implied, why, !constant.is_share || implied <= 1});
  }

  const Gpu& gpu_;
  const Experiment& experiment_;
  Explanation& to_;
};

}  // namespace

void find_constants(const Experiment& experiment, Explanation& explanation) {
  ConstantFinder(experiment, explanation).run();
}

}  // namespace orrery
