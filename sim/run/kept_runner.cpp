#include "sim/run/kept_runner.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/graph/expand.hpp"
#include "sim/graph/families.hpp"
#include "sim/graph/fold.hpp"
#include "sim/graph/program_signature.hpp"
#include "topologies/topologies.hpp"
#include "workloads/communicators.hpp"

namespace orrery {
namespace {

/// Larger ones share little and would keep much.
constexpr std::int64_t kMostRanks = 1 << 14;
/// Of prices and topologies, which are small beside tasks.
constexpr std::size_t kMostPrices = 1 << 15;
constexpr std::size_t kTaskBytes = 80;  ///< with what figures need to know
constexpr std::size_t kMostCuts = 256;
constexpr std::size_t kMostPlaces = 64;

void append(std::string_view text, Signature& signature) {
  signature.append(text.size());
  for (const char c : text) signature.append(static_cast<unsigned char>(c));
}

/// All that add_communicators() reads where replicas keep in step all together.
Signature sign_communicators(const Plan& plan, const Workload& programs) {
  Signature signature;
  signature.append(static_cast<std::uint64_t>(plan.tensor_parallel));
  signature.append(static_cast<std::uint64_t>(plan.pipeline_parallel));
  signature.append(static_cast<std::uint64_t>(plan.data_parallel));
  signature.append((plan.virtual_stages > 1 ? 1U : 0U) | (programs.passes.empty() ? 0U : 2U) |
                   (programs.tied ? 4U : 0U));
  signature.append(static_cast<std::uint64_t>(plan.shards_in_groups() ? plan.sharding_replicas() : 0));
  append(plan.rank_order, signature);
  return signature;
}

/// Whether the same topology is built of both.
bool wired_alike(const Cluster& a, const Cluster& b) {
  return a.nodes == b.nodes && a.gpus_per_node == b.gpus_per_node && a.node == b.node &&
         a.fabric == b.fabric && a.graph == b.graph;
}

/// So few micro-batches that programs of more do nothing that programs of these do not.
std::int64_t few_micro_batches(const Plan& plan) {
  constexpr std::int64_t kFirstMiddleLast = 3;
  const std::int64_t rhythm = plan.virtual_stages > 1 ? plan.pipeline_parallel : 1;
  return std::min(plan.micro_batches(), (kFirstMiddleLast + rhythm - 1) / rhythm * rhythm);
}

/// One stage of each kind that programs are alike for; signs which stage is of which.
std::vector<Stage> kinds_of(const std::vector<Stage>& stages, Signature& signature) {
  std::vector<Stage> kinds;
  for (const Stage& stage : stages) {
    const auto like = std::ranges::find_if(kinds, [&](const Stage& kind) { return alike(kind, stage); });
    signature.append(static_cast<std::uint64_t>(like - kinds.begin()));
    if (like == kinds.end()) kinds.push_back(stage);
  }
  return kinds;
}

bool same_content(const Workload& a, const Workload& b) {
  return a.works == b.works && a.messages == b.messages && a.passes == b.passes;
}

/// What programs of one order of operations differ in.
void adopt(Workload& here, Workload&& from) {
  here.works = std::move(from.works);
  here.messages = std::move(from.messages);
  here.passes = std::move(from.passes);
  here.stage_memory = std::move(from.stage_memory);
  here.model_flops = from.model_flops;
  here.hardware_flops = from.hardware_flops;
  here.parameters = from.parameters;
  here.samples = from.samples;
  here.tokens = from.tokens;
}

}  // namespace

struct KeptRunner::Place {
  Cluster cluster;
  std::unique_ptr<Topology> topology;
};

struct KeptRunner::Cut {
  Cut(const Topology& topology, const Experiment& experiment)
      : prices(topology, experiment.plan.collectives, experiment.software.split_node_efficiency) {}

  KeptPrices prices;
  bool complete = true;  ///< the latest run has been priced to its end
};

struct KeptRunner::Tasks {
  ExpandedGraph expanded;
  RunLayout layout;                         ///< empty until a breakdown is asked for
  Kept<std::optional<WholeAndPart>> taken;  ///< by costs of tasks
};

struct KeptRunner::Skeleton {
  Workload workload;
  bool told_by_few = false;  ///< programs of few micro-batches have the same works, messages and passes
  Channels channels;
  std::vector<std::uint64_t> calls;  ///< how often each is made in the programs
  std::optional<Periods> periods;
  std::vector<std::uint64_t> calls_in_period;
  Kept<Tasks> tasks;         ///< by pattern of prices
  std::size_t bytes = 0;     ///< about
  std::uint64_t latest = 0;  ///< run that used it
};

KeptRunner::KeptRunner(std::size_t most_bytes) : most_bytes_(most_bytes) {}
KeptRunner::~KeptRunner() = default;

bool KeptRunner::takes(const Experiment& experiment) {
  const SyncMethod method = experiment.data_parallel_sync.method;
  const bool together =
      method == SyncMethod::none || method == SyncMethod::all_reduce ||
      (method == SyncMethod::parameter_server && experiment.data_parallel_sync.level == SyncLevel::gpu);
  const bool slowed = experiment.software.communication_interference > 0 && experiment.plan.data_parallel > 1;
  return together && !slowed && experiment.simulation.network == Network::alpha_beta &&
         experiment.simulation.folding == Folding::automatic && Pace(experiment).even() &&
         experiment.plan.gpus() <= kMostRanks;
}

/// The half of the orders of operations that has not been met for longest.
void KeptRunner::forget_half() {
  std::vector<std::uint64_t> used;
  for (const auto& [key, skeleton] : skeletons_) used.push_back(skeleton->latest);
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::ranges::nth_element(used, middle);
  const std::uint64_t oldest = *middle;
  std::erase_if(skeletons_, [&](const auto& entry) {
    const bool old = entry.second->latest <= oldest;
    if (old) bytes_ -= entry.second->bytes;
    return old;
  });
}

const Workload& KeptRunner::outline(const Experiment& experiment) {
  if (bytes_ > most_bytes_) forget_half();
  if (cuts_.size() > kMostCuts) cuts_.clear();
  experiment_ = &experiment;
  place_ = &place_of(experiment.cluster);
  layout_.emplace(experiment, GossipGraph{});
  outlined_ = orrery::outline(experiment, *layout_);
  return outlined_.workload;
}

void KeptRunner::write(std::int64_t micro_batches) {
  written_ = with_micro_batches(*experiment_, micro_batches);
  few_ = with_micro_batches(*experiment_, few_micro_batches(written_.plan));
  Signature key;
  const std::vector<Stage> kinds = kinds_of(outlined_.stages, key);
  Workload few = outlined_.workload;
  write_programs(few_, *layout_, outlined_.blocks, kinds, few);
  const Signature communicators = sign_communicators(written_.plan, few);
  key.append(communicators);
  key.append(sign_programs(few));
  append(written_.plan.pipeline_schedule, key);
  key.append(static_cast<std::uint64_t>(micro_batches));
  key.append(static_cast<std::uint64_t>(written_.plan.virtual_stages));
  key.append(static_cast<std::uint64_t>(written_.simulation.steps));
  skeleton_ = &skeleton_of(key, std::move(few));
  skeleton_->latest = ++runs_;
  cut_ = &cut_of(communicators);
}

/// For the order of operations at hand.
void KeptRunner::add_bytes_kept(std::size_t bytes) {
  skeleton_->bytes += bytes;
  bytes_ += bytes;
}

KeptRunner::Place& KeptRunner::place_of(const Cluster& cluster) {
  for (const auto& place : places_) {
    if (wired_alike(place->cluster, cluster)) return *place;
  }
  if (places_.size() >= kMostPlaces) {
    cuts_.clear();
    places_.clear();
  }
  auto place = std::make_unique<Place>(Place{cluster, build_topology(cluster)});
  places_.push_back(std::move(place));
  return *places_.back();
}

KeptRunner::Cut& KeptRunner::cut_of(const Signature& communicators) {
  Signature key = communicators;
  key.append(std::bit_cast<std::uintptr_t>(place_));
  for (const std::string& algorithm : experiment_->plan.collectives) append(algorithm, key);
  key.append(std::bit_cast<std::uint64_t>(experiment_->software.split_node_efficiency));
  std::unique_ptr<Cut>& cut = cuts_[key];
  if (cut == nullptr || !cut->complete || cut->prices.size() > kMostPrices) {
    cut = std::make_unique<Cut>(*place_->topology, *experiment_);
  }
  return *cut;
}

/// `few` has programs of few micro-batches and one stage of each kind.
KeptRunner::Skeleton& KeptRunner::skeleton_of(const Signature& key, Workload&& few) {
  const auto known = skeletons_.find(key);
  if (known != skeletons_.end() && known->second->told_by_few) {
    adopt(known->second->workload, std::move(few));
    return *known->second;
  }
  Workload whole = write_workload(written_, *layout_, outlined_);
  if (known != skeletons_.end()) {
    adopt(known->second->workload, std::move(whole));
    return *known->second;
  }
  auto skeleton = std::make_unique<Skeleton>();
  skeleton->workload = std::move(whole);
  Workload& workload = skeleton->workload;
  skeleton->told_by_few = same_content(workload, few);
  skeleton->channels = match_channels(workload);
  for (const Call& call : skeleton->channels.calls) skeleton->calls.push_back(call.operations);
  for (const Program& program : workload.programs)
    skeleton->bytes += program.ops.size() * sizeof(Op) + program.deps.size() * sizeof(std::uint32_t);
  skeleton->bytes += std::size_t{3} * workload.ranks() * workload.slots * sizeof(std::uint32_t);
  bytes_ += skeleton->bytes;
  return *(skeletons_[key] = std::move(skeleton));
}

const Periods& KeptRunner::periods() {
  Skeleton& s = *skeleton_;
  if (!s.periods) {
    s.periods = find_periods(s.workload, written_.plan);
    if (s.periods->found()) s.calls_in_period = calls_in_period(s.workload, *s.periods, s.channels);
  }
  return *s.periods;
}

const std::optional<WholeAndPart>& KeptRunner::run(std::int64_t more, const Figures& figures) {
  figures_ = figures;
  cut_->complete = false;
  with_loads_ = figures.traffic;
  price_calls(more);
  cut_->complete = true;
  traffic_ = figures.traffic ? count_traffic() : Traffic{};
  tasks_ = &tasks_of(pattern());
  ExpandedGraph& expanded = tasks_->expanded;
  transfers_.clear();
  for (const auto& [call, place] : expanded.transfers)
    transfers_.push_back(calls_[call].times[calls_[call].of_place[place]]);
  lags_ = expanded.host_lags.values(skeleton_->workload, works_);
  const Signature costs = sign_costs(more > 0, figures);
  const auto known = tasks_->taken.find(costs);
  if (known != tasks_->taken.end()) return *known->second;
  set_costs(works_, transfers_, lags_, expanded);
  timeline_ = run_contention_free(expanded.graph, std::move(timeline_));
  if (figures.breakdown && tasks_->layout.programs.empty())
    tasks_->layout = RunLayout(skeleton_->workload, expanded);
  auto taken = std::make_unique<std::optional<WholeAndPart>>(more > 0 ? measure_period(view(), periods())
                                                                      : measure_all(view()));
  add_bytes_kept(sizeof(*taken) + 2 * sizeof(ClassTimes) * (figures.breakdown ? expanded.classes() : 0));
  return *(tasks_->taken[costs] = std::move(taken));
}

RunView KeptRunner::view() const {
  return {skeleton_->workload,
          tasks_->layout,
          tasks_->expanded,
          timeline_,
          *place_->topology,
          works_,
          passes_,
          traffic_,
          figures_};
}

/// All that a run of the tasks and its figures depend on, but for traffic.
Signature KeptRunner::sign_costs(bool repeats, const Figures& figures) const {
  Signature costs;
  costs.append((repeats ? 1U : 0U) | (figures.breakdown ? 2U : 0U) | (figures.critical_path ? 4U : 0U));
  const auto append = [&costs](Picoseconds a, Picoseconds b) {
    costs.append(static_cast<std::uint64_t>(a));
    costs.append(static_cast<std::uint64_t>(b));
  };
  for (const ComputePrice& work : works_) append(work.duration_ps, work.launch_ps);
  for (const ComputePrice& pass : passes_) append(pass.duration_ps, pass.launch_ps);
  for (const TransferTime& transfer : transfers_) append(transfer.duration_ps, transfer.lead_ps);
  for (const Picoseconds lag : lags_) costs.append(static_cast<std::uint64_t>(lag));
  return costs;
}

void KeptRunner::price_calls(std::int64_t more) {
  Skeleton& s = *skeleton_;
  works_ = price_works(s.workload, *experiment_);
  passes_.assign(s.workload.passes.size(), {});
  durations_.assign(s.workload.messages.size(), 0);
  numbers_.clear();
  for (const Message& message : s.workload.messages) numbers_.push_back(cut_->prices.number(message));
  kept_passes_.begin(s.workload, works_);
  calls_.clear();
  pass_places_.clear();
  pass_times_.clear();
  pass_places_.reserve(s.channels.prices);  // calls_ refers to both
  pass_times_.reserve(s.channels.prices);
  loads_.clear();
  for (std::size_t c = 0; c < s.calls.size(); ++c) {
    Call& call = s.channels.calls[c];
    call.operations = s.calls[c];
    if (more > 0) call.operations += static_cast<std::uint64_t>(more) * s.calls_in_period[c];
    if (call.request.pass) {
      calls_.push_back(price_pass(call));
    } else {
      const KeptPrices::Price& price = price_message(call, call.request.work, call.operations);
      calls_.push_back({price.of_place, price.times});
    }
  }
}

KeptPrices::Price& KeptRunner::price_message(const Call& call, std::uint32_t message,
                                             std::uint64_t operations) {
  const Workload& workload = skeleton_->workload;
  KeptPrices::Price& price = cut_->prices.price(numbers_[message], workload.messages[message], call.channel,
                                                workload, skeleton_->channels, with_loads_);
  loads_.push_back({&price, operations});
  return price;
}

/// Communicators whose messages take equally long share a time.
KeptRunner::CallTimes KeptRunner::price_pass(const Call& call) {
  const std::uint32_t pass = call.request.work;
  const std::size_t places = skeleton_->channels.channels[call.channel].groups.size();
  const std::size_t first_load = loads_.size();
  const std::size_t first_place = pass_places_.size();
  const std::size_t first_time = pass_times_.size();
  for (const auto& [message, steps] : kept_passes_.messages()[pass])
    price_message(call, message, call.operations * steps);
  const std::span<const Load> loads = std::span(loads_).subspan(first_load);
  const bool even =
      std::ranges::all_of(loads, [](const Load& load) { return load.price->times.size() == 1; });
  pass_met_.clear();
  for (std::size_t place = 0; place < (even ? 1 : places); ++place) {
    const std::uint32_t number = number_of_pass(pass, loads, place);
    const auto known = std::ranges::find(pass_met_, number);
    pass_places_.push_back(static_cast<std::uint32_t>(known - pass_met_.begin()));
    if (known != pass_met_.end()) continue;
    const PassPrice& price = kept_passes_.price(number);
    pass_met_.push_back(number);
    pass_times_.push_back({price.duration_ps, price.lead_ps});
    passes_[pass] = price.compute;
  }
  pass_places_.resize(first_place + places, 0);
  return {std::span(pass_places_).subspan(first_place), std::span(pass_times_).subspan(first_time)};
}

/// For a communicator of a channel, with the loads of the pass.
std::uint32_t KeptRunner::number_of_pass(std::uint32_t pass, std::span<const Load> loads, std::size_t place) {
  const std::span<const PassMessage> messages = kept_passes_.messages()[pass];
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const KeptPrices::Price& price = *loads[i].price;
    durations_[messages[i].message] = price.times[price.of_place[place]].duration_ps;
  }
  return kept_passes_.number(pass, durations_);
}

/// Which communicators of each call take equally long.
Signature KeptRunner::pattern() const {
  Signature pattern;
  for (const CallTimes& call : calls_) {
    pattern.append(call.times.size());
    if (call.times.size() == 1) continue;
    for (const std::uint32_t time : call.of_place) pattern.append(time);
  }
  return pattern;
}

KeptRunner::Tasks& KeptRunner::tasks_of(const Signature& pattern) {
  Skeleton& s = *skeleton_;
  std::unique_ptr<Tasks>& tasks = s.tasks[pattern];
  if (tasks == nullptr) {
    const PriceList prices = list_prices();
    auto made = std::make_unique<Tasks>();
    const Folded folded = fold(s.workload, s.channels, prices, *place_->topology, {});
    made->expanded = expand(s.workload, s.channels, make_families(s.workload, s.channels), prices, folded);
    const std::size_t bytes = made->expanded.graph.tasks() * kTaskBytes;
    add_bytes_kept(bytes);
    tasks = std::move(made);
  }
  return *tasks;
}

PriceList KeptRunner::list_prices() const {
  PriceList list;
  list.works = works_;
  list.passes = passes_;
  for (const CallTimes& call : calls_) {
    const auto first = static_cast<std::uint32_t>(list.prices.size());
    for (const TransferTime& time : call.times) {
      list.prices.push_back({time.duration_ps, 0, 0});
      list.leads.push_back(time.lead_ps);
    }
    for (const std::uint32_t time : call.of_place) list.transfers.push_back({first + time, 0});
  }
  return list;
}

Traffic KeptRunner::count_traffic() {
  LinkClasses& links = cut_->prices.links();
  std::vector<std::uint64_t> bytes(links.classes(), 0);
  for (const auto& [price, operations] : loads_) {
    links.complete(price->loads);
    for (const std::uint32_t c : price->loads.loaded)
      add_bytes(bytes[c], capped_bytes(price->loads.bytes[c], operations));
  }
  return {bytes_sent(skeleton_->workload, skeleton_->channels, kept_passes_.messages()),
          links.traffic(bytes)};
}

}  // namespace orrery
