#include "workloads/communicators.hpp"

#include <vector>

#include "orrery/rank_layout.hpp"

namespace orrery {
namespace {

class Communicators {
 public:
  Communicators(const Plan& plan, Workload& workload) : plan_(plan), layout_(plan), workload_(workload) {
    const auto ranks = static_cast<std::size_t>(plan.gpus());
    workload_.program_of_rank.resize(ranks);
    workload_.replicas = static_cast<std::uint32_t>(plan.data_parallel);
    workload_.replica_stride = layout_.rank({0, 0, 1});
    workload_.group_of.assign(ranks * kSlotCount, kNoGroup);
    workload_.group_begin.assign(1, 0);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      workload_.program_of_rank[rank] = static_cast<std::uint32_t>(layout_.coordinates(rank).pipeline);
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

  void join(std::uint32_t rank, Slot slot) {
    workload_.group_of[rank * kSlotCount + static_cast<std::size_t>(slot)] = workload_.groups() - 1;
  }

  void close() {
    workload_.group_begin.push_back(static_cast<std::uint32_t>(workload_.group_members.size()));
  }

  void add(Slot slot) {
    workload_.group_members.insert(workload_.group_members.end(), members_.begin(), members_.end());
    close();
    for (const std::uint32_t member : members_) join(member, slot);
  }

  void add_pair(std::uint32_t sender, std::uint32_t receiver, Slot out, Slot in) {
    workload_.group_members.push_back(sender);
    workload_.group_members.push_back(receiver);
    close();
    join(sender, out);
    join(receiver, in);
  }

  const Plan& plan_;
  RankLayout layout_;
  Workload& workload_;
  std::vector<std::uint32_t> members_;
};

}  // namespace

void add_communicators(const Plan& plan, bool tied, Workload& workload) {
  Communicators communicators(plan, workload);
  if (plan.tensor_parallel > 1 || !workload.passes.empty()) communicators.add_tensor();
  if (plan.data_parallel > 1) communicators.add_data();
  if (plan.pipeline_parallel > 1) communicators.add_neighbours();
  if (plan.pipeline_parallel > 1 && tied) communicators.add_embedding();
}

}  // namespace orrery
