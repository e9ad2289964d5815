// An experiment that serves requests, from end to end: sim/serving/ decides what is in an iteration,
// iteration_cost() what that takes.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"
#include "sim/run/memo.hpp"

namespace orrery {

/// @param experiment  with `inference`; its plan leaves nothing open
/// @param record  of what happens when; null: nothing is kept of it
/// @throws InputError where its model or plan cannot serve
[[nodiscard]] Report report_on_serving(const Experiment& experiment, const Figures& figures, Memo& memo,
                                       ServingRecord* record = nullptr);

/// All figures, of a plan that may leave things open, and what happens when.
/// @throws as report_on_serving()
[[nodiscard]] Report record_serving(const Experiment& experiment, ServingRecord& record);

/// The same without serving anything: memory and feasibility alone.
[[nodiscard]] Report report_on_serving_memory(const Experiment& experiment, const Figures& figures,
                                              Memo& memo);

}  // namespace orrery
