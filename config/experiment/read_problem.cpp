// Reads `problem`: the objective that converge learns, and the workers that come and go meanwhile.
#include <fmt/format.h>

#include <algorithm>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

void read_change(const Json& value, LearningProblem& problem, const Path& path, Scope& scope) {
  WorkerChange change;
  read_fields(value, worker_change_fields(), change, path, scope);
  if (!value.is_object()) return;
  require(value, worker_change_fields(), "iteration", "a change", path, scope);
  if (value.contains("leaves") == value.contains("joins"))
    scope.findings.add(path, "found neither or both of leaves and joins, allowed one of them");
  problem.changes.push_back(change);
}

}  // namespace

void read_problem(const Json& value, LearningProblem& problem, const Path& path, Scope& scope) {
  read_fields(value, problem_fields(), problem, path, scope);
  if (!value.is_object()) return;
  const auto changes = value.find("changes");
  if (changes == value.end()) return;
  const Path list(path, "changes");
  if (!changes->is_array()) {
    scope.findings.add(list, fmt::format("found {}, allowed {}", described(*changes),
                                         field_named(problem_fields(), "changes").help));
    return;
  }
  for (std::size_t i = 0; i < changes->size(); ++i) read_change((*changes)[i], problem, Path(list, i), scope);
  std::ranges::stable_sort(problem.changes, {}, &WorkerChange::iteration);
}

}  // namespace orrery
