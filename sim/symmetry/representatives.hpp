// Whom the simulated ranks and communicators stand for.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

/// Whom tasks stand for.
struct Representatives {
  std::vector<std::uint32_t> class_of_rank;   ///< per rank
  std::vector<std::uint32_t> representative;  ///< per class: the rank that is simulated
  std::vector<std::uint32_t> multiplicity;    ///< per class: how many ranks it stands for
  /// What is simulated of the calls of channels.
  struct Transfer {
    std::uint32_t call = 0;   ///< of Channels::calls
    std::uint32_t place = 0;  ///< of the communicator in its channel
  };
  std::vector<Transfer> transfers;
};

}  // namespace orrery
