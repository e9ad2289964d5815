// Plays small runs whose times are computed by hand.
#include "sim/long_run/run_simulation.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace orrery;

namespace {

/// Steps of 10 ps, a checkpoint every 3 steps with a stall of 4 ps, detection 5, restart 7, load 2.
RunModel small_run(std::int64_t steps) {
  RunModel model;
  model.levels = {{steps, 10, 1}};
  model.nodes = 4;
  model.checkpoint.interval_steps = 3;
  model.checkpoint.stall_ps = 4;
  model.checkpoint.first.load_ps = 2;
  model.checkpoint.peer_load_ps = 2;
  model.checkpoint.first.survives = {true, true, true};
  model.restart_ps = 7;
  FailureKind kind;
  kind.name = "host";
  kind.detection_ps = 5;
  model.kinds = {kind};
  return model;
}

std::int64_t time_of(const RunOutcome& outcome, TimeUse use) {
  return static_cast<std::int64_t>(outcome.time_ps[static_cast<std::size_t>(use)]);
}

std::int64_t wall_of(const RunOutcome& outcome) { return static_cast<std::int64_t>(outcome.wall_ps); }

/// Every picosecond has one use.
void check_sum(const RunOutcome& outcome) {
  LongPicoseconds sum = 0;
  for (const LongPicoseconds time : outcome.time_ps) {
    CHECK(time >= 0);
    sum += time;
  }
  CHECK(sum == outcome.wall_ps);
}

}  // namespace

TEST_CASE("a run without failures takes its steps") {
  RunModel model = small_run(7);
  model.checkpoint.interval_steps = 0;
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 7 * 10);
  CHECK(time_of(outcome, TimeUse::useful) == 70);
  CHECK(outcome.interruptions == 0);
}

TEST_CASE("checkpoints stall a run, none after the last step") {
  // After steps 3, 6 and 9: 100 + 3 x 4.
  CHECK(wall_of(simulate_run(small_run(10), 1, 0)) == 112);
  // After step 3 alone, since the run ends with step 6.
  CHECK(wall_of(simulate_run(small_run(6), 1, 0)) == 64);
}

TEST_CASE("a failure throws away the steps since the checkpoint") {
  RunModel model = small_run(10);
  model.trace = {{50, 0, -1, 0}};
  const RunOutcome outcome = simulate_run(model, 1, 0, true);
  // Steps 1 to 3 until 30, checkpoint until 34, step 4 until 44, 6 ps of step 5. Detection 5, restart 7,
  // load 2. From 64 on steps 4 to 10 with two checkpoints: 70 + 8.
  CHECK(wall_of(outcome) == 142);
  CHECK(time_of(outcome, TimeUse::useful) == 100);
  CHECK(time_of(outcome, TimeUse::lost_steps) == 16);
  CHECK(time_of(outcome, TimeUse::checkpoint) == 12);
  CHECK(time_of(outcome, TimeUse::detection) == 5);
  CHECK(time_of(outcome, TimeUse::restart) == 7);
  CHECK(time_of(outcome, TimeUse::restore) == 2);
  CHECK(outcome.interruptions == 1);
  check_sum(outcome);
  REQUIRE(outcome.spans.size() == 11);  // steps five times, three checkpoints, three parts of the recovery
  CHECK(outcome.spans[2].end == 50);
  CHECK(outcome.spans.back().end == 142);
}

TEST_CASE("a failure at the end of a step finds the step done") {
  RunModel model = small_run(10);
  model.trace = {{44, 0, -1, 0}};
  // Step 4 is done and lost, nothing is under way: 44 + 14, then 70 + 8.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(time_of(outcome, TimeUse::lost_steps) == 10);
  CHECK(wall_of(outcome) == 136);
}

TEST_CASE("a failure in a restart begins it again") {
  RunModel model = small_run(10);
  model.trace = {{50, 0, -1, 0}, {57, 0, -1, 0}};
  // The first recovery gets to 57, detection and 2 ps of the restart; the second one takes 14 more.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(time_of(outcome, TimeUse::detection) == 10);
  CHECK(time_of(outcome, TimeUse::restart) == 9);
  CHECK(wall_of(outcome) == 149);
  CHECK(outcome.interruptions == 2);
  check_sum(outcome);
}

TEST_CASE("a checkpoint on its way is no use yet") {
  RunModel model = small_run(10);
  model.checkpoint.first.save_ps = 20;
  // The second checkpoint begins at 64, its stall ends at 68, and it is written at 88. A failure at 80 goes
  // back to step 3: 80 + 14 = 94, then steps 4 to 10 with checkpoints after 6 and 9.
  model.trace = {{80, 0, -1, 0}};
  CHECK(wall_of(simulate_run(model, 1, 0)) == 94 + 70 + 8);
  // At 90 it is there: 90 + 14 = 104, then steps 7 to 10 with a checkpoint after 9.
  model.trace = {{90, 0, -1, 0}};
  CHECK(wall_of(simulate_run(model, 1, 0)) == 104 + 40 + 4);
}

TEST_CASE("a checkpoint waits for the one before it") {
  RunModel model = small_run(10);
  model.checkpoint.first.save_ps = 50;
  // Written from 34 to 84, so the one after step 6, at 64, waits for 20 and stalls for 4; that is written
  // from 88 to 138, and the one after step 9, at 118, waits for 20 again.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(time_of(outcome, TimeUse::checkpoint) == 4 + 24 + 24);
  CHECK(wall_of(outcome) == 152);
}

TEST_CASE("a lost node takes copies in memory with it") {
  RunModel model = small_run(10);
  model.checkpoint.first.survives = {true, false, false};
  model.checkpoint.second = CheckpointStore{0, 3, {true, true, true}};
  model.checkpoint.persist_every = 2;
  model.trace = {{115, 0, -1, 0}};
  // Checkpoints after steps 3 and 6 end at 34 and 68, the second of which is persistent, and after step 9 at
  // 102. At 115 step 10 is done: the run ends before.
  CHECK(wall_of(simulate_run(model, 1, 0)) == 112);
  // At 105 the node goes: back to step 6, loading takes 3: 105 + 15 = 120, then steps 7 to 10 and a
  // checkpoint.
  model.trace[0].at = 105;
  CHECK(wall_of(simulate_run(model, 1, 0)) == 120 + 40 + 4);
  // Processes alone find step 9 in memory: 105 + 14, then one step.
  model.kinds[0].reach = FailureReach::process;
  CHECK(wall_of(simulate_run(model, 1, 0)) == 119 + 10);
}

TEST_CASE("nodes are waited for, or replaced by spares") {
  RunModel model = small_run(10);
  model.checkpoint.interval_steps = 0;
  model.trace = {{5, 0, -1, 100}};
  // 5 are lost, detection until 10, the node is back at 105, restart until 112. There is nothing to load.
  CHECK(wall_of(simulate_run(model, 1, 0)) == 112 + 100);
  model.policy = RecoveryPolicy::spares;
  model.cold_start_ps = 30;
  model.cold_spares = 1;
  CHECK(wall_of(simulate_run(model, 1, 0)) == 10 + 30 + 7 + 100);
  model.hot_spares = 1;
  CHECK(wall_of(simulate_run(model, 1, 0)) == 10 + 7 + 100);
}

TEST_CASE("a switch takes all its nodes") {
  RunModel model = small_run(10);
  model.policy = RecoveryPolicy::spares;
  model.checkpoint.interval_steps = 0;
  model.nodes_per_group = 2;
  model.kinds[0].reach = FailureReach::group;
  model.hot_spares = 1;
  model.trace = {{5, 0, 3, 100}};
  // One of two nodes is replaced at once, the other one is back at 105.
  CHECK(wall_of(simulate_run(model, 1, 0)) == 105 + 7 + 100);
}

TEST_CASE("a run shrinks and grows") {
  RunModel model = small_run(6);
  model.checkpoint.interval_steps = 0;
  model.checkpoint.first.load_ps = 0;
  model.policy = RecoveryPolicy::shrink;
  model.replicas = model.parts = 2;
  model.trace = {{5, 0, 1, 40}};
  // Lost 5, detection 5, restart 7: at 17 one replica of two makes half steps, until 45 three of them, the
  // third one to its end at 47. Restart until 54; 1.5 steps of 6 are done, so 5 more with both, the last of
  // them half in vain.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 54 + 50);
  CHECK(time_of(outcome, TimeUse::degraded) == 15);
  CHECK(time_of(outcome, TimeUse::restart) == 14);
  check_sum(outcome);
}

TEST_CASE("the other replicas go on without a lost one") {
  RunModel model = small_run(6);
  model.checkpoint.interval_steps = 0;
  model.policy = RecoveryPolicy::per_replica;
  model.replicas = model.parts = 2;
  model.reconfigure_ps = 3;
  model.trace = {{25, 0, 1, 0}};
  // Two steps, 5 ps of the third are lost, detection 5, new communicators 3. The replica is back at 25 + 7 +
  // 2 = 34, in the half step from 33 to 43. Then 3.5 steps are left: 4 more.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 43 + 40);
  CHECK(time_of(outcome, TimeUse::lost_steps) == 5);
  CHECK(time_of(outcome, TimeUse::degraded) == 5);
  CHECK(time_of(outcome, TimeUse::restore) == 0);
  check_sum(outcome);
}

TEST_CASE("peers of a lost node take over its work") {
  RunModel model = small_run(6);
  model.checkpoint.interval_steps = 0;
  model.policy = RecoveryPolicy::reroute;
  model.replicas = 2;
  model.parts = 1;  // stages
  model.step_without = [](std::size_t, std::int64_t lost) { return Picoseconds{10 + 6 * lost}; };
  model.trace = {{25, 0, 1, 0}};
  // As above, but the step from 30 to 46 is a whole one of 16 ps; three more are left.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 25 + 5 + 0 + 16 + 30);
  CHECK(time_of(outcome, TimeUse::degraded) == 6);
}

TEST_CASE("a slow part slows all until it is found") {
  RunModel model = small_run(6);
  model.checkpoint.interval_steps = 0;
  FailureKind slow;
  slow.effect = FailureKind::Effect::slows;
  slow.slow_num = 3;
  slow.slow_den = 2;
  slow.found_after_ps = 31;
  model.kinds.push_back(slow);
  model.trace = {{12, 1, 0, 0}};
  // Step 2 ends at 20. Steps of 15 until 43: two of them, to 50, which are lost with all before, as there is
  // no checkpoint. Restart 7, then 6 steps.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 50 + 7 + 60);
  CHECK(time_of(outcome, TimeUse::lost_steps) == 50);
  CHECK(outcome.failures[1] == 1);
}

TEST_CASE("silent faults spoil what is learnt from them on") {
  RunModel model = small_run(10);
  FailureKind silent;
  silent.effect = FailureKind::Effect::spoils;
  silent.found_after_ps = 60;
  model.kinds.push_back(silent);
  model.trace = {{40, 1, 0, 0}};
  // The checkpoint at 34 is sound, that at 68 is not. At 100 step 9 is under way since 98 - 10 + 0: steps 7
  // to 9 end at 98, their checkpoint at 102. It is found at 100, in the stall, and seen at 102. Back to step
  // 3: restart 7, load 2, then 7 steps and two checkpoints.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 102 + 9 + 70 + 8);
  CHECK(time_of(outcome, TimeUse::lost_steps) == 60);
  check_sum(outcome);
}

TEST_CASE("warm-up, evaluation, maintenance and a ramp take their time") {
  RunModel model = small_run(4);
  model.checkpoint.interval_steps = 0;
  model.levels = {{2, 4, 1}, {4, 10, 2}};
  model.warmup_steps = 1;
  model.warmup_slowdown = 1.5;
  model.evaluation_steps = 3;
  model.evaluation_ps = 11;
  // 6 + 4 + 10, evaluation 11, 30.
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(wall_of(outcome) == 20 + 11 + 30);
  CHECK(time_of(outcome, TimeUse::warm_up) == 2);
  CHECK(time_of(outcome, TimeUse::evaluation) == 11);
  model = small_run(4);
  model.checkpoint.interval_steps = 0;
  model.maintenance_interval_ps = 15;
  model.maintenance_ps = 100;
  // It is due at 15, begins with the end of step 2, and a restart of 7 follows. The next one is due at 142,
  // in step 4.
  CHECK(wall_of(simulate_run(model, 1, 0)) == 20 + 107 + 20);
}

TEST_CASE("a run that never ends is given up") {
  RunModel model = small_run(1000);
  model.checkpoint.interval_steps = 100;
  model.kinds[0].law = FailureLaw::fixed;
  model.kinds[0].mean_ps = 500;
  const RunOutcome outcome = simulate_run(model, 1, 0);
  CHECK(!outcome.ends);
  CHECK(outcome.steps == 0);
  CHECK(outcome.interruptions == kMostVainInterruptions + 2);
  check_sum(outcome);
}

TEST_CASE("time is conserved, and the same again") {
  for (int policy = 0; policy < 5; ++policy) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(policy);
      CAPTURE(seed);
      RunModel model = small_run(500);
      model.policy = static_cast<RecoveryPolicy>(policy);
      model.replicas = 4;
      model.parts = 4;
      model.checkpoint.first.save_ps = 13;
      model.checkpoint.first.survives = {true, seed % 2 == 0, false};
      model.checkpoint.second = CheckpointStore{30, 6, {true, true, true}};
      model.checkpoint.persist_every = 2;
      model.hot_spares = static_cast<std::int64_t>(seed % 3);
      model.cold_start_ps = 50;
      model.reconfigure_ps = 3;
      model.evaluation_steps = 17;
      model.evaluation_ps = 5;
      model.warmup_steps = 2;
      model.warmup_slowdown = 2;
      model.maintenance_interval_ps = 1000;
      model.maintenance_ps = 33;
      model.kinds[0].mean_ps = 400;
      model.kinds[0].repair_ps = 200;
      FailureKind slow;
      slow.effect = FailureKind::Effect::slows;
      slow.mean_ps = 3000;
      slow.found_after_ps = 100;
      slow.slow_num = 5;
      slow.slow_den = 4;
      FailureKind silent = slow;
      silent.effect = FailureKind::Effect::spoils;
      model.kinds.push_back(slow);
      model.kinds.push_back(silent);
      const RunOutcome outcome = simulate_run(model, seed, 3, true);
      check_sum(outcome);
      CHECK(outcome.ends);
      CHECK(time_of(outcome, TimeUse::useful) >= 4900);  // rounded down where replicas are away
      CHECK(time_of(outcome, TimeUse::useful) <= 5010);
      LongPicoseconds at = 0;
      for (const RunSpan& span : outcome.spans) {
        CHECK(span.begin == at);
        at = span.end;
      }
      CHECK(at == outcome.wall_ps);
      CHECK(simulate_run(model, seed, 3).wall_ps == outcome.wall_ps);
      // Intervals that are made at once take the same time, and so does each use of it.
      model.evaluation_steps = 0;
      model.checkpoint.second.reset();
      model.checkpoint.first.survives = {true, true, true};
      const RunOutcome one_by_one = simulate_run(model, seed, 4, true);
      const RunOutcome at_once = simulate_run(model, seed, 4);
      CHECK(at_once.time_ps == one_by_one.time_ps);
      CHECK(at_once.checkpoints == one_by_one.checkpoints);
    }
  }
}
