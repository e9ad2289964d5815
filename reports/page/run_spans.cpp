#include "reports/page/run_spans.hpp"

#include <algorithm>

#include "reports/activity.hpp"
#include "reports/page/span_limits.hpp"
#include "sim/metrics/critical_path.hpp"

namespace orrery {
namespace {

/// Ranks of runs up to this many are told class by class, so that each can be shown.
constexpr std::size_t kMostListedRanks = 1 << 16;

/// "0-7, 64".
std::string ranges(std::span<const std::uint32_t> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

/// The class that an operation's task, of that program, is of: the first one where it is of several.
std::uint32_t class_of_task(const RunView& run, const ExpandedGraph::TaskGroup& of, std::uint32_t task) {
  for (const std::uint32_t c : run.layout.programs[of.program].classes) {
    if (run.expanded.task(c, of.op) == task) return c;
  }
  return kNone;
}

}  // namespace

RunSpans::RunSpans(const RunView& run, const RankGrid& grid, std::uint64_t max_spans)
    : run_(run),
      grid_(grid),
      plan_(plan_operations(run, grid, TraceOptions{})),
      names_(labels_.names()),
      max_spans_(max_spans),
      operations_until_(run.timeline.makespan_ps),
      schedule_until_(run.timeline.makespan_ps),
      path_until_(run.timeline.makespan_ps) {
  choose_classes();
  choose_passes_and_waits();
  choose_path();
}

std::vector<std::uint32_t> RunSpans::ranks_on_page() const {
  const std::vector<std::uint32_t> ranks = ranks_within(plan_, grid_, max_spans_, true);
  for (std::size_t count = ranks.size(); count > 1; --count) {
    std::vector<std::uint32_t> some = evenly_spread(ranks, count);
    if (spans_of(some) <= max_spans_) return some;
  }
  return {ranks.front()};
}

std::uint64_t RunSpans::spans_of(const std::vector<std::uint32_t>& ranks) const {
  std::vector<bool> seen(run_.expanded.classes());
  std::uint64_t spans = 0;
  for (const std::uint32_t rank : ranks) {
    const std::uint32_t id = run_.expanded.representatives.class_of_rank[rank];
    if (!seen[id]) spans += run_.workload.programs[run_.expanded.program[id]].ops.size();
    seen[id] = true;
  }
  return spans;
}

void RunSpans::choose_classes() {
  place_of_class_.assign(run_.expanded.classes(), kNone);
  first_op_.assign(run_.workload.programs.size(), kNone);
  span_of_task_.assign(run_.timeline.start_ps.size(), kNone);
  std::uint32_t first_op = 0;
  for (const std::uint32_t rank : ranks_on_page()) {
    const std::uint32_t id = run_.expanded.representatives.class_of_rank[rank];
    if (place_of_class_[id] != kNone) continue;
    const Class& one = add_class(id);
    if (first_op_[one.program] != kNone) continue;
    first_op_[one.program] = first_op;
    first_op += one.ops;
  }
}

const RunSpans::Class& RunSpans::add_class(std::uint32_t id) {
  const std::uint32_t program = run_.expanded.program[id];
  const std::vector<Op>& all = run_.workload.programs[program].ops;
  const auto ops = static_cast<std::uint32_t>(std::min<std::uint64_t>(all.size(), max_spans_));
  for (std::uint32_t op = 0; op < ops; ++op) {
    std::uint32_t& span = span_of_task_[run_.expanded.task(id, op)];
    if (span == kNone) span = spans_ + op;
  }
  for (std::uint32_t op = ops; op < all.size(); ++op) {
    if (all[op].stream != Stream::compute) continue;
    operations_until_ = run_.timeline.start_ps[run_.expanded.task(id, op)];
    break;
  }
  place_of_class_[id] = static_cast<std::uint32_t>(classes_.size());
  classes_.push_back({id, program, spans_, ops});
  spans_ += ops;
  return classes_.back();
}

void RunSpans::choose_passes_and_waits() {
  const std::vector<std::uint32_t> ranks = stage_ranks();
  for (std::uint32_t stage = 0; stage < ranks.size(); ++stage) {
    const std::vector<PassSpan> some = passes_of(run_, ranks[stage]);
    passes_.insert(passes_.end(), some.begin(), some.end());
    pass_stages_.resize(passes_.size(), stage);
  }
  for (std::uint32_t place = 0; place < classes_.size(); ++place) {
    const std::vector<Wait> some = waits_of(run_, classes_[place].id);
    waits_.insert(waits_.end(), some.begin(), some.end());
    wait_places_.resize(waits_.size(), place);
  }
  schedule_until_ = std::min(begin_of_rest(passes_, max_spans_, run_.timeline.makespan_ps),
                             begin_of_rest(waits_, max_spans_, run_.timeline.makespan_ps));
  cut_spans(passes_, pass_stages_, schedule_until_);
  cut_spans(waits_, wait_places_, schedule_until_);
}

std::uint16_t RunSpans::label_of(const Op& op) const {
  const auto found = std::ranges::find(names_, labels_.of(run_.workload, op).name);
  return static_cast<std::uint16_t>(found - names_.begin());
}

void RunSpans::add_columns(Page& page) const {
  add_operations(page);
  add_spans(page);
  add_passes(page);
  add_waits(page);
  add_path(page);
}

void RunSpans::add_operations(Page& page) const {
  std::vector<Op> ops;
  std::vector<bool> done(run_.workload.programs.size());
  for (const Class& one : classes_) {
    if (done[one.program]) continue;
    done[one.program] = true;
    ops.insert(ops.end(), ops_of(one).begin(), ops_of(one).end());
  }
  page.add_column<std::uint8_t>("op.activity", ops,
                                [&](const Op& op) { return activity_of(run_.workload, op); });
  page.add_column<std::uint8_t>("op.pass", ops, phase_of_pass);
  page.add_column<std::uint16_t>("op.label", ops, [&](const Op& op) { return label_of(op); });
  page.add_column<std::uint16_t>("op.stream", ops, &Op::stream);
  page.add_column<std::uint16_t>("op.slot", ops, &Op::slot);
  page.add_column<std::int32_t>("op.layer", ops, &Op::layer);
  page.add_column<std::int32_t>("op.microBatch", ops, &Op::micro_batch);
  page.add_column<std::int32_t>("op.chunk", ops, &Op::chunk);
  page.add_column<std::int32_t>("op.step", ops, &Op::step);
  page.add_column<std::int32_t>("op.message", ops, [](const Op& op) {
    return op.kind == Op::Kind::communicate ? static_cast<std::int32_t>(op.work) : -1;
  });
}

void RunSpans::add_spans(Page& page) const {
  std::vector<std::uint32_t> tasks;
  for (const Class& one : classes_) {
    for (std::uint32_t op = 0; op < ops_of(one).size(); ++op) tasks.push_back(run_.expanded.task(one.id, op));
  }
  page.add_column<double>("span.start", tasks,
                          [&](std::uint32_t task) { return run_.timeline.start_ps[task]; });
  page.add_column<double>("span.finish", tasks,
                          [&](std::uint32_t task) { return run_.timeline.finish_ps[task]; });
  page.add_column<std::uint32_t>("span.before", tasks, [&](std::uint32_t task) {
    const std::uint32_t last = last_predecessor(run_.expanded.graph, run_.timeline, task);
    return last == kNone ? kNone : span_of_task_[last];
  });
}

std::vector<std::uint32_t> RunSpans::stage_ranks() const {
  std::vector<std::uint32_t> ranks;
  RankCoordinates at;
  for (at[Axis::pipeline] = 0; at[Axis::pipeline] < grid_.size(Axis::pipeline); ++at[Axis::pipeline])
    ranks.push_back(grid_.rank(at));
  return ranks;
}

void RunSpans::add_passes(Page& page) const {
  page.add_column("pass.stage", pass_stages_);
  page.add_column<std::uint8_t>("pass.phase", passes_, &PassSpan::phase);
  page.add_column<std::int32_t>("pass.microBatch", passes_, &PassSpan::micro_batch);
  page.add_column<std::int32_t>("pass.chunk", passes_, &PassSpan::chunk);
  page.add_column<std::int32_t>("pass.step", passes_, &PassSpan::step);
  page.add_column<std::uint32_t>("pass.firstOp", passes_, &PassSpan::first_op);
  page.add_column<std::uint32_t>("pass.lastOp", passes_, &PassSpan::last_op);
  page.add_column<double>("pass.start", passes_, &PassSpan::start_ps);
  page.add_column<double>("pass.finish", passes_, &PassSpan::finish_ps);
}

void RunSpans::add_waits(Page& page) const {
  page.add_column("wait.class", wait_places_);
  page.add_column<std::uint8_t>("wait.cause", waits_, &Wait::cause);
  page.add_column<double>("wait.start", waits_, &Wait::start_ps);
  page.add_column<double>("wait.finish", waits_, &Wait::finish_ps);
}

void RunSpans::choose_path() {
  const auto& groups = run_.expanded.task_groups;
  std::vector<CriticalTask> tasks = critical_tasks(run_.expanded.graph, run_.timeline);
  std::ranges::reverse(tasks);
  if (tasks.size() > max_spans_) {
    path_until_ = run_.timeline.start_ps[tasks[max_spans_].task];
    tasks.resize(max_spans_);
  }
  for (const CriticalTask& step : tasks) {
    const auto& group =
        *std::prev(std::ranges::upper_bound(groups, step.task, {}, &ExpandedGraph::TaskGroup::first_task));
    path_.push_back({step.task, class_of_task(run_, group, step.task),
                     &run_.workload.programs[group.program].ops[group.op]});
  }
}

void RunSpans::add_path(Page& page) const {
  page.add_column<double>("path.start", path_,
                          [&](const PathStep& step) { return run_.timeline.start_ps[step.task]; });
  page.add_column<double>("path.finish", path_,
                          [&](const PathStep& step) { return run_.timeline.finish_ps[step.task]; });
  page.add_column<std::uint32_t>("path.span", path_,
                                 [&](const PathStep& step) { return span_of_task_[step.task]; });
  page.add_column<std::uint32_t>("path.rank", path_, [&](const PathStep& step) {
    return step.of == kNone ? kNone : run_.expanded.representatives.representative[step.of];
  });
  page.add_column<std::uint16_t>("path.label", path_,
                                 [&](const PathStep& step) { return label_of(*step.op); });
  page.add_column<std::uint8_t>("path.activity", path_,
                                [&](const PathStep& step) { return activity_of(run_.workload, *step.op); });
  page.add_column<std::int32_t>("path.microBatch", path_,
                                [](const PathStep& step) { return step.op->micro_batch; });
  page.add_column<std::int32_t>("path.layer", path_, [](const PathStep& step) { return step.op->layer; });
}

void RunSpans::write_facts(JsonText& text) const {
  const auto number = [&text](const char* key, std::uint64_t value) {
    text.key(key);
    text.value(static_cast<std::int64_t>(value));
  };
  number("ranks", run_.workload.ranks());
  number("all_classes", run_.expanded.classes());
  number("steps", static_cast<std::uint64_t>(run_.workload.steps));
  number("makespan_ps", static_cast<std::uint64_t>(run_.timeline.makespan_ps));
  number("gpus_per_node", run_.topology.gpus_per_node());
  number("max_spans", max_spans_);
  number("operations_until_ps", static_cast<std::uint64_t>(operations_until_));
  number("schedule_until_ps", static_cast<std::uint64_t>(schedule_until_));
  number("path_until_ps", static_cast<std::uint64_t>(path_until_));
  write_classes(text);
  write_groups(text);
  write_messages(text);
  write_grid(text);
  text.key("labels");
  text.begin('[');
  for (const std::string& name : names_) {
    text.element();
    text.value(std::string_view(name));
  }
  text.end(']');
  text.key("streams");
  text.begin('[');
  for (std::uint32_t s = 0; s < run_.workload.streams; ++s) {
    text.element();
    text.value(std::string_view(stream_name(static_cast<Stream>(s))));
  }
  text.end(']');
  text.key("stage_classes");
  text.begin('[');
  for (const std::uint32_t rank : stage_ranks()) {
    text.element();
    text.value(std::int64_t{place_of_class_[run_.expanded.representatives.class_of_rank[rank]]});
  }
  text.end(']');
}

void RunSpans::write_classes(JsonText& text) const {
  std::vector<std::vector<std::uint32_t>> ranks(classes_.size());
  const auto& class_of_rank = run_.expanded.representatives.class_of_rank;
  if (class_of_rank.size() <= kMostListedRanks) {
    for (std::uint32_t rank = 0; rank < class_of_rank.size(); ++rank) {
      const std::uint32_t place = place_of_class_[class_of_rank[rank]];
      if (place != kNone) ranks[place].push_back(rank);
    }
  }
  text.key("classes");
  text.begin('[');
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const Class& one = classes_[c];
    text.element();
    text.begin('{');
    const std::array<std::pair<const char*, std::int64_t>, 5> numbers{
        {{"rank", rank_of(one)},
         {"count", run_.expanded.representatives.multiplicity[one.id]},
         {"first_span", one.first_span},
         {"first_op", first_op_[one.program]},
         {"ops", static_cast<std::int64_t>(ops_of(one).size())}}};
    for (const auto& [key, value] : numbers) {
      text.key(key);
      text.value(value);
    }
    text.key("ranks");
    text.value(std::string_view(ranges(ranks[c])));
    text.end('}');
  }
  text.end(']');
}

/// Per class its communicators by slot: [number, how many ranks, which].
void RunSpans::write_groups(JsonText& text) const {
  text.key("groups");
  text.begin('[');
  for (const Class& one : classes_) {
    std::vector<bool> used(run_.workload.slots);
    for (const Op& op : ops_of(one)) used[op.slot] = used[op.slot] || op.kind != Op::Kind::compute;
    text.element();
    text.begin('{');
    for (std::uint32_t slot = 0; slot < used.size(); ++slot) {
      if (!used[slot]) continue;
      const std::uint32_t group = run_.workload.group(rank_of(one), slot);
      if (group == kNoGroup) continue;
      const auto members = run_.workload.members(group);
      text.key(std::to_string(slot));
      text.begin('[');
      text.element();
      text.value(std::int64_t{group});
      text.element();
      text.value(static_cast<std::int64_t>(members.size()));
      text.element();
      text.value(std::string_view(ranges(members.first(std::min<std::size_t>(members.size(), 64)))));
      text.end(']');
    }
    text.end('}');
  }
  text.end(']');
}

/// Writes [bytes, number of equal messages in a row].
void RunSpans::write_messages(JsonText& text) const {
  text.key("messages");
  text.begin('[');
  for (const Message& message : run_.workload.messages) {
    text.element();
    text.begin('[');
    text.element();
    text.value(std::int64_t{message.bytes});
    text.element();
    text.value(std::int64_t{message.times});
    text.end(']');
  }
  text.end(']');
}

void RunSpans::write_grid(JsonText& text) const {
  text.key("axes");
  text.begin('[');
  for (std::size_t a = 0; a < kAxisCount; ++a) {
    const auto axis = static_cast<Axis>(a);
    if (grid_.size(axis) <= 1) continue;
    text.element();
    text.begin('{');
    text.key("name");
    text.value(std::string_view(kAxes[a].name));
    text.key("size");
    text.value(grid_.size(axis));
    text.key("stride");
    text.value(grid_.stride(axis));
    text.end('}');
  }
  text.end(']');
}

}  // namespace orrery
