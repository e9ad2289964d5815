// Computes the bytes on the wire of values that are stored in one width and sent in another.
#pragma once

#include <optional>

#include "orrery/experiment.hpp"
#include "orrery/workload.hpp"

namespace orrery {

class WireWidth {
 public:
  /// `sent`: nothing where they travel as they are kept. `computed`: of products, whose operands are cast for
  /// them anyway where both have fewer than 16 bits.
  WireWidth(std::optional<Precision> sent, Bytes kept, Precision computed)
      : kept_(kept),
        of_32_(sent ? bytes_of_32(*sent) : 32 * kept),
        casts_(of_32_ != 32 * kept && !(is_narrow(computed) && is_narrow(*sent))) {}

  /// Returns the bytes that `values` values take on the wire.
  [[nodiscard]] Bytes of(std::int64_t values) const { return (values * of_32_ + 31) / 32; }
  /// Returns the bytes on the wire of values that take `bytes` as they are stored.
  [[nodiscard]] Bytes of_kept(Bytes bytes) const { return of((bytes + kept_ - 1) / kept_); }

  /// Returns true if values are cast before they are sent, or after they are received.
  [[nodiscard]] bool casts() const { return casts_; }
  /// The kernel that does: it reads one width and writes the other.
  [[nodiscard]] Kernel cast(Bytes kept) const {
    Kernel kernel{Kernel::Kind::memory, 1, 0, 0, 0, kept + of_kept(kept), 0};
    kernel.use = KernelClass::casts;
    return kernel;
  }

 private:
  Bytes kept_;
  Bytes of_32_;  ///< values, on the way
  bool casts_;
};

}  // namespace orrery
