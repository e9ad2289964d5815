// Conformance of every row of the schedule menu, and the orders of the papers by hand.
#include "workloads/schedules/schedules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

using namespace orrery;

namespace {

std::string text(const std::vector<Pass>& order) {
  std::string out;
  for (const Pass& pass : order) {
    constexpr const char* kNames[] = {" F", " B", " I", " W"};
    out += kNames[static_cast<std::size_t>(pass.kind)] + std::to_string(pass.micro_batch);
    if (pass.chunk > 0) out += "." + std::to_string(pass.chunk);
  }
  return out;
}

std::vector<Pass> order(const char* name, ScheduleShape shape, std::int64_t stage) {
  return find_pipeline_schedule(name)->order(shape, stage);
}

/// Kinds of passes that a micro-batch goes through.
std::int64_t kinds(const PipelineSchedule& schedule) { return schedule.splits_backward ? 3 : 2; }

/// Runs all stages, each in its order, a pass only after what it needs; whether all passes run.
bool completes(const PipelineSchedule& schedule, ScheduleShape shape) {
  const std::int64_t last = shape.stages * shape.chunks - 1;
  std::vector<std::vector<Pass>> orders;
  for (std::int64_t s = 0; s < shape.stages; ++s) orders.push_back(schedule.order(shape, s));
  std::map<std::tuple<Pass::Kind, int, std::int64_t>, bool> done;
  std::vector<std::size_t> at(orders.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < orders.size(); ++s) {
      if (at[s] == orders[s].size()) continue;
      const Pass pass = orders[s][at[s]];
      const std::int64_t v = pass.chunk * shape.stages + static_cast<std::int64_t>(s);
      const auto ran = [&](Pass::Kind kind, std::int64_t where) {
        return done[{kind, pass.micro_batch, where}];
      };
      const auto ready = [&] {
        if (pass.kind == Pass::Kind::forward) return v == 0 || ran(pass.kind, v - 1);
        if (pass.kind == Pass::Kind::backward_weight) return ran(Pass::Kind::backward_input, v);
        return ran(Pass::Kind::forward, v) && (v == last || ran(pass.kind, v + 1));
      };
      if (!ready()) continue;
      done[{pass.kind, pass.micro_batch, v}] = true;
      ++at[s];
      moved = true;
    }
  }
  for (std::size_t s = 0; s < orders.size(); ++s) {
    if (at[s] < orders[s].size()) return false;
  }
  return std::ranges::count(done, true, &decltype(done)::value_type::second) ==
         kinds(schedule) * shape.micro_batches * (last + 1);
}

/// The virtual stages whose outputs cross from stage s to the next, in the order of its passes.
std::vector<std::pair<int, std::int64_t>> crossings(const PipelineSchedule& schedule, ScheduleShape shape,
                                                    std::int64_t stage, Pass::Kind kind, bool sends) {
  std::vector<std::pair<int, std::int64_t>> list;
  const std::int64_t last = shape.stages * shape.chunks - 1;
  for (const Pass& pass : schedule.order(shape, stage)) {
    if (pass.kind != kind) continue;
    const std::int64_t v = pass.chunk * shape.stages + stage;
    const std::int64_t step = (kind == Pass::Kind::forward) == sends ? 1 : -1;
    const std::int64_t lower = step == 1 ? v : v - 1;  // messages are named by the lower virtual stage
    if (lower >= 0 && lower < last) list.emplace_back(pass.micro_batch, lower);
  }
  return list;
}

}  // namespace

TEST_CASE("the orders of the papers") {
  CHECK(text(order("sequential", {2, 3, 1}, 0)) == " F0 B0 F1 B1 F2 B2");
  CHECK(text(order("gpipe", {4, 3, 1}, 2)) == " F0 F1 F2 B2 B1 B0");
  // Warm-up of p - 1 - s = 2 passes.
  CHECK(text(order("1f1b", {3, 5, 1}, 0)) == " F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");
  CHECK(text(order("1f1b", {3, 5, 1}, 2)) == " F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
  // Fewer micro-batches than warm-up passes.
  CHECK(text(order("1f1b", {4, 2, 1}, 0)) == " F0 F1 B0 B1");
  // p = 3: gradients of weights are put off by 0 micro-batches on the first stage, by 2 on the last one.
  CHECK(text(order("zb-h1", {3, 4, 1}, 0)) == " F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
  CHECK(text(order("zb-h1", {3, 4, 1}, 1)) == " F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
  CHECK(text(order("zb-h1", {3, 4, 1}, 2)) == " F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
  // p = 2, m = 4, v = 2: warm-up of 2 (p - 1 - s) + (v - 1) p = 4 passes on stage 0, 2 on stage 1.
  CHECK(text(order("interleaved-1f1b", {2, 4, 2}, 0)) ==
        " F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
  CHECK(text(order("interleaved-1f1b", {2, 4, 2}, 1)) ==
        " F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
}

TEST_CASE("every schedule runs every pass once, without deadlock, with messages in order") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    for (const std::int64_t p : {1, 2, 3, 4, 8}) {
      for (const std::int64_t m : {p, 2 * p, 5 * p}) {
        for (const std::int64_t v : {1, 2, 3}) {
          if (v > 1 && !schedule.interleaved) continue;
          const ScheduleShape shape{p, m, v};
          CAPTURE(std::string(schedule.name));
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(v);
          CHECK(completes(schedule, shape));
          for (std::int64_t s = 0; s < p; ++s) {
            CHECK(schedule.order(shape, s).size() == static_cast<std::size_t>(kinds(schedule) * m * v));
            if (p == 1) continue;
            const std::int64_t next = (s + 1) % p;
            CHECK(crossings(schedule, shape, s, Pass::Kind::forward, true) ==
                  crossings(schedule, shape, next, Pass::Kind::forward, false));
            const Pass::Kind back = backward_kinds(schedule.splits_backward).front();
            CHECK(crossings(schedule, shape, next, back, true) == crossings(schedule, shape, s, back, false));
          }
        }
      }
    }
  }
}

TEST_CASE("a rank of one chunk keeps as many micro-batches as its order says") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    for (const std::int64_t p : {1, 2, 3, 8}) {
      for (std::int64_t m = 1; m <= 12; ++m) {
        if (schedule.interleaved && m % p != 0) continue;
        for (std::int64_t s = 0; s < p; ++s) {
          std::int64_t kept = 0;
          std::int64_t most = 0;
          for (const Pass& pass : schedule.order({p, m, 1}, s)) {
            if (pass.kind == Pass::Kind::forward) ++kept;
            if (completes_gradients(pass.kind)) --kept;
            most = std::max(most, kept);
          }
          CAPTURE(std::string(schedule.name));
          CHECK(schedule.kept({p, m, 1}, s) == most);
        }
      }
    }
  }
}

TEST_CASE("micro-batches that do not fill the pipeline") {
  for (const char* name : {"sequential", "gpipe", "1f1b", "zb-h1"}) {
    for (const std::int64_t m : {1, 2, 3, 5, 7}) CHECK(completes(*find_pipeline_schedule(name), {4, m, 1}));
  }
  CHECK(find_pipeline_schedule("2f2b") == nullptr);
}
