// Writes explanations: text for a terminal, JSON, a page, a trace of both runs.
#pragma once

#include "orrery/write.hpp"
#include "studies/explain/explain.hpp"

namespace orrery {

void write_explanation_text(const Explanation& explanation, std::size_t width, bool colour, const Sink& sink);
void write_explanation_json(const Explanation& explanation, const Sink& sink);
void write_explanation_page(const Explanation& explanation, const ExplainedTimelines& timelines,
                            const Sink& sink);
/// Writes Chrome's events of the last measured step and of the simulated one, from a common beginning.
void write_both_traces(const std::vector<Profile>& measured, const ExplainedTimelines& timelines,
                       const Sink& sink);

}  // namespace orrery
