#include "sim/run/kept_runner.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/matching/families.hpp"
#include "sim/run/program_signature.hpp"
#include "sim/symmetry/class_positions.hpp"
#include "sim/tasks/expand.hpp"
#include "topologies/topologies.hpp"
#include "workloads/parallel/communicators.hpp"

namespace orrery {
namespace {

/// Larger ones share little and would keep much.
constexpr std::int64_t kMostRanks = 1 << 14;
constexpr std::size_t kTaskBytes = 80;   ///< with what figures need to know
constexpr std::size_t kRunBytes = 96;    ///< of an entry of Tasks::taken, beside what it holds
constexpr std::size_t kMostFolded = 64;  ///< of a cut

void append(std::string_view text, Signature& signature) {
  signature.append(text.size());
  for (const char c : text) signature.append(static_cast<unsigned char>(c));
}

/// All that add_communicators() reads where replicas keep in step all together.
Signature sign_communicators(const Plan& plan, const CommunicatorSpec& spec) {
  Signature signature;
  signature.append(static_cast<std::uint64_t>(plan.tensor_parallel));
  signature.append(static_cast<std::uint64_t>(plan.pipeline_parallel));
  signature.append(static_cast<std::uint64_t>(plan.data_parallel));
  signature.append(static_cast<std::uint64_t>(plan.degree(Axis::context)));
  signature.append((spec.pipeline_wraps ? 1U : 0U) | (spec.tensor_passes ? 2U : 0U) | (spec.tied ? 4U : 0U));
  signature.append(static_cast<std::uint64_t>(spec.sharding_ranks));
  append(plan.rank_order, signature);
  return signature;
}

/// So few micro-batches that programs of more do nothing that programs of these do not.
std::int64_t few_micro_batches(const Plan& plan) {
  constexpr std::int64_t kFirstMiddleLast = 3;
  const std::int64_t rhythm = plan.virtual_stages > 1 ? plan.pipeline_parallel : 1;
  return std::min(plan.micro_batches(), (kFirstMiddleLast + rhythm - 1) / rhythm * rhythm);
}

/// One stage of each kind that programs are alike for; signs which stage is of which.
std::vector<Stage> kinds_of(std::span<const Stage> stages, Signature& signature) {
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

/// Works, messages and passes.
void take_content(Workload&& from, Workload& workload) {
  workload.works = std::move(from.works);
  workload.messages = std::move(from.messages);
  workload.passes = std::move(from.passes);
}

/// What is known without programs, but for their content.
void take_outline(const Workload& from, Workload& workload) {
  workload.stage_memory = from.stage_memory;
  workload.model_flops = from.model_flops;
  workload.hardware_flops = from.hardware_flops;
  workload.parameters = from.parameters;
  workload.samples = from.samples;
  workload.tokens = from.tokens;
  workload.tied = from.tied;
  workload.slots = from.slots;
  workload.common_slots = from.common_slots;
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

KeptRunner::KeptRunner(kept::Store& store) : store_(store) {}

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

void KeptRunner::put_back() {
  if (order_ == nullptr) return;
  swap_parts();
  store_.orders.give(order_key_, std::move(order_));
  store_.cuts.give(cut_key_, std::move(cut_));
}

/// The workload at hand gets what the order and the cut at hand consist of, or gives it back.
void KeptRunner::swap_parts() {
  order_->programs.swap(workload_.programs);
  swap_communicators(cut_->communicators, workload_);
}

const Workload& KeptRunner::outline(const Experiment& experiment) {
  put_back();
  experiment_ = &experiment;
  if (place_ == nullptr || !place_->stands_for(experiment.cluster))
    place_ = store_.place_of(experiment.cluster);
  layout_.emplace(experiment, GossipGraph{});
  outlined_ = orrery::outline(experiment, *layout_);
  return outlined_.workload;
}

void KeptRunner::write(std::int64_t micro_batches) {
  put_back();
  written_ = with_micro_batches(*experiment_, micro_batches);
  written_.name.clear();  // changes nothing
  take_outline(outlined_.workload, workload_);
  trail_ = store_.trail_of(written_);
  followed_ = trail_ && follow(*trail_);
  if (!followed_) {
    take_order(write_few());
    take_cut();
    swap_parts();
    meetings_ = &meetings_of(communicators_);
  }
}

/// Whether all that the trail leads to is there; it is at hand then.
bool KeptRunner::follow(const kept::Trail& trail) {
  order_key_ = trail.order;
  cut_key_ = trail.cut;
  order_ = store_.orders.take(order_key_);
  if (order_ == nullptr) return false;
  cut_ = store_.cuts.take(cut_key_);
  if (cut_ == nullptr) return false;
  const auto meetings = order_->meetings.find(trail.communicators);
  if (meetings == order_->meetings.end() || !meetings->second->folds.contains(trail.pattern)) return false;
  meetings_ = meetings->second.get();
  swap_parts();
  return true;
}

/// Programs of few micro-batches and one stage of each kind, and the keys that they make.
Workload KeptRunner::write_few() {
  few_ = with_micro_batches(*experiment_, few_micro_batches(written_.plan));
  order_key_ = {};
  const std::vector<Stage> kinds = kinds_of(outlined_.stages.list(), order_key_);
  Workload few = outlined_.workload;
  write_programs(few_, *layout_, outlined_.blocks, kinds, few);
  communicators_ = sign_communicators(written_.plan, layout_->spec());
  order_key_.append(sign_programs(few));
  append(written_.plan.pipeline_schedule, order_key_);
  order_key_.append(static_cast<std::uint64_t>(written_.plan.micro_batches()));
  order_key_.append(static_cast<std::uint64_t>(written_.plan.pipeline_parallel));
  order_key_.append(static_cast<std::uint64_t>(written_.plan.virtual_stages));
  order_key_.append(static_cast<std::uint64_t>(written_.simulation.steps));
  return few;
}

/// Where it is not at hand. Its content is that of `few`, or of all programs where the two differ.
void KeptRunner::take_order(Workload few) {
  if (order_ == nullptr) order_ = store_.orders.take(order_key_);
  if (order_ == nullptr || !order_->told_by_few) {
    Workload whole = outlined_.workload;
    write_programs(written_, *layout_, outlined_.blocks, outlined_.stages.list(), whole);
    if (order_ == nullptr) make_order(whole, few);
    if (!order_->told_by_few) few = std::move(whole);
  }
  take_content(std::move(few), workload_);
}

/// Takes the programs of `whole`.
void KeptRunner::make_order(Workload& whole, const Workload& few) {
  order_ = std::make_unique<kept::Order>();
  order_->told_by_few = same_content(whole, few);
  order_->programs = std::move(whole.programs);
  for (const Program& program : order_->programs)
    order_->bytes += program.ops.size() * sizeof(Op) + program.deps.size() * sizeof(std::uint32_t);
}

void KeptRunner::take_cut() {
  cut_key_ = communicators_;
  cut_key_.append(place_->number);
  for (const std::string& algorithm : experiment_->plan.collectives) append(algorithm, cut_key_);
  cut_key_.append(std::bit_cast<std::uint64_t>(experiment_->software.split_node_efficiency));
  if (cut_ == nullptr) cut_ = store_.cuts.take(cut_key_);
  if (cut_ != nullptr) return;
  cut_ = std::make_unique<kept::Cut>(place_, *experiment_);
  Workload& workload = cut_->communicators;
  add_communicators(layout_->spec(), workload);
}

kept::Meetings& KeptRunner::meetings_of(const Signature& communicators) {
  std::unique_ptr<kept::Meetings>& meetings = order_->meetings[communicators];
  if (meetings == nullptr) {
    auto made = std::make_unique<kept::Meetings>();
    if (cut_->grouped.channels.empty()) cut_->grouped = group_channels(workload_);
    made->channels = match_channels(workload_, cut_->grouped);
    for (const Call& call : made->channels.calls) made->calls.push_back(call.operations);
    order_->bytes += std::size_t{3} * workload_.groups() * sizeof(std::uint32_t);
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
  const bool repeats = more > 0;
  if (followed_) {
    if (const auto* known = known_run(repeats)) return *known;
    take_order(write_few());
  }
  count_calls(more);
  pricer_.price(workload_, meetings_->channels, *experiment_, cut_->prices, figures.traffic);
  traffic_ = figures.traffic ? pricer_.traffic() : Traffic{};
  const Signature pattern = pricer_.pattern();
  stand_for(folds_of(pattern));
  ExpandedGraph& expanded = tasks_->expanded;
  transfers_.clear();
  for (const auto& [call, place] : expanded.stand_ins.transfers)
    transfers_.push_back(pricer_.time(call, place));
  lags_ = expanded.host_lags.values(workload_, pricer_.works());
  const Signature costs = sign_costs();
  if (!trail_) store_.leave(written_, {order_key_, cut_key_, communicators_, pattern, costs});
  const auto [known, is_new] = tasks_->taken.try_emplace(key_of_run(costs, repeats));
  if (is_new) known->second = simulate(repeats);
  return *known->second;
}

/// What the run at the end of the trail took, if it was asked for the same.
const std::optional<WholeAndPart>* KeptRunner::known_run(bool repeats) {
  if (figures_.traffic) return nullptr;  // depends on how often calls are made, and is counted for each run
  stand_for(*meetings_->folds.at(trail_->pattern));
  const auto known = tasks_->taken.find(key_of_run(trail_->costs, repeats));
  return known == tasks_->taken.end() ? nullptr : known->second.get();
}

std::unique_ptr<std::optional<WholeAndPart>> KeptRunner::simulate(bool repeats) {
  ExpandedGraph& expanded = tasks_->expanded;
  if (!std::exchange(tasks_->are_new, false)) set_costs(pricer_.works(), transfers_, lags_, expanded);
  timeline_ = run_contention_free(expanded.graph, std::move(timeline_));
  if (figures_.breakdown && tasks_->layout.programs.empty()) tasks_->layout = RunLayout(workload_, expanded);
  auto taken =
      std::make_unique<std::optional<WholeAndPart>>(repeats ? measure_repeats() : measure_all(view()));
  order_->bytes +=
      kRunBytes + sizeof(*taken) + 2 * sizeof(ClassTimes) * (figures_.breakdown ? expanded.classes() : 0);
  return taken;
}

std::optional<WholeAndPart> KeptRunner::measure_repeats() {
  if (!tasks_->of_periods) {
    tasks_->of_periods = period_tasks(workload_, periods(), tasks_->expanded);
    order_->bytes += tasks_->of_periods->bytes();
  }
  return measure_period(view(), periods(), *tasks_->of_periods);
}

/// How often calls are made where the last period comes `more` times more often.
void KeptRunner::count_calls(std::int64_t more) {
  for (std::size_t c = 0; c < meetings_->calls.size(); ++c) {
    std::uint64_t& operations = meetings_->channels.calls[c].operations;
    operations = meetings_->calls[c];
    if (more > 0) operations += static_cast<std::uint64_t>(more) * meetings_->calls_in_period[c];
  }
}

/// Makes the tasks of the foldings stand for whom these do.
void KeptRunner::stand_for(const kept::Folds& folds) {
  tasks_ = folds.tasks;
  if (tasks_->latest == &folds) return;
  tasks_->expanded.stand_ins = folds.stand_ins;
  tasks_->latest = &folds;
}

RunView KeptRunner::view() const {
  return {workload_,       tasks_->layout,   tasks_->expanded, timeline_, *place_->topology,
          pricer_.works(), pricer_.passes(), traffic_,         figures_};
}

/// What is asked of a run, but for traffic, beside what it costs.
Signature KeptRunner::key_of_run(Signature costs, bool repeats) const {
  costs.append((repeats ? 1U : 0U) | (figures_.breakdown ? 2U : 0U) | (figures_.critical_path ? 4U : 0U));
  return costs;
}

/// All that a run of the tasks depends on.
Signature KeptRunner::sign_costs() const {
  Signature costs;
  const auto append = [&costs](Picoseconds a, Picoseconds b) {
    costs.append(static_cast<std::uint64_t>(a));
    costs.append(static_cast<std::uint64_t>(b));
  };
  for (const ComputePrice& work : pricer_.works()) append(work.duration_ps, work.launch_ps);
  for (const ComputePrice& pass : pricer_.passes()) append(pass.duration_ps, pass.launch_ps);
  for (const TransferTime& transfer : transfers_) append(transfer.duration_ps, transfer.lead_ps);
  for (const Picoseconds lag : lags_) costs.append(static_cast<std::uint64_t>(lag));
  return costs;
}

kept::Folds& KeptRunner::folds_of(const Signature& pattern) {
  std::unique_ptr<kept::Folds>& folds = meetings_->folds[pattern];
  if (folds == nullptr) {
    const Channels& channels = meetings_->channels;
    const Folded& folded = folded_of(pattern);
    ClassPositions positions = class_positions(workload_, channels, folded);
    auto made = std::make_unique<kept::Folds>();
    made->tasks = &tasks_of(positions.shape(channels), folded);
    made->stand_ins = std::move(positions.stand_ins);
    order_->bytes += made->stand_ins.class_of_rank.size() * sizeof(std::uint32_t);
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
        std::make_unique<Folded>(fold(workload_, meetings_->channels, pricer_.list(), *place_->topology, {}));
  return *folded;
}

kept::Tasks& KeptRunner::tasks_of(const Signature& shape, const Folded& folded) {
  std::unique_ptr<kept::Tasks>& tasks = order_->tasks[shape];
  if (tasks == nullptr) {
    auto made = std::make_unique<kept::Tasks>();
    const Channels& channels = meetings_->channels;
    made->expanded = expand(workload_, channels, make_families(workload_, channels), pricer_.list(), folded);
    order_->bytes += made->expanded.graph.tasks() * kTaskBytes;
    tasks = std::move(made);
  }
  return *tasks;
}

}  // namespace orrery
