// Serving engines: a table of options each, and their defaults. A further engine is a file here, and rows in
// serving_files.cpp.
#pragma once

#include <span>
#include <string_view>

#include "importers/common/import_rows.hpp"
#include "importers/serving/engine_options.hpp"

namespace orrery::importers::serving {

// Reasons why options change nothing.
inline constexpr std::string_view kDoor = "how clients reach the server changes no iteration";
inline constexpr std::string_view kCode = "how the engine is started or watched changes no iteration";
inline constexpr std::string_view kText = "what text is made of changes no amount of work";
inline constexpr std::string_view kKernels = "which kernels run is known of the stack";

struct Engine {
  std::string_view name;
  std::string_view stack;      ///< of the catalog
  std::string_view model_key;  ///< the key of the model's name
  std::span<const ImportRow> rows;
  std::span<const ShortOption> shorts;
  /// Names of keys by which a file of its options is told, with blanks between.
  std::string_view telling;
  void (*complete)(const SourceKeys&, Draft&);  ///< writes what follows from several options, and defaults
};

[[nodiscard]] const Engine& vllm();
[[nodiscard]] const Engine& sglang();
[[nodiscard]] const Engine& tensorrt_llm();

/// Puts options of an engine into the draft, with its stack.
void read_engine(const Engine& engine, const SourceKeys& keys, Draft& draft);

}  // namespace orrery::importers::serving
