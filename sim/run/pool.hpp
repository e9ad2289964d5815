// Things that threads keep for each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/cost/signature.hpp"

namespace orrery {

/// Things that are free, by signature. Who takes one has it alone until giving it back; where all of a
/// signature are taken, another has to be made. Of all that are free, those are kept that were given last.
/// @tparam Thing  with weight(), about what it takes of `most_weight`
template <class Thing>
class Pool {
 public:
  Pool(std::size_t most_weight, std::size_t most_things)
      : most_weight_(most_weight), most_things_(most_things) {}

  /// Nothing if none is free.
  [[nodiscard]] std::unique_ptr<Thing> take(const Signature& key) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.find(key);
    if (found == free_.end()) return nullptr;
    std::unique_ptr<Thing> thing = std::move(found->second.thing);
    weight_ -= found->second.weight;
    free_.erase(found);
    return thing;
  }

  void give(const Signature& key, std::unique_ptr<Thing> thing) {
    std::vector<Free> forgotten;  // outlives the lock, as much may have to be freed
    const std::lock_guard lock(mutex_);
    const std::size_t weight = thing->weight();
    free_.emplace(key, Free{std::move(thing), weight, ++given_});
    weight_ += weight;
    if (weight_ > most_weight_ || free_.size() > most_things_) forget_half(forgotten);
  }

 private:
  struct Free {
    std::unique_ptr<Thing> thing;
    std::size_t weight = 0;
    std::uint64_t given = 0;  ///< when: counted
  };

  /// Those given back before the others.
  void forget_half(std::vector<Free>& forgotten) {
    std::vector<std::uint64_t> given;
    for (const auto& [key, free] : free_) given.push_back(free.given);
    const auto middle = given.begin() + static_cast<std::ptrdiff_t>((given.size() - 1) / 2);
    std::ranges::nth_element(given, middle);
    const std::uint64_t latest = *middle;
    for (auto at = free_.begin(); at != free_.end();) {
      Free& free = at->second;
      if (free.given > latest) {
        ++at;
        continue;
      }
      weight_ -= free.weight;
      forgotten.push_back(std::move(free));
      at = free_.erase(at);
    }
  }

  std::mutex mutex_;
  std::unordered_multimap<Signature, Free, SignatureHash> free_;
  std::size_t most_weight_;
  std::size_t most_things_;
  std::size_t weight_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace orrery
