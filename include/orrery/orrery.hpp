// Includes all of the face: read an experiment, simulate it, look at the run, write it in any format.
//
//   const orrery::Experiment experiment = orrery::read_experiment("experiment.json");
//   const orrery::Report report = orrery::simulate(experiment);
//   orrery::write_file("result.json", [&](const orrery::Sink& sink) { orrery::write_json(report, sink); });
//
// For programs outside this project and for bindings; files of the project include the headers they need.
#pragma once

#include "orrery/error.hpp"            // IWYU pragma: export
#include "orrery/experiment.hpp"       // IWYU pragma: export
#include "orrery/explorer_memory.hpp"  // IWYU pragma: export
#include "orrery/names.hpp"            // IWYU pragma: export
#include "orrery/rank_grid.hpp"        // IWYU pragma: export
#include "orrery/read.hpp"             // IWYU pragma: export
#include "orrery/recorded_run.hpp"     // IWYU pragma: export
#include "orrery/report.hpp"           // IWYU pragma: export
#include "orrery/simulate.hpp"         // IWYU pragma: export
#include "orrery/write.hpp"            // IWYU pragma: export
