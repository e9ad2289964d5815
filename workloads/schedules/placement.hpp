// Maps the model chunks that the ranks of a pipeline hold: which chunk comes before and after another one.
#pragma once

#include <cstdint>
#include <optional>

namespace orrery {

enum class ChunkPlacement : std::uint8_t {
  wraps_around,   ///< chunk c of rank r is virtual stage c p + r
  v_shape,        ///< rank r of p holds the virtual stages r and 2p - 1 - r
  bidirectional,  ///< rank r holds stage r of one copy of the model, and stage p - 1 - r of a second one
};

/// A chunk of a pipeline rank.
struct ChunkPlace {
  std::int64_t rank = 0;
  std::int64_t chunk = 0;
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

struct ChunkMap {
  ChunkPlacement placement = ChunkPlacement::wraps_around;
  std::int64_t ranks = 1;
  std::int64_t chunks = 1;  ///< per rank, of all copies of the model

  /// Copies of the model; the k-th one consists of the k-th chunks if there are several.
  [[nodiscard]] std::int64_t copies() const {
    return placement == ChunkPlacement::bidirectional ? chunks : 1;
  }
  /// Returns the virtual stages of one copy of the model.
  [[nodiscard]] std::int64_t virtual_stages() const { return ranks * chunks / copies(); }
  [[nodiscard]] std::int64_t virtual_stage(ChunkPlace at) const;
  [[nodiscard]] ChunkPlace place(std::int64_t virtual_stage, std::int64_t copy) const;
  [[nodiscard]] std::int64_t copy_of(ChunkPlace at) const { return copies() > 1 ? at.chunk : 0; }
  /// Return the place that the activations of a chunk go to, or come from; nullopt at the ends of the model.
  [[nodiscard]] std::optional<ChunkPlace> after(ChunkPlace at) const { return moved(at, 1); }
  [[nodiscard]] std::optional<ChunkPlace> before(ChunkPlace at) const { return moved(at, -1); }
  /// Returns true if the next virtual stage lies on the previous rank.
  [[nodiscard]] bool reversed(std::int64_t chunk) const {
    return placement != ChunkPlacement::wraps_around && chunk == 1;
  }
  /// Returns true if a rank with a first virtual stage also holds a last one, of any copy.
  [[nodiscard]] bool ends_meet() const { return ranks == 1 || placement != ChunkPlacement::wraps_around; }

 private:
  [[nodiscard]] std::optional<ChunkPlace> moved(ChunkPlace at, std::int64_t by) const;
};

}  // namespace orrery
