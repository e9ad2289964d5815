// Lists the rows behind `sync_method()`; each lies in the file of its family.
#pragma once

#include <array>

#include "workloads/sync/sync_method.hpp"

namespace orrery {

extern const SyncMethodRow kNoSync;
extern const SyncMethodRow kAllReduce;
extern const SyncMethodRow kParameterServer;
extern const SyncMethodRow kGossip;
extern const SyncMethodRow kPushSum;
extern const SyncMethodRow kLocalSgd;
extern const SyncMethodRow kGossipPga;
extern const SyncMethodRow kGossipAga;
extern const SyncMethodRow kDiLoCo;
extern const SyncMethodRow kGradientTracking;
extern const SyncMethodRow kExactDiffusion;
extern const SyncMethodRow kQuasiGlobalMomentum;
extern const SyncMethodRow kSlowMomentum;
extern const SyncMethodRow kNoLoCo;
extern const SyncMethodRow kSparseLoCo;
extern const SyncMethodRow kDecoupledMomentum;
extern const SyncMethodRow kAdPsgd;
extern const SyncMethodRow kEasgd;
extern const SyncMethodRow kAsyncDiLoCo;

/// Rows in the order of SyncMethod.
inline constexpr std::array kSyncMethodRows{&kNoSync,          &kAllReduce,
                                            &kParameterServer, &kGossip,
                                            &kPushSum,         &kLocalSgd,
                                            &kGossipPga,       &kGossipAga,
                                            &kDiLoCo,          &kGradientTracking,
                                            &kExactDiffusion,  &kQuasiGlobalMomentum,
                                            &kSlowMomentum,    &kNoLoCo,
                                            &kSparseLoCo,      &kDecoupledMomentum,
                                            &kAdPsgd,          &kEasgd,
                                            &kAsyncDiLoCo};

}  // namespace orrery
