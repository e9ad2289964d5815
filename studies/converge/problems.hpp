// Declares the makers behind make_objective(). Inside studies/converge/.
#pragma once

#include "studies/converge/objective.hpp"

namespace orrery {

std::unique_ptr<LearningObjective> make_logistic(const LearningProblem& problem, std::int64_t workers,
                                                 std::int64_t seed);
std::unique_ptr<LearningObjective> make_network(const LearningProblem& problem, std::int64_t workers,
                                                std::int64_t seed);

}  // namespace orrery
