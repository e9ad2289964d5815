// Implements methods whose workers are asynchronous: asynchronous decentralised SGD (Lian, Zhang, Zhang, Liu
// 2018), elastic averaging (Zhang, Choromanska, LeCun 2015) and asynchronous local SGD for language models
// (Liu et al. 2024). Events of simulated time decide which workers exchange models (sim/asynchronous/).
#include <array>
#include <string>

#include "workloads/sync/sync_method_rows.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 6> kPairKeys{"topology", "shape",     "probability",
                                                    "peers",    "placement", "overlap"};
constexpr std::array<std::string_view, 2> kCentreKeys{"period", "servers"};

/// The centre's copy of the model, in fp32.
constexpr Bytes kCentre = 4;
/// Bytes per value of an outer optimizer with Nesterov momentum in fp32: it reads the change, momentum and
/// model, and writes momentum and model.
constexpr Bytes kOuterUpdate = 20;
/// The model that a worker began its period with, and the centre's with its momentum.
constexpr Bytes kCentralOuterStates = 4 + kCentre + 4;
/// The model now and at the beginning of the period are read, their difference is written.
constexpr Bytes kChange = 12;

std::int64_t own_period(const DataParallelSync& sync, std::int64_t /*rounds*/) { return sync.period; }

/// Returns the bytes to adopt a received model: it is read once and written twice, as the model and as the
/// one that the period begins with.
Bytes replace_bytes(const DataParallelSync& /*sync*/, Departure::To /*to*/, std::int64_t /*received*/,
                    Bytes width) {
  return 3 * width;
}

void check_worker(const DataParallelSync& sync, const SyncComplain& complain) {
  if (sync.level != SyncLevel::gpu)
    complain("level", "found \"" + std::string(kSyncLevelNames[static_cast<std::size_t>(sync.level)]) +
                          "\", allowed gpu: replicas that keep no step cannot be one worker");
  if (sync.compression.method != Compression::Method::none)
    complain("compression",
             "found \"" +
                 std::string(Compression::kNames[static_cast<std::size_t>(sync.compression.method)]) +
                 "\", allowed none: whole models meet");
}

void check_pairs(const DataParallelSync& sync, const SyncComplain& complain) {
  check_worker(sync, complain);
  if (sync.overlap != SyncOverlap::none && sync.overlap != SyncOverlap::combine_while_computing)
    complain("overlap", "found \"" + std::string(kSyncOverlapNames[static_cast<std::size_t>(sync.overlap)]) +
                            "\", allowed none or combine-while-computing");
}

}  // namespace

constinit const SyncMethodRow kAdPsgd{.method = SyncMethod::ad_psgd,
                                      .travels = Travels::models,
                                      .meets = Meets::in_pairs,
                                      .keys = kPairKeys,
                                      .merge_bytes = plain_merge_bytes,
                                      .check = check_pairs};
constinit const SyncMethodRow kEasgd{.method = SyncMethod::easgd,
                                     .travels = Travels::models,
                                     .meets = Meets::at_centre,
                                     .keys = kCentreKeys,
                                     .cycle = own_period,
                                     .merge_bytes = plain_merge_bytes,
                                     .centre_bytes = 12,  // centre and model are read, the centre written
                                     .state_bytes = kCentre,
                                     .check = check_worker};
constinit const SyncMethodRow kAsyncDiLoCo{.method = SyncMethod::async_diloco,
                                           .travels = Travels::models,
                                           .meets = Meets::at_centre,
                                           .keys = kCentreKeys,
                                           .cycle = own_period,
                                           .prepare_bytes = kChange,
                                           .merge_bytes = replace_bytes,
                                           .centre_bytes = kOuterUpdate,
                                           .state_bytes = kCentralOuterStates,
                                           .check = check_worker};

}  // namespace orrery
