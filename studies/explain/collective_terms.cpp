// Sets nccl-tests beside the simulated collectives of the same cluster.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "orrery/error.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/run/prepare.hpp"
#include "studies/explain/log_terms.hpp"

namespace orrery {
namespace {

/// Returns so many ranks over so many nodes, as many in each: nullopt if the cluster has no such.
std::optional<std::vector<std::uint32_t>> members_of(const CollectiveLog& log, const Topology& topology) {
  const std::int64_t each = log.ranks / log.nodes;
  if (each * log.nodes != log.ranks || each > topology.gpus_per_node() || log.ranks > topology.gpus())
    return std::nullopt;
  std::vector<std::uint32_t> members;
  for (std::int64_t node = 0; node < log.nodes; ++node)
    for (std::int64_t i = 0; i < each; ++i)
      members.push_back(static_cast<std::uint32_t>(node * topology.gpus_per_node() + i));
  return members;
}

void explain_log(const CollectiveLog& log, const Topology& topology, const Plan& plan, Explanation& to) {
  if (!log.collective) {
    to.unmatched.push_back(log.source +
                           ": measures a collective that steps do not have, or does not say which: name the "
                           "file after it, such as all_gather.log");
    return;
  }
  const std::optional<std::vector<std::uint32_t>> members = members_of(log, topology);
  if (!members) {
    to.unmatched.push_back(fmt::format("{}: {} ranks on {} nodes do not fit on the experiment's cluster",
                                       log.source, log.ranks, log.nodes));
    return;
  }
  const auto kind = static_cast<std::size_t>(*log.collective);
  to.read.push_back(fmt::format("{}: {} of {} ranks on {} nodes, {} sizes", log.source,
                                kCollectiveNames[kind], log.ranks, log.nodes, log.rows.size()));
  CollectivePricer pricer(topology, plan.collectives);
  TransferPrice price;
  for (const MeasuredCollective& row : log.rows) {
    pricer.price({*log.collective, row.bytes, Dimension::data}, *members, price);
    to.collectives.push_back({std::string(kCollectiveNames[kind]), log.ranks, row.bytes, row.time_s,
                              to_seconds(price.alone_ps())});
  }
}

/// A collective of large messages that is slower than simulated contradicts the cluster's bandwidth.
void judge(Explanation& to) {
  const ExplainedCollective* largest = nullptr;
  const auto conclude = [&] {
    if (largest == nullptr || largest->bytes < 64'000'000 || !(largest->simulated_s > 0)) return;
    const double factor = largest->measured_s / largest->simulated_s;
    if (factor > 0.95 && factor < 1.05) return;
    ExplainedCause finding;
    finding.cause = largest->collective + " bandwidth";
    finding.factor = factor;
    finding.sentence =
        fmt::format("a {} of {:.3g} MB among {} ranks takes {:.3g} times as long as simulated",
                    largest->collective, static_cast<double>(largest->bytes) * 1e-6, largest->ranks, factor);
    to.findings.push_back(std::move(finding));
  };
  for (const ExplainedCollective& row : to.collectives) {
    const bool next = largest != nullptr && row.collective != largest->collective;
    if (next) conclude();
    if (largest == nullptr || next || row.bytes > largest->bytes) largest = &row;
  }
  conclude();
}

}  // namespace

void explain_collectives(const Experiment& experiment, const std::vector<CollectiveLog>& logs,
                         Explanation& to) {
  Memo memo;
  const std::shared_ptr<const Machine> machine = machine_of(experiment.cluster, memo);
  for (const CollectiveLog& log : logs) explain_log(log, *machine->topology, experiment.plan, to);
  judge(to);
}

}  // namespace orrery
