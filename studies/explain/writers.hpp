// Writes explanations: text for a terminal, JSON, a page, a trace of both runs.
#pragma once

#include "orrery/write.hpp"
#include "studies/explain/explanation.hpp"

namespace orrery {

void write_explanation_text(const Explanation& explanation, std::size_t width, bool colour, const Sink& sink);
void write_explanation_json(const Explanation& explanation, const Sink& sink);

}  // namespace orrery
