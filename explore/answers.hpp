// Answers to the questions of the page, as JSON. Nothing here knows of HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "explore/question.hpp"
#include "orrery/simulate.hpp"

namespace orrery::explore {

/// Lists what all experiments have in common: {"version", "models", "clusters", "gpus", "knobs": as
/// knobs_json(), "frameworks"}.
[[nodiscard]] std::string catalog_answer(const std::string& version);

/// Figures of the experiment: {"experiment": YAML with the changes in it, "given" and "resolved": its keys as
/// given and all of them, "result": as orrery simulate --json, "serves", "warnings", "difference": to the
/// pinned run, term by term, or null}. What is wrong in it instead:
/// {"errors": [{"line", "column", "pointer", "message"}]}.
[[nodiscard]] std::string figures_answer(const Question& question, Simulator& simulator);

/// Tries every value of Question::key, or of a number its neighbours: {"key", "values": [{"value",
/// "feasible", "reason", "time_s": of the step or of an output token, "tokens_per_s_per_gpu"}]}, figures null
/// where there are none.
[[nodiscard]] std::string variants_answer(const Question& question, Simulator& simulator);

/// Tells how far a search is.
using BestProgress = std::function<void(std::size_t done, std::size_t total)>;

/// The best plans of the usual space around the experiment, within kSearchSeconds: {"optimal", "points",
/// "simulated", "plans": [{"changes": [KEY=VALUE], "result"}], "removed"}.
[[nodiscard]] std::string best_answer(const Question& question, unsigned threads,
                                      const BestProgress& progress);
inline constexpr double kSearchSeconds = 20;

/// A timeline of the step: {"svg"}.
[[nodiscard]] std::string picture_answer(const Question& question);

/// The file that Question::form names: {"name", "type", "text"}. Forms are experiment, json, csv, svg, page,
/// trace and the frameworks of --emit. @throws InputError for another
[[nodiscard]] std::string taken_answer(const Question& question);

/// Returns {"errors": ...} as figures_answer() does.
[[nodiscard]] std::string errors_answer(const InputError& error);

}  // namespace orrery::explore
