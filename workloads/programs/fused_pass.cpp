#include "workloads/programs/fused_pass.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "orrery/rank_grid.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

/// All steps in a row, `after` counted in all of them.
PassWork joined(const StepLists& lists) {
  std::size_t count = 0;
  for (const Steps* steps : lists) count += steps->list.size();
  PassWork all;
  all.reserve(count);
  std::int32_t input = kBlockInput;
  for (const Steps* steps : lists) {
    const auto first = static_cast<std::int32_t>(all.size());
    for (const Step& step : steps->list) {
      const std::int32_t after = step.after == kBlockInput ? input : first + step.after;
      all.push_back({step.kind == Op::Kind::communicate, step.work, after});
    }
    if (steps->output != kBlockInput) input = first + steps->output;
  }
  return all;
}

/// Counts a dependency from step `first`; earlier steps count as the input of the block.
std::int32_t counted_from(std::size_t first, std::int32_t after) {
  return std::max(after - static_cast<std::int32_t>(first), kBlockInput);
}

/// The steps [first, last) of all that are joined.
std::vector<Step> cut(const StepLists& lists, const PassWork& all, std::size_t first, std::size_t last) {
  std::vector<Step> part;
  part.reserve(last - first);
  std::size_t at = 0;
  for (const Steps* steps : lists) {
    const std::size_t begin = at;
    if (begin >= last) break;
    at += steps->list.size();
    for (std::size_t i = std::max(begin, first); i < std::min(at, last); ++i) {
      part.push_back(steps->list[i - begin]);
      part.back().after = counted_from(first, all[i].after);
    }
  }
  return part;
}

/// The steps [first, last) of all.
PassWork body_of(PassWork all, std::size_t first, std::size_t last) {
  all.resize(last);
  if (first == 0) return all;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  for (PassStep& step : all) step.after = counted_from(first, step.after);
  return all;
}

/// Returns the begin and end of the body of a pass. With several tensor ranks the body starts at the first
/// step after the first collective that follows compute and on which all later steps depend, and ends before
/// the last collectives.
std::pair<std::size_t, std::size_t> find_body(const PassWork& all, std::int64_t tensor_ranks) {
  if (tensor_ranks == 1) return {0, all.size()};
  const auto compute = std::ranges::find(all, false, &PassStep::communicates);
  const auto met = std::find_if(compute, all.end(), std::mem_fn(&PassStep::communicates)) - all.begin();
  auto first = static_cast<std::size_t>(met);
  for (std::size_t i = first + 1; i < all.size(); ++i) {
    if (all[i].after < static_cast<std::int32_t>(first)) first = i;
  }
  std::size_t last = all.size();
  while (last > first && !all[last - 1].communicates) --last;
  while (last > first && all[last - 1].communicates) --last;
  return {first, last};
}

}  // namespace

FusedPass add_fused_pass(const StepLists& lists, std::int64_t tensor_ranks, Workload& workload) {
  PassWork all = joined(lists);
  const auto [first, last] = find_body(all, tensor_ranks);
  FusedPass pass;
  pass.head = cut(lists, all, 0, first == last ? all.size() : first);
  if (first == last) return pass;
  pass.tail = cut(lists, all, last, all.size());
  pass.body = add_pass(workload, body_of(std::move(all), first, last));
  return pass;
}

StepLists steps_of(PassKind kind, const Chunk& chunk, const ModelBlocks& blocks) {
  StepLists all;
  all.reserve(2 * chunk.blocks.size());
  if (kind == PassKind::forward) {
    for (const PlacedBlock& block : chunk.blocks) all.push_back(&blocks.kinds[block.kind].of(kind));
    return all;
  }
  for (std::size_t b = chunk.blocks.size(); b-- > 0;) {
    const Block& block = blocks.kinds[chunk.blocks[b].kind];
    if (block.recomputes(kind)) all.push_back(&block.recompute);
    all.push_back(&block.of(kind));
  }
  return all;
}

}  // namespace orrery
