// Hashes that stand for what they were made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

/// 128 bits that stand for what was appended. Among 10^7 things of a thousand values two different ones meet
/// with a probability of about 10^-18.
struct Signature {
  std::uint64_t a = 0x9e3779b97f4a7c15;
  std::uint64_t b = 0xc2b2ae3d27d4eb4f;

  bool operator==(const Signature&) const = default;

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  /// The mixing step of wyhash (W. Yi 2019).
  static std::uint64_t fold(std::uint64_t x, std::uint64_t y) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{x} * y;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  /// In order.
  void append(std::uint64_t value) {
    a = fold(a ^ value, 0xa0761d6478bd642f);
    b = fold(b + value, 0xe7037ed1a0b428db);
  }
  void append(const Signature& other) {
    append(other.a);
    append(other.b);
  }
  /// In any order, `times` times.
  void add(Signature other, std::uint64_t times = 1) {
    a += times * mix(other.a);
    b += times * mix(other.b ^ 0x2545f4914f6cdd1d);
  }
};

struct SignatureHash {
  std::size_t operator()(const Signature& signature) const { return signature.a; }
};

/// Numbers signatures in the order in which they are first met. Open addressing; neighbours are often
/// alike, so the latest one is looked at first.
class SignatureTable {
 public:
  std::uint32_t number(const Signature& signature) {
    if (count_ > 0 && signature == latest_) return latest_number_;
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = find(signature);
    if (slot.number == kEmpty) slot = {signature, count_++};
    latest_ = signature;
    return latest_number_ = slot.number;
  }
  [[nodiscard]] std::uint32_t size() const { return count_; }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffff;
  struct Slot {
    Signature signature;
    std::uint32_t number = kEmpty;
  };

  Slot& find(const Signature& signature) {
    std::size_t at = (signature.a ^ (signature.b >> 1)) & (slots_.size() - 1);
    while (slots_[at].number != kEmpty && slots_[at].signature != signature)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kEmpty) find(slot.signature) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
  Signature latest_;
  std::uint32_t latest_number_ = 0;
};

}  // namespace orrery
