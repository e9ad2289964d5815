// Names of GPUs of the catalog behind what files call them: PCI ids, compute capabilities, words.
#pragma once

#include <string>
#include <string_view>

namespace orrery::importers {

/// The GPU that a file means.
struct GpuGuess {
  std::string words;    ///< what it is in words, such as "MI100"; "" where nothing is known
  std::string catalog;  ///< name of the catalog's GPU; "" where the catalog has none
  std::string doubt;    ///< what the file leaves open, "" where it is certain

  [[nodiscard]] bool known() const { return !catalog.empty(); }
};

/// Tells a GPU by the ids of its PCI function, such as "0x10de" and "0x2330".
[[nodiscard]] GpuGuess gpu_of_pci(std::string_view vendor, std::string_view device);
/// Tells a GPU of NVIDIA by its compute capability times ten; `arm` where the host is one of ARM.
[[nodiscard]] GpuGuess gpu_of_capability(int capability, bool arm);
/// Tells a GPU of AMD by its architecture (gfx942, 908) and its compute units.
[[nodiscard]] GpuGuess gpu_of_gcn(std::string_view gcn, int compute_units);
/// Tells a GPU by the words that programs print, such as "NVIDIA H100 80GB HBM3" or "A100-SXM4-40GB".
[[nodiscard]] GpuGuess gpu_of_words(std::string_view text);

/// Returns the rate of an NVLink of GPUs of the catalog, one direction; 0 where they have none.
[[nodiscard]] double nvlink_gb_per_s(std::string_view catalog_gpu);
/// Returns the rate by compute capability times ten.
[[nodiscard]] double nvlink_gb_per_s(int capability);

}  // namespace orrery::importers
