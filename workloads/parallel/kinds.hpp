// Lists the rows behind `communicator_kinds()`; each lies in the file of its dimension.
#pragma once

#include "workloads/communicators/communicators.hpp"

namespace orrery {

extern const CommunicatorKind kTensorGroups;
extern const CommunicatorKind kReplicaGroups;
extern const CommunicatorKind kNeighbourStages;
extern const CommunicatorKind kReverseNeighbourStages;
extern const CommunicatorKind kTiedEmbeddings;
extern const CommunicatorKind kWorkerGroups;
extern const CommunicatorKind kShardGroups;
extern const CommunicatorKind kContextGroups;
extern const CommunicatorKind kExpertGroups;
extern const CommunicatorKind kExpertReplicas;
extern const CommunicatorKind kGossipPairs;

/// Lists all kinds. Kinds that join only some replicas with others come last.
inline constexpr std::array kCommunicatorKinds{
    &kTensorGroups,   &kReplicaGroups, &kNeighbourStages, &kReverseNeighbourStages,
    &kTiedEmbeddings, &kContextGroups, &kWorkerGroups,    &kExpertGroups,
    &kExpertReplicas, &kShardGroups,   &kGossipPairs};

}  // namespace orrery
