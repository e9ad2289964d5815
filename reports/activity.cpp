#include "reports/activity.hpp"

namespace orrery {

Activity activity_of(const Workload& workload, const Op& op) {
  if (op.kind == Op::Kind::communicate) return activity_of(workload.messages[op.work].dimension);
  if (op.stream == Stream::host) return Activity::host;
  if (is_offload(op.stream)) return Activity::offload;
  switch (op.phase) {
    case Phase::forward:
      return Activity::forward;
    case Phase::recompute:
      return Activity::recompute;
    case Phase::backward:
      return Activity::backward;
    case Phase::weight_gradient:
      return Activity::weight_gradient;
    case Phase::synchronize:
    case Phase::optimize:
      break;
  }
  return Activity::optimizer;
}

}  // namespace orrery
