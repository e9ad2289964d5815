#include "sim/run/iteration_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/cost/issue_time.hpp"
#include "sim/matching/channels.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/step/communicator_prices.hpp"
#include "workloads/inference/iteration_steps.hpp"
#include "workloads/memory/serving_memory.hpp"

namespace orrery {
namespace {

/// Holds the times of consecutive steps: on the GPU, and of the host that issues them.
struct StepTimes {
  StageWork device;
  Picoseconds host = 0;

  StepTimes& operator+=(const StepTimes& more) {
    add(device.products_ps, more.device.products_ps);
    add(device.attention_ps, more.device.attention_ps);
    add(device.kernels_ps, more.device.kernels_ps);
    add(device.launch_ps, more.device.launch_ps);
    for (std::size_t d = 0; d < kDimensionCount; ++d) add(device.messages_ps[d], more.device.messages_ps[d]);
    add(host, more.host);
    return *this;
  }
  [[nodiscard]] StepTimes operator*(std::int64_t times) const {
    StepTimes product = *this;
    for (Picoseconds* part : {&product.device.products_ps, &product.device.attention_ps,
                              &product.device.kernels_ps, &product.device.launch_ps, &product.host})
      *part *= times;
    for (Picoseconds& part : product.device.messages_ps) part *= times;
    return product;
  }

 private:
  static void add(Picoseconds& sum, Picoseconds more) { sum = capped_sum(sum, more); }
};

/// Prices messages in the communicators of each stage: the slowest one counts.
class StageMessages {
 public:
  StageMessages(const PreparedExperiment& prepared, Memo& memo)
      : layout_(prepared.layout),
        communicators_(prepared.experiment, layout_, prepared.machine, memo),
        node_(prepared.experiment.cluster.node),
        gpus_per_domain_(prepared.experiment.cluster.gpus_per_domain()),
        one_shot_us_(prepared.experiment.software.one_shot_reduce_us),
        pairs_(*prepared.machine->topology, prepared.experiment.plan.collectives) {}

  Picoseconds time(const Message& message, Slot slot, std::size_t stage) {
    const std::uint16_t number = layout_.slot(slot);
    const Picoseconds slowest = communicators_.times(message, stage, number).most;
    if (slot != Slot::tensor || message.collective != Collective::all_reduce || one_shot_us_ == 0)
      return slowest;
    const std::optional<Picoseconds> one_shot = one_shot_time(message, communicators_.channel(stage, number));
    return one_shot ? std::min(slowest, *one_shot) : slowest;
  }

  /// Every rank of a replica sends to the one in its place in another, all at the same time: the longest
  /// message alone, or longer where the busiest link takes longer for all that cross it.
  /// @param bytes  of a rank, by stage
  Picoseconds between_replicas(std::uint32_t from, std::uint32_t to, std::span<const Bytes> bytes) {
    const auto stride = static_cast<std::uint32_t>(layout_.spec().grid.stride(Axis::data));
    Picoseconds slowest = 0;
    std::map<LinkId, Int128> loads;  // bytes * kWeightOne
    TransferPrice price;
    layout_.spec().grid.for_each_member(
        {}, {Axis::tensor, Axis::context, Axis::pipeline}, [&](std::uint32_t rank) {
          const Bytes sent = bytes[static_cast<std::size_t>(layout_.spec().grid.place(rank, Axis::pipeline))];
          const std::array<std::uint32_t, 2> pair{rank + from * stride, rank + to * stride};
          pairs_.price({Collective::send_recv, sent, Dimension::pipeline}, pair, price);
          slowest = std::max(slowest, price.alone_ps());
          for (const LinkUse& use : price.uses) loads[use.link] += static_cast<Int128>(sent) * use.weight;
        });
    for (const auto& [link, load] : loads)
      slowest = std::max(
          slowest, transfer_ps(load, communicators_.machine().topology->link(link).bytes_per_s, kWeightOne));
    return slowest;
  }

 private:
  /// Each GPU reads the data of the n - 1 others of its node, all at once. Without peer access no GPU can.
  [[nodiscard]] std::optional<Picoseconds> one_shot_time(const Message& message,
                                                         const Channel& channel) const {
    const std::int64_t members = channel.sizes.back().members;
    if (members > gpus_per_domain_ || node_.link_gb_per_s == 0 || node_.kind == "pcie-host")
      return std::nullopt;
    const double bytes = static_cast<double>(message.bytes) * static_cast<double>(members - 1);
    const double rate = node_.link_gb_per_s * 1e9 * node_.efficiency;
    return from_microseconds(one_shot_us_ + bytes / rate * 1e6);
  }

  const CommunicatorLayout& layout_;
  CommunicatorTimes communicators_;
  const NodeWiring& node_;
  std::int64_t gpus_per_domain_;
  double one_shot_us_;
  CollectivePricer pairs_;
};

class SteppedIterationCost : public IterationCost {
 public:
  SteppedIterationCost(const Experiment& experiment, const Inference& inference,
                       const std::vector<StageGpus>& gpus, std::shared_ptr<StageMessages> messages)
      : experiment_(experiment),
        inference_(inference),
        gpus_(gpus),
        steps_(experiment, inference),
        messages_(std::move(messages)) {
    for (std::size_t stage = 0; stage < gpus_.size(); ++stage) {
      const auto like = std::ranges::find(gpus_, gpus_[stage].pace, &StageGpus::pace);
      first_like_.push_back(static_cast<std::size_t>(like - gpus_.begin()));
      attention_.emplace_back(first_like_[stage] == stage ? steps_.model().kinds().size() : 0);
    }
  }

  [[nodiscard]] std::uint32_t stages() const override {
    return static_cast<std::uint32_t>(steps_.model().stages().size());
  }

  /// The host issues ahead, so that the longer of both counts.
  StageWork stage_work(std::uint32_t stage, const IterationBatch& batch) override {
    const bool graphs = runs_as_graph(batch);
    const ServedStage& held = steps_.model().stages()[stage];
    StepTimes sum = by_tokens(batch.tokens(), graphs)[stage];
    for (std::size_t kind = 0; kind < held.layers.size(); ++kind) {
      if (held.layers[kind] > 0) sum += attention(stage, kind, batch, graphs) * held.layers[kind];
    }
    if (held.has_head && batch.results > 0) sum += head(stage, batch.results, graphs);
    sum.device.launch_ps += std::max<Picoseconds>(0, sum.host - sum.device.total_ps());
    return sum.device;
  }

  /// Where each tensor rank sends a part, those of the next stage gather them.
  Picoseconds handover_ps(std::uint32_t stage, const IterationBatch& batch) override {
    if (stage + 1 >= stages()) return 0;
    const auto [known, is_new] = handovers_.try_emplace({stage, batch.tokens()}, 0);
    if (!is_new) return known->second;
    const Bytes whole = steps_.stage_output_bytes(batch.tokens());
    const Bytes sent = steps_.stage_message_bytes(batch.tokens());
    Picoseconds time =
        messages_->time({Collective::send_recv, sent, Dimension::pipeline}, Slot::forward_out, stage);
    if (sent < whole)
      time = capped_sum(
          time, messages_->time({Collective::all_gather, whole, Dimension::tensor}, Slot::tensor, stage + 1));
    return known->second = time;
  }

  /// A host that does not wait for the GPU works for requests beside the iteration.
  Picoseconds between_ps(const IterationBatch& batch, Picoseconds pass) override {
    const Software& software = experiment_.software;
    const auto requests = static_cast<double>(batch.prompt_requests + batch.decode_requests);
    if (software.synchronize_passes)
      return from_microseconds(software.iteration_us + requests * software.request_us);
    const Picoseconds host = from_microseconds(requests * software.request_us);
    return from_microseconds(software.iteration_us) + std::max<Picoseconds>(0, host - pass);
  }

  Picoseconds transfer_ps(std::uint32_t from, std::uint32_t to, std::int64_t tokens) override {
    if (cached_.empty()) cached_ = stage_serving_memory(experiment_, inference_, 1);
    std::vector<Bytes> bytes;
    for (const StageServingMemory& stage : cached_)
      bytes.push_back(stage.cache_per_token * tokens + stage.state_per_request);
    return messages_->between_replicas(from, to, bytes);
  }

 private:
  struct LatestAttention {
    IterationBatch batch;
    bool graphs = false;
    StepTimes times;
  };

  /// Graphs are made for batches of decoding; prompts come in too many sizes.
  [[nodiscard]] bool runs_as_graph(const IterationBatch& batch) const {
    return experiment_.plan.cuda_graphs == CudaGraphs::step && batch.prompt_tokens == 0;
  }

  [[nodiscard]] StageWork compute_time(const KernelSequence& work, const PacedGpu& on) const {
    const ComputeParts one =
        price_compute_parts(work, *on.gpu, experiment_.software, experiment_.plan.precision);
    StageWork time{one.products_ps, one.attention_ps, one.other_ps(), one.price.launch_ps, {}};
    if (on.slowdown == 1) return time;
    for (Picoseconds* part : {&time.products_ps, &time.attention_ps, &time.kernels_ps, &time.launch_ps})
      *part = static_cast<Picoseconds>(static_cast<double>(*part) * on.slowdown + 0.5);
    return time;
  }

  /// On the slowest GPU that keeps step with the stage.
  [[nodiscard]] StageWork compute_time(const KernelSequence& work, std::size_t stage) const {
    StageWork slowest;
    for (const PacedGpu& gpu : gpus_[stage].pace) {
      const StageWork one = compute_time(work, gpu);
      if (one.total_ps() > slowest.total_ps()) slowest = one;
    }
    return slowest;
  }

  [[nodiscard]] static StageWork message_work(Dimension dimension, Picoseconds time) {
    StageWork work;
    work.messages_ps[static_cast<std::size_t>(dimension)] = time;
    return work;
  }

  /// Returns the time of the steps that `write` writes, one after the other. A message that begins together
  /// with the previous one (equal `after`) adds only the time by which it is longer.
  template <class Write>
  StepTimes times(std::size_t stage, bool graphs, const Write& write) {
    Workload workload;
    IterationWriter to(experiment_, graphs, workload);
    write(to);
    StepTimes sum;
    Picoseconds alone = 0;  // of the message before
    std::int32_t before = kBlockInput - 1;
    for (const Step& step : std::move(to).finish().list) {
      if (step.kind == Op::Kind::compute) {
        const KernelSequence& work = workload.kernel_sequences[step.work];
        sum += {compute_time(work, stage), work.host_ps};
      } else {
        const Message& message = workload.messages[step.work];
        const Picoseconds hidden = step.after == before ? alone : 0;
        alone = messages_->time(message, step.communicator, stage);
        sum += {message_work(message.dimension, std::max<Picoseconds>(0, alone - hidden)), message.host_ps};
      }
      before = step.after;
    }
    return sum;
  }

  /// Returns, for each stage, the times that depend only on the number of tokens.
  const std::vector<StepTimes>& by_tokens(std::int64_t tokens, bool graphs) {
    auto& known = by_tokens_[graphs ? 1 : 0];
    const auto [at, is_new] = known.try_emplace(tokens);
    if (!is_new) return at->second;
    const std::vector<ServedStage>& stages = steps_.model().stages();
    at->second.resize(stages.size());
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      StepTimes& sum = at->second[stage];
      if (stages[stage].embeds)
        sum += times(stage, graphs, [&](IterationWriter& to) { steps_.write_embedding(tokens, to); });
      for (std::size_t kind = 0; kind < stages[stage].layers.size(); ++kind) {
        if (stages[stage].layers[kind] == 0) continue;
        sum += times(stage, graphs,
                     [&](IterationWriter& to) {
                       steps_.write_inputs(kind, tokens, to);
                       steps_.write_outputs(kind, tokens, to);
                     }) *
               stages[stage].layers[kind];
      }
    }
    return at->second;
  }

  /// Without messages it is the same on all stages of like GPUs, which ask for it one after the other.
  const StepTimes& attention(std::size_t stage, std::size_t kind, const IterationBatch& batch, bool graphs) {
    LatestAttention& latest = attention_[first_like_[stage]][kind];
    const bool has_messages = experiment_.plan.context_parallel > 1;
    if (has_messages || latest.graphs != graphs || latest.batch != batch) {
      latest = {batch, graphs,
                times(stage, graphs, [&](IterationWriter& to) { steps_.write_attention(kind, batch, to); })};
    }
    return latest.times;
  }

  const StepTimes& head(std::size_t stage, std::int64_t results, bool graphs) {
    const auto [at, is_new] = heads_[graphs ? 1 : 0].try_emplace(results);
    if (is_new)
      at->second = times(stage, graphs, [&](IterationWriter& to) { steps_.write_head(results, to); });
    return at->second;
  }

  const Experiment& experiment_;
  const Inference& inference_;
  std::vector<StageGpus> gpus_;          ///< by stage
  std::vector<std::size_t> first_like_;  ///< by stage: the first one with like GPUs
  IterationSteps steps_;
  std::shared_ptr<StageMessages> messages_;  ///< of replicas of all kinds
  std::vector<StageServingMemory> cached_;
  std::vector<std::vector<LatestAttention>> attention_;  ///< [first_like_][kind of layer]
  std::array<std::unordered_map<std::int64_t, std::vector<StepTimes>>, 2> by_tokens_;  ///< [as graphs]
  std::array<std::unordered_map<std::int64_t, StepTimes>, 2> heads_;                   ///< by results
  std::map<std::pair<std::uint32_t, std::int64_t>, Picoseconds> handovers_;
};

/// Returns the usable bytes of the smallest GPU of a stage; 0: unknown.
Bytes usable_of(const StageGpus& stage) {
  Bytes usable = std::numeric_limits<Bytes>::max();
  for (const PacedGpu& one : stage.own) usable = std::min(usable, usable_memory(*one.gpu));
  return usable;
}

/// Where stages have unlike GPUs, or replicas.
std::string place_of(std::size_t stage, const ReplicaKind& kind, bool mixed) {
  if (!mixed) return "";
  const std::string& name = kind.stages[stage].own.front().gpu->name;
  return fmt::format("stage {} of replica {}, on {}", stage, kind.first_replica,
                     name.empty() ? "its GPU" : name);
}

void check_servable(const Experiment& experiment) {
  if (const auto obstacle = serving_obstacle(experiment))
    throw InputError(obstacle->pointer, obstacle->message);
}

}  // namespace

std::vector<std::unique_ptr<IterationCost>> iteration_costs(const PreparedExperiment& prepared,
                                                            const Inference& inference,
                                                            const std::vector<ReplicaKind>& kinds,
                                                            Memo& memo) {
  const Experiment& experiment = prepared.experiment;
  check_servable(experiment);
  const auto messages = std::make_shared<StageMessages>(prepared, memo);
  std::vector<std::unique_ptr<IterationCost>> costs;
  for (const ReplicaKind& kind : kinds)
    costs.push_back(std::make_unique<SteppedIterationCost>(experiment, inference, kind.stages, messages));
  return costs;
}

/// A stage of unknown memory counts where all are such.
ServingMemory serving_memory(const Experiment& experiment, const Inference& inference,
                             const ReplicaKind& kind, std::int64_t tokens) {
  check_servable(experiment);
  const std::vector<StageServingMemory> stages = stage_serving_memory(experiment, inference, tokens);
  const bool mixed = experiment.cluster.gpu_classes() > 1;
  const bool known = std::ranges::any_of(kind.stages, [](const StageGpus& s) { return usable_of(s) > 0; });
  ServingMemory fullest;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (known && usable_of(kind.stages[s]) == 0) continue;
    const StageServingMemory& stage = stages[s];
    const auto usable =
        static_cast<Bytes>(inference.cache_share * static_cast<double>(usable_of(kind.stages[s])));
    const Bytes left = usable - stage.weights - stage.workspace;
    // The state of a request is spread over the tokens of a page.
    const Bytes each = stage.cache_per_token + stage.state_per_request / inference.page_tokens;
    const std::int64_t room = each > 0 ? left / each : left;
    if (room >= fewest) continue;
    fewest = room;
    fullest = {stage.weights, stage.workspace,         stage.cache_per_token,
               usable,        stage.state_per_request, place_of(s, kind, mixed)};
  }
  return fullest;
}

}  // namespace orrery
