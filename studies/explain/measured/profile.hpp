// Holds what a profiler recorded of one rank: work of its GPU with the calls that launched it, steps, and the
// time that its CPU spent on loading data. Every reader of traces makes it; knows nothing of experiments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/plan.hpp"
#include "orrery/workload.hpp"
#include "studies/explain/measured/kernel_names.hpp"

namespace orrery {

struct ClockRange {
  std::int64_t start_ns = 0;
  std::int64_t finish_ns = 0;
};

/// Describes a message, where the profiler says it.
struct ProfiledMessage {
  Collective collective{};
  std::optional<Dimension> dimension;  ///< by the name of its process group
  std::string group;                   ///< the same on all ranks of a communicator; "" where it is unknown
  std::int64_t ranks = 0;              ///< 0: unknown
  std::int64_t bytes = 0;              ///< as Message::bytes; 0: unknown
};

struct GpuSpan {
  static constexpr std::uint32_t kNothing = 0xffffffff;

  std::int64_t start_ns = 0;
  std::int64_t finish_ns = 0;
  std::int64_t launched_ns = -1;     ///< when the call that launched it returned; -1: unknown
  std::uint32_t name = 0;            ///< of Profile::names
  std::uint32_t message = kNothing;  ///< of Profile::messages
  std::uint32_t parts = kNothing;    ///< of Profile::parts
  std::int32_t step = -1;            ///< of Profile::steps, by its launch
  std::int32_t stream = 0;
  std::uint32_t shape = 0;  ///< tells kernels of one name apart: of their grids and blocks, or our own number
  KernelUse use{};
};

struct ProfiledStep {
  std::int64_t number = 0;
  ClockRange range;
};

/// Holds the shares of an operation of several kernels.
struct KernelParts {
  std::vector<std::pair<KernelUse, double>> shares;
};

struct Profile {
  std::string source;
  std::string writer;  ///< "PyTorch profiler", "orrery", "Nsight Systems"
  std::int64_t rank = -1;
  std::int64_t world = 0;
  std::vector<std::string> names;
  std::vector<ProfiledMessage> messages;
  std::vector<KernelParts> parts;
  std::vector<GpuSpan> spans;        ///< by start
  std::vector<ProfiledStep> steps;   ///< in order; at least one
  std::vector<ClockRange> loading;   ///< by start: the CPU fetches data
  std::vector<std::string> remarks;  ///< what could not be read
  std::uint64_t unlaunched = 0;      ///< spans whose launch is unknown
};

}  // namespace orrery
