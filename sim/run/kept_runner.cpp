#include "sim/run/kept_runner.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/graph/class_positions.hpp"
#include "sim/graph/expand.hpp"
#include "sim/graph/families.hpp"
#include "sim/graph/program_signature.hpp"
#include "topologies/topologies.hpp"
#include "workloads/communicators.hpp"

namespace orrery {
namespace {

/// Larger ones share little and would keep much.
constexpr std::int64_t kMostRanks = 1 << 14;
constexpr std::size_t kTaskBytes = 80;  ///< with what figures need to know
constexpr std::size_t kMostCuts = 256;
constexpr std::size_t kMostFolded = 64;  ///< of a cut
/// Of all cuts: prices, and what else takes a few numbers a rank, times ranks.
constexpr std::size_t kMostPriced = 1 << 26;
constexpr std::size_t kPricesWorth = 64;  ///< as much as a cut takes without prices
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

/// Whose works, messages and passes a workload has, and what is outlined.
void take_content(Workload&& from, Workload& workload) {
  workload.works = std::move(from.works);
  workload.messages = std::move(from.messages);
  workload.passes = std::move(from.passes);
  workload.stage_memory = std::move(from.stage_memory);
  workload.model_flops = from.model_flops;
  workload.hardware_flops = from.hardware_flops;
  workload.parameters = from.parameters;
  workload.samples = from.samples;
  workload.tokens = from.tokens;
  workload.tied = from.tied;
  workload.slots = from.slots;
  workload.streams = from.streams;
  workload.steps = from.steps;
}

void swap_communicators(Workload& a, Workload& b) {
  a.program_of_rank.swap(b.program_of_rank);
  std::swap(a.replicas, b.replicas);
  std::swap(a.replica_stride, b.replica_stride);
  a.group_begin.swap(b.group_begin);
  a.group_members.swap(b.group_members);
  a.group_of.swap(b.group_of);
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
  bool complete = true;    ///< the latest run has been priced to its end
  Workload communicators;  ///< without anything else
  Channels grouped;        ///< without calls
  Kept<Folded> folded;     ///< by pattern of prices and channels
};

struct KeptRunner::Tasks {
  ExpandedGraph expanded;
  RunLayout layout;                         ///< empty until a breakdown is asked for
  Kept<std::optional<WholeAndPart>> taken;  ///< by costs of tasks
  const Folds* latest = nullptr;            ///< whom they stand for at present
};

struct KeptRunner::Folds {
  StandIns stand_ins;
  Tasks* tasks = nullptr;
};

struct KeptRunner::Meetings {
  Channels channels;
  std::vector<std::uint64_t> calls;  ///< how often each is made in the programs
  std::vector<std::uint64_t> calls_in_period;
  Kept<Folds> folds;  ///< by pattern of prices
};

struct KeptRunner::Order {
  std::vector<Program> programs;
  bool told_by_few = false;  ///< programs of few micro-batches have the same works, messages and passes
  std::optional<Periods> periods;
  Kept<Meetings> meetings;   ///< by communicators
  Kept<Tasks> tasks;         ///< by shape of their foldings
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
  for (const auto& [key, order] : orders_) used.push_back(order->latest);
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::ranges::nth_element(used, middle);
  const std::uint64_t oldest = *middle;
  std::erase_if(orders_, [&](const auto& entry) {
    const bool old = entry.second->latest <= oldest;
    if (old) bytes_ -= entry.second->bytes;
    return old;
  });
}

/// What the workload at hand consists of, where it was taken from.
void KeptRunner::put_back() {
  if (order_ == nullptr) return;
  order_->programs.swap(workload_.programs);
  swap_communicators(cut_->communicators, workload_);
  order_ = nullptr;
}

const Workload& KeptRunner::outline(const Experiment& experiment) {
  put_back();
  if (bytes_ > most_bytes_) forget_half();
  if (cuts_.size() > kMostCuts || priced() > kMostPriced) cuts_.clear();
  experiment_ = &experiment;
  place_ = &place_of(experiment.cluster);
  layout_.emplace(experiment, GossipGraph{});
  outlined_ = orrery::outline(experiment, *layout_);
  return outlined_.workload;
}

std::size_t KeptRunner::priced() const {
  std::size_t sum = 0;
  for (const auto& [key, cut] : cuts_)
    sum += (cut->prices.size() + kPricesWorth) * cut->communicators.program_of_rank.size();
  return sum;
}

void KeptRunner::write(std::int64_t micro_batches) {
  put_back();
  written_ = with_micro_batches(*experiment_, micro_batches);
  few_ = with_micro_batches(*experiment_, few_micro_batches(written_.plan));
  Signature key;
  const std::vector<Stage> kinds = kinds_of(outlined_.stages, key);
  Workload few = outlined_.workload;
  write_programs(few_, *layout_, outlined_.blocks, kinds, few);
  const Signature communicators = sign_communicators(written_.plan, few);
  key.append(sign_programs(few));
  append(written_.plan.pipeline_schedule, key);
  key.append(static_cast<std::uint64_t>(micro_batches));
  key.append(static_cast<std::uint64_t>(written_.plan.pipeline_parallel));
  key.append(static_cast<std::uint64_t>(written_.plan.virtual_stages));
  key.append(static_cast<std::uint64_t>(written_.simulation.steps));
  Order& order = order_of(key, few);
  order.latest = ++runs_;
  take_content(std::move(few), workload_);
  cut_ = &cut_of(communicators);
  order_ = &order;
  order_->programs.swap(workload_.programs);
  swap_communicators(cut_->communicators, workload_);
  meetings_ = &meetings_of(communicators);
}

/// For the order of operations at hand.
void KeptRunner::add_bytes_kept(std::size_t bytes) {
  order_->bytes += bytes;
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
  const auto known = cuts_.find(key);
  if (known != cuts_.end() && known->second->complete) return *known->second;
  auto cut = std::make_unique<Cut>(*place_->topology, *experiment_);
  Workload& workload = cut->communicators;
  workload.slots = workload_.slots;
  workload.tied = workload_.tied;
  workload.passes = workload_.passes;
  add_communicators(written_.plan, *layout_, workload);
  workload.passes.clear();
  return *(cuts_[key] = std::move(cut));
}

/// @param content  of programs of few micro-batches and one stage of each kind; made that of all where the
///                 two differ
KeptRunner::Order& KeptRunner::order_of(const Signature& key, Workload& content) {
  const auto known = orders_.find(key);
  if (known != orders_.end() && known->second->told_by_few) return *known->second;
  Workload whole = outlined_.workload;
  write_programs(written_, *layout_, outlined_.blocks, outlined_.stages, whole);
  Order& order = known != orders_.end() ? *known->second : keep_order(key, whole, content);
  if (!order.told_by_few) content = std::move(whole);
  return order;
}

KeptRunner::Order& KeptRunner::keep_order(const Signature& key, Workload& whole, const Workload& few) {
  auto order = std::make_unique<Order>();
  order->told_by_few = same_content(whole, few);
  order->programs = std::move(whole.programs);
  for (const Program& program : order->programs)
    order->bytes += program.ops.size() * sizeof(Op) + program.deps.size() * sizeof(std::uint32_t);
  Order& kept = *(orders_[key] = std::move(order));
  bytes_ += kept.bytes;
  return kept;
}

KeptRunner::Meetings& KeptRunner::meetings_of(const Signature& communicators) {
  std::unique_ptr<Meetings>& meetings = order_->meetings[communicators];
  if (meetings == nullptr) {
    auto made = std::make_unique<Meetings>();
    if (cut_->grouped.channels.empty()) cut_->grouped = group_channels(workload_);
    made->channels = match_channels(workload_, cut_->grouped);
    for (const Call& call : made->channels.calls) made->calls.push_back(call.operations);
    add_bytes_kept(std::size_t{3} * workload_.groups() * sizeof(std::uint32_t));
    meetings = std::move(made);
  }
  return *meetings;
}

const Periods& KeptRunner::periods() {
  if (!order_->periods) order_->periods = find_periods(workload_, written_.plan);
  const Periods& periods = *order_->periods;
  if (periods.found() && meetings_->calls_in_period.empty())
    meetings_->calls_in_period = calls_in_period(workload_, periods, meetings_->channels);
  return periods;
}

const std::optional<WholeAndPart>& KeptRunner::run(std::int64_t more, const Figures& figures) {
  figures_ = figures;
  cut_->complete = false;
  with_loads_ = figures.traffic;
  price_calls(more);
  cut_->complete = true;
  traffic_ = figures.traffic ? count_traffic() : Traffic{};
  const Folds& folds = folds_of(pattern());
  tasks_ = folds.tasks;
  ExpandedGraph& expanded = tasks_->expanded;
  if (tasks_->latest != &folds) {
    tasks_->latest = nullptr;
    expanded.stand_ins = folds.stand_ins;
    tasks_->latest = &folds;
  }
  transfers_.clear();
  for (const auto& [call, place] : expanded.stand_ins.transfers)
    transfers_.push_back(calls_[call].times[calls_[call].of_place[place]]);
  lags_ = expanded.host_lags.values(workload_, works_);
  const Signature costs = sign_costs(more > 0, figures);
  const auto known = tasks_->taken.find(costs);
  if (known != tasks_->taken.end()) return *known->second;
  set_costs(works_, transfers_, lags_, expanded);
  timeline_ = run_contention_free(expanded.graph, std::move(timeline_));
  if (figures.breakdown && tasks_->layout.programs.empty()) tasks_->layout = RunLayout(workload_, expanded);
  auto taken = std::make_unique<std::optional<WholeAndPart>>(more > 0 ? measure_period(view(), periods())
                                                                      : measure_all(view()));
  add_bytes_kept(sizeof(*taken) + 2 * sizeof(ClassTimes) * (figures.breakdown ? expanded.classes() : 0));
  return *(tasks_->taken[costs] = std::move(taken));
}

RunView KeptRunner::view() const {
  return {workload_, tasks_->layout, tasks_->expanded, timeline_, *place_->topology,
          works_,    passes_,        traffic_,         figures_};
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
  works_ = price_works(workload_, *experiment_);
  passes_.assign(workload_.passes.size(), {});
  durations_.assign(workload_.messages.size(), 0);
  numbers_.clear();
  for (const Message& message : workload_.messages) numbers_.push_back(cut_->prices.number(message));
  kept_passes_.begin(workload_, works_);
  calls_.clear();
  pass_places_.clear();
  pass_times_.clear();
  pass_places_.reserve(meetings_->channels.prices);  // calls_ refers to both
  pass_times_.reserve(meetings_->channels.prices);
  loads_.clear();
  for (std::size_t c = 0; c < meetings_->calls.size(); ++c) {
    Call& call = meetings_->channels.calls[c];
    call.operations = meetings_->calls[c];
    if (more > 0) call.operations += static_cast<std::uint64_t>(more) * meetings_->calls_in_period[c];
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
  KeptPrices::Price& price = cut_->prices.price(numbers_[message], workload_.messages[message], call.channel,
                                                workload_, meetings_->channels, with_loads_);
  loads_.push_back({&price, operations});
  return price;
}

/// Communicators whose messages take equally long share a time.
KeptRunner::CallTimes KeptRunner::price_pass(const Call& call) {
  const std::uint32_t pass = call.request.work;
  const std::size_t places = meetings_->channels.channels[call.channel].groups.size();
  const std::size_t first_load = loads_.size();
  const std::size_t first_place = pass_places_.size();
  const std::size_t first_time = pass_times_.size();
  for (const auto& [message, steps] : kept_passes_.messages()[pass])
    price_message(call, message, call.operations * steps);
  const std::span<const Load> loads = std::span(loads_).subspan(first_load);
  const bool even =
      std::ranges::all_of(loads, [](const Load& load) { return load.price->times.size() == 1; });
  for (std::size_t place = 0; place < (even ? 1 : places); ++place) {
    const PassPrice& price = kept_passes_.price(number_of_pass(pass, loads, place));
    const TransferTime time{price.duration_ps, price.lead_ps};
    const std::span<const TransferTime> known = std::span(pass_times_).subspan(first_time);
    const auto at = static_cast<std::size_t>(std::ranges::find(known, time) - known.begin());
    if (at == known.size()) pass_times_.push_back(time);
    pass_places_.push_back(static_cast<std::uint32_t>(at));
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

/// Which communicators of a call take equally long, of those where not all do.
Signature KeptRunner::pattern() const {
  Signature pattern;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    if (calls_[c].times.size() == 1) continue;
    pattern.append(c);
    pattern.append(meetings_->channels.calls[c].channel);
    for (const std::uint32_t time : calls_[c].of_place) pattern.append(time);
  }
  return pattern;
}

KeptRunner::Folds& KeptRunner::folds_of(const Signature& pattern) {
  std::unique_ptr<Folds>& folds = meetings_->folds[pattern];
  if (folds == nullptr) {
    const Channels& channels = meetings_->channels;
    const Folded& folded = folded_of(pattern);
    ClassPositions positions = class_positions(workload_, channels, folded);
    auto made = std::make_unique<Folds>();
    made->tasks = &tasks_of(positions.shape(channels), folded);
    made->stand_ins = std::move(positions.stand_ins);
    add_bytes_kept(made->stand_ins.class_of_rank.size() * sizeof(std::uint32_t));
    folds = std::move(made);
  }
  return *folds;
}

/// All orders of a cut fold alike. (How many operations they have tells how far a folding is refined that
/// takes long, which communicators of even ranks never do.)
const Folded& KeptRunner::folded_of(const Signature& pattern) {
  if (cut_->folded.size() > kMostFolded) cut_->folded.clear();
  std::unique_ptr<Folded>& folded = cut_->folded[pattern];
  if (folded == nullptr)
    folded =
        std::make_unique<Folded>(fold(workload_, meetings_->channels, list_prices(), *place_->topology, {}));
  return *folded;
}

KeptRunner::Tasks& KeptRunner::tasks_of(const Signature& shape, const Folded& folded) {
  std::unique_ptr<Tasks>& tasks = order_->tasks[shape];
  if (tasks == nullptr) {
    auto made = std::make_unique<Tasks>();
    const Channels& channels = meetings_->channels;
    made->expanded = expand(workload_, channels, make_families(workload_, channels), list_prices(), folded);
    add_bytes_kept(made->expanded.graph.tasks() * kTaskBytes);
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
  return {bytes_sent(workload_, meetings_->channels, kept_passes_.messages()), links.traffic(bytes)};
}

}  // namespace orrery
