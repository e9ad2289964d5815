// Gossip that workers with different data, or with momentum, do not pull apart: gradient tracking (Nedic et
// al. 2017; Pu and Nedic 2021), D2 or exact diffusion (Tang et al. 2018; Yuan et al. 2019), quasi-global
// momentum (Lin et al. 2021). All keep and move vectors as long as the model, in fp32.
#include <array>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 7> kCorrectedKeys{"topology", "weights",   "shape", "probability",
                                                         "peers",    "placement", "level"};

std::vector<Departure> every_step(const DataParallelSync& /*sync*/, std::int64_t step) {
  return {{.to = Departure::To::neighbours, .round = step}};
}

/// Estimates of the mean gradient are added up as the models are.
Bytes merge_both(const DataParallelSync& sync, Departure::To to, std::int64_t received, Bytes width) {
  return 2 * plain_merge_bytes(sync, to, received, width);
}

/// Returns the bytes to merge models and to keep how far the average moved them: the model before it is read,
/// the difference is written.
Bytes merge_and_correct(const DataParallelSync& sync, Departure::To to, std::int64_t received, Bytes width) {
  return plain_merge_bytes(sync, to, received, width) + 2 * kVector;
}

/// Returns the bytes to merge models and to follow with momentum: momentum takes the step's change, so it and
/// the model before the step are read and written.
Bytes merge_and_follow(const DataParallelSync& sync, Departure::To to, std::int64_t received, Bytes width) {
  return plain_merge_bytes(sync, to, received, width) + 4 * kVector;
}

}  // namespace

/// The estimate, the gradient and that of the step before are read, the first and the last written.
constinit const SyncMethodRow kGradientTracking{.method = SyncMethod::gradient_tracking,
                                                .travels = Travels::models,
                                                .keys = kCorrectedKeys,
                                                .departures = every_step,
                                                .prepare_bytes = 5 * kVector,
                                                .merge_bytes = merge_both,
                                                .vectors = 2,
                                                .shared = 2,
                                                .state_bytes = 2 * kVector};
/// The model and its correction are read and written.
constinit const SyncMethodRow kExactDiffusion{.method = SyncMethod::d2,
                                              .travels = Travels::models,
                                              .keys = kCorrectedKeys,
                                              .departures = every_step,
                                              .prepare_bytes = 4 * kVector,
                                              .merge_bytes = merge_and_correct,
                                              .state_bytes = kVector};
/// The momentum takes the place of the optimizer's; the model before the step is kept beside it.
constinit const SyncMethodRow kQuasiGlobalMomentum{.method = SyncMethod::qg_dsgdm,
                                                   .travels = Travels::models,
                                                   .keys = kCorrectedKeys,
                                                   .departures = every_step,
                                                   .merge_bytes = merge_and_follow,
                                                   .state_bytes = kVector};

}  // namespace orrery
