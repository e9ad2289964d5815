// Lists the simulated ranks and communicators, and the ones that each of them represents.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

/// Maps ranks and transfers to the simulated ones that represent them.
struct Representatives {
  std::vector<std::uint32_t> class_of_rank;   ///< per rank
  std::vector<std::uint32_t> representative;  ///< per class: the rank that is simulated
  std::vector<std::uint32_t> multiplicity;    ///< per class: how many ranks it stands for
  /// Identifies a simulated transfer of a call.
  struct Transfer {
    std::uint32_t call = 0;   ///< of Channels::calls
    std::uint32_t place = 0;  ///< of the communicator in its channel
  };
  std::vector<Transfer> transfers;
};

}  // namespace orrery
