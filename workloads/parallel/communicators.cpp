#include "workloads/parallel/communicators.hpp"

#include <vector>

#include "orrery/rank_layout.hpp"

namespace orrery {
namespace {

class Communicators {
 public:
  Communicators(const Plan& plan, const SyncLayout& sync, Workload& workload)
      : plan_(plan), sync_(sync), layout_(plan), workload_(workload) {
    workload_.slots = sync.slots();
    workload_.streams = sync.streams();
    const auto ranks = static_cast<std::size_t>(plan.gpus());
    workload_.program_of_rank.resize(ranks);
    workload_.replicas = static_cast<std::uint32_t>(plan.data_parallel);
    workload_.replica_stride = layout_.rank({0, 0, 1});
    workload_.group_of.assign(ranks * workload_.slots, kNoGroup);
    workload_.group_members.reserve(workload_.group_of.size());
    workload_.group_begin.assign(1, 0);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      workload_.program_of_rank.edit()[rank] = static_cast<std::uint32_t>(layout_.coordinates(rank).pipeline);
    }
  }

  void add_tensor() {
    for (std::int64_t p = 0; p < plan_.pipeline_parallel; ++p) {
      for (std::int64_t d = 0; d < plan_.data_parallel; ++d) {
        members_.clear();
        for (std::int64_t t = 0; t < plan_.tensor_parallel; ++t) members_.push_back(layout_.rank({t, p, d}));
        add(Slot::tensor);
      }
    }
  }

  void add_data() {
    for (std::int64_t p = 0; p < plan_.pipeline_parallel; ++p) {
      for (std::int64_t t = 0; t < plan_.tensor_parallel; ++t) {
        members_.clear();
        for (std::int64_t d = 0; d < plan_.data_parallel; ++d) members_.push_back(layout_.rank({t, p, d}));
        add(Slot::data);
      }
    }
  }

  void add_embedding() {
    for_each_column([&](std::int64_t t, std::int64_t d) {
      members_ = {layout_.rank({t, 0, d}), layout_.rank({t, plan_.pipeline_parallel - 1, d})};
      add(Slot::embedding);
    });
  }

  /// Replicas of each worker, and one of each worker together; the others alone.
  void add_workers() {
    const std::int64_t size = sync_.workers().replicas_per_worker;
    for_each_place([&](std::int64_t t, std::int64_t p) {
      for (std::int64_t first = 0; first < plan_.data_parallel; first += size) {
        members_.clear();
        for (std::int64_t d = first; d < first + size; ++d) members_.push_back(layout_.rank({t, p, d}));
        add(sync_.node_slot());
      }
      members_.clear();
      for (std::int64_t d = 0; d < plan_.data_parallel; d += size)
        members_.push_back(layout_.rank({t, p, d}));
      add(sync_.workers_slot());
    });
    add_loners(sync_.workers_slot());
  }

  /// Replicas that share a copy of what ZeRO shards, and those that hold the same shard of theirs.
  void add_sharding() {
    const std::int64_t size = plan_.sharding_replicas();
    const auto add_every = [this](std::int64_t t, std::int64_t p, std::int64_t first, std::int64_t last,
                                  std::int64_t stride, std::uint16_t slot) {
      members_.clear();
      for (std::int64_t d = first; d < last; d += stride) members_.push_back(layout_.rank({t, p, d}));
      add(slot);
    };
    for_each_place([&](std::int64_t t, std::int64_t p) {
      for (std::int64_t first = 0; first < plan_.data_parallel; first += size)
        add_every(t, p, first, first + size, 1, sync_.sharding_slot());
      for (std::int64_t shard = 0; shard < size; ++shard)
        add_every(t, p, shard, plan_.data_parallel, size, sync_.copies_slot());
    });
  }

  /// Pairs of neighbours, colour by colour.
  void add_neighbouring_workers() {
    const std::int64_t size = sync_.workers().replicas_per_worker;
    for (const SyncLayout::Round& round : sync_.rounds()) {
      for (std::size_t c = 0; c < round.colours.size(); ++c) {
        for_each_place([&](std::int64_t t, std::int64_t p) {
          for (const SyncLayout::Edge edge : round.colours[c]) {
            add_pair(layout_.rank({t, p, edge.from * size}), layout_.rank({t, p, edge.to * size}),
                     SyncLayout::out_slot(round, c), SyncLayout::in_slot(round, c));
          }
        });
        add_loners(SyncLayout::out_slot(round, c));
        add_loners(SyncLayout::in_slot(round, c));
      }
    }
  }

  /// Pairs along the pipeline; around its end as well when ranks hold several chunks.
  void add_neighbours() {
    const std::int64_t p = plan_.pipeline_parallel;
    const std::int64_t last = plan_.virtual_stages > 1 ? p : p - 1;
    for (std::int64_t s = 0; s < last; ++s) {
      for_each_column([&](std::int64_t t, std::int64_t d) {
        const std::uint32_t here = layout_.rank({t, s, d});
        const std::uint32_t next = layout_.rank({t, (s + 1) % p, d});
        add_pair(here, next, Slot::forward_out, Slot::forward_in);
        add_pair(next, here, Slot::backward_out, Slot::backward_in);
      });
    }
  }

 private:
  template <class Visit>
  void for_each_column(Visit visit) const {
    for (std::int64_t d = 0; d < plan_.data_parallel; ++d) {
      for (std::int64_t t = 0; t < plan_.tensor_parallel; ++t) visit(t, d);
    }
  }

  template <class Visit>
  void for_each_place(Visit visit) const {
    for (std::int64_t p = 0; p < plan_.pipeline_parallel; ++p) {
      for (std::int64_t t = 0; t < plan_.tensor_parallel; ++t) visit(t, p);
    }
  }

  /// Ranks without a group in `slot` form one each.
  void add_loners(std::uint32_t slot) {
    for (std::uint32_t rank = 0; rank < workload_.ranks(); ++rank) {
      if (workload_.group(rank, slot) != kNoGroup) continue;
      members_ = {rank};
      add(slot);
    }
  }

  /// `rank` is one more member of the group that is being formed.
  void join(std::uint32_t rank, std::uint32_t slot) {
    workload_.group_members.push_back(rank);
    workload_.group_of.edit()[std::size_t{rank} * workload_.slots + slot] = formed_;
  }

  void close() {
    workload_.group_begin.push_back(static_cast<std::uint32_t>(workload_.group_members.size()));
    ++formed_;
  }

  void add(Slot slot) { add(static_cast<std::uint32_t>(slot)); }
  void add(std::uint32_t slot) {
    for (const std::uint32_t member : members_) join(member, slot);
    close();
  }

  void add_pair(std::uint32_t sender, std::uint32_t receiver, Slot out, Slot in) {
    add_pair(sender, receiver, static_cast<std::uint32_t>(out), static_cast<std::uint32_t>(in));
  }
  void add_pair(std::uint32_t sender, std::uint32_t receiver, std::uint32_t out, std::uint32_t in) {
    join(sender, out);
    join(receiver, in);
    close();
  }

  const Plan& plan_;
  const SyncLayout& sync_;
  RankLayout layout_;
  Workload& workload_;
  std::vector<std::uint32_t> members_;
  std::uint32_t formed_ = 0;  ///< groups
};

}  // namespace

void add_communicators(const Plan& plan, const SyncLayout& layout, Workload& workload) {
  Communicators communicators(plan, layout, workload);
  if (plan.tensor_parallel > 1 || !workload.passes.empty()) communicators.add_tensor();
  if (plan.data_parallel > 1) communicators.add_data();
  if (plan.pipeline_parallel > 1) communicators.add_neighbours();
  if (plan.pipeline_parallel > 1 && workload.tied) communicators.add_embedding();
  if (layout.by_node()) communicators.add_workers();
  if (plan.shards_in_groups()) communicators.add_sharding();
  communicators.add_neighbouring_workers();
}

}  // namespace orrery
