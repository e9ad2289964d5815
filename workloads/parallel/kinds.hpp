// The rows behind `communicator_kinds()`; each lies in the file of its dimension.
#pragma once

#include "workloads/parallel/communicators.hpp"

namespace orrery {

extern const CommunicatorKind kTensorGroups;
extern const CommunicatorKind kReplicaGroups;
extern const CommunicatorKind kNeighbourStages;
extern const CommunicatorKind kTiedEmbeddings;
extern const CommunicatorKind kWorkerGroups;
extern const CommunicatorKind kShardGroups;
extern const CommunicatorKind kGossipPairs;

}  // namespace orrery
