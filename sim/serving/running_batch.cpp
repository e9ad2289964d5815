#include "sim/serving/running_batch.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "orrery/content_hash.hpp"

namespace orrery {

RunningBatch::RunningBatch(const Inference& inference, std::uint64_t seed)
    : page_tokens_(inference.page_tokens),
      drafts_(inference.speculation.tokens),
      keeps_rows_(inference.batching == Batching::fixed),
      seed_(seed),
      full_at_(static_cast<std::size_t>(inference.page_tokens)) {
  double all = 1;
  for (std::int64_t draft = 0; draft < drafts_; ++draft)
    taken_.push_back(all *= inference.speculation.acceptance);
}

void RunningBatch::add(std::uint32_t request, std::int64_t cached, std::int64_t left) {
  catch_up();
  least_left_ = members_.empty() ? left : std::min(least_left_, left);
  members_.push_back({request, cached, left, cached});
  cached_ += cached;
  if (drafts_ == 0) ++full_with(members_.back());
}

/// The count in full_at_ of the passes before which the member has cached whole pages. Each pass moves on by
/// one, and so does the member.
std::int64_t& RunningBatch::full_with(const RunningSequence& member) {
  const std::int64_t offset = (passes_ - member.cached) % page_tokens_;
  return full_at_[static_cast<std::size_t>(offset < 0 ? offset + page_tokens_ : offset)];
}

std::int64_t RunningBatch::next_room(const RunningSequence& member) const {
  return std::max(member.room, member.cached + std::min(member.left, tokens_per_row()));
}

std::int64_t RunningBatch::new_pages() const {
  if (drafts_ == 0) return full_at_[static_cast<std::size_t>(passes_ % page_tokens_)];
  std::int64_t pages = 0;
  for (const RunningSequence& member : members_) pages += pages_of(next_room(member)) - pages_of(member.room);
  return pages;
}

/// Tokens of a pass: those proposed up to the first that is not taken, and the model's own one after them.
std::int64_t RunningBatch::made(const RunningSequence& member) const {
  const std::uint64_t key = (std::uint64_t{member.request} << 32) ^ static_cast<std::uint64_t>(member.left);
  const std::uint64_t bits = ContentHash::mix(ContentHash::scramble(seed_ ^ key), 0xe7037ed1a0b428db);
  const double draw = static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);  // 2^-53
  std::int64_t tokens = 1;
  for (const double probability : taken_) tokens += draw < probability ? 1 : 0;
  return std::min(tokens, member.left);
}

void RunningBatch::step_drafted() {
  least_left_ = std::numeric_limits<std::int64_t>::max();
  for (RunningSequence& member : members_) {
    const std::int64_t tokens = made(member);
    member.room = next_room(member);
    member.cached += tokens;
    member.left -= tokens;
    cached_ += tokens;
    least_left_ = std::min(least_left_, member.left);
  }
}

void RunningBatch::step(std::vector<RunningSequence>& ended) {
  if (members_.empty()) return;
  if (drafts_ > 0) {
    step_drafted();
  } else {
    ++passes_;
    ++behind_;
    cached_ += live();
  }
  if (least_left_ == behind_) collect(ended);
}

void RunningBatch::catch_up() {
  if (behind_ == 0) return;
  for (RunningSequence& member : members_) {
    member.cached += behind_;
    member.left -= behind_;
    member.room = member.cached;
  }
  least_left_ -= behind_;
  behind_ = 0;
}

/// Takes out the members that have nothing left to make.
void RunningBatch::collect(std::vector<RunningSequence>& ended) {
  catch_up();
  least_left_ = std::numeric_limits<std::int64_t>::max();
  std::size_t kept = 0;
  for (const RunningSequence& member : members_) {
    if (member.left > 0) {
      least_left_ = std::min(least_left_, member.left);
      members_[kept++] = member;
      continue;
    }
    leave(member);
    ended.push_back(member);
    if (!keeps_rows_) continue;
    ++ended_rows_;
    ended_cached_ += member.cached;
    cached_ += member.cached;
  }
  members_.resize(kept);
}

void RunningBatch::leave(const RunningSequence& member) {
  cached_ -= member.cached;
  if (drafts_ == 0) --full_with(member);
}

RunningSequence RunningBatch::remove_youngest() {
  catch_up();
  const RunningSequence youngest = members_.back();
  leave(youngest);
  members_.pop_back();
  least_left_ = std::numeric_limits<std::int64_t>::max();
  for (const RunningSequence& member : members_) least_left_ = std::min(least_left_, member.left);
  return youngest;
}

void RunningBatch::clear_ended() {
  cached_ -= std::exchange(ended_cached_, 0);
  ended_rows_ = 0;
}

}  // namespace orrery
