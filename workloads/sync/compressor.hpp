// Implements lossy compression of gradients and models: exact bytes on the wire, and the kernels that make
// and undo them. Sources of the formats are in docs/theory/synchronization.md, "Compression".
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/units.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Values that travel together.
struct Payload {
  std::int64_t values = 0;
  std::int64_t tensors = 1;  ///< that hold them, at least one
  Bytes width = 4;           ///< of one value, uncompressed
  Bytes sent_of_32 = 0;      ///< of 32 values on the way, uncompressed; 0: as they are kept

  [[nodiscard]] bool casts() const { return sent_of_32 != 0 && sent_of_32 != 32 * width; }
  /// Uncompressed, on the way.
  [[nodiscard]] Bytes sent() const { return casts() ? (values * sent_of_32 + 31) / 32 : values * width; }
};

class Compressor {
 public:
  explicit Compressor(const Compression& compression) : compression_(compression) {}

  [[nodiscard]] bool active() const { return compression_.method != Compression::Method::none; }
  /// Returns true if the payload is compressed. Low-rank compression is skipped if both factors take as much
  /// as the values.
  [[nodiscard]] bool compresses(const Payload& payload) const;
  /// Returns true if compressed values can be added on their way, so that an all-reduce takes them; otherwise
  /// each worker gathers those of all others.
  [[nodiscard]] bool adds_up() const;
  /// Bytes of each message that one payload takes: two for low-rank (both factors), else one.
  [[nodiscard]] std::vector<Bytes> wire_bytes(const Payload& payload) const;
  /// Kernels to compress, error feedback included.
  [[nodiscard]] std::vector<Kernel> compress(const Payload& payload) const;
  /// Returns the kernels that add up the values of `received` messages.
  [[nodiscard]] std::vector<Kernel> decompress(const Payload& payload, std::int64_t received) const;
  /// State kept from step to step, per value.
  [[nodiscard]] Bytes state_bytes_per_value() const;

 private:
  Compression compression_;
};

}  // namespace orrery
