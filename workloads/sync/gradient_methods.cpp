// Methods that average gradients in every step, so that replicas stay alike, and the one that averages
// nothing.
#include <array>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 1> kAllReduceKeys{"compression"};
constexpr std::array<std::string_view, 2> kDecoupledKeys{"level", "compression"};
constexpr std::array<std::string_view, 3> kServerKeys{"level", "compression", "servers"};

}  // namespace

/// DeMo (Peng et al. 2024) keeps the unsent part of a momentum in it, like a compressor's error feedback.
constinit const SyncMethodRow kDecoupledMomentum{.method = SyncMethod::demo,
                                                 .travels = Travels::gradients,
                                                 .keys = kDecoupledKeys,
                                                 .check = check_feedback};
constinit const SyncMethodRow kNoSync{.method = SyncMethod::none};
constinit const SyncMethodRow kAllReduce{
    .method = SyncMethod::all_reduce, .travels = Travels::gradients, .keys = kAllReduceKeys};
constinit const SyncMethodRow kParameterServer{.method = SyncMethod::parameter_server,
                                               .travels = Travels::gradients,
                                               .keys = kServerKeys,
                                               .by_servers = true};

}  // namespace orrery
