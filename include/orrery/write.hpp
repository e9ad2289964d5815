// Writes results and runs, one function per format, to wherever a sink takes the text. For programs and for
// the command line; knows nothing of how figures come about.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/recorded_run.hpp"
#include "orrery/report.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Receives a writer's text; throws RunError when it cannot be written.
using Sink = std::function<void(std::string_view)>;

struct ResultKey;

struct SummaryStyle {
  bool colour = false;  ///< with ANSI colours
  int columns = 80;     ///< of the terminal; 80 to 160 are used
};
/// Readable summary for a terminal. Names in it are on one line, without control characters.
void write_summary(const Report& report, SummaryStyle style, const Sink& sink);

/// Which keys of the result are written, by default all.
class ResultSelection {
 public:
  ResultSelection();
  /// Selects the named keys, given by dotted paths such as memory.peak_gb, and all below an object that is
  /// named. A name that is none of names() selects nothing.
  explicit ResultSelection(std::span<const std::string> names);

  /// Keys, and the objects they lie in.
  [[nodiscard]] static std::vector<std::string_view> names();
  /// The key that a name means: ttft_p99_s is ttft_s_p99. Other names as they are.
  [[nodiscard]] static std::string key_of(std::string_view name);
  /// Returns true if a row of CSV has any of the keys.
  [[nodiscard]] bool has_row() const;
  /// Returns the figures that have to be measured for the keys.
  [[nodiscard]] Figures figures() const;
  [[nodiscard]] std::span<const ResultKey* const> keys() const { return keys_; }

 private:
  std::vector<const ResultKey*> keys_;
};

/// The result object of the interface (`orrery simulate --json`), pretty-printed when `indent` >= 0,
/// one line when < 0. Ends with a newline.
void write_json(const Report& report, const ResultSelection& keys, int indent, const Sink& sink);
/// A header line and one row: the scalars of the JSON result under their dotted keys.
void write_csv(const Report& report, const ResultSelection& keys, const Sink& sink);

/// A scalar of the JSON result under its dotted key, such as memory.peak_gb.
struct ResultFigure {
  std::string key;
  std::optional<double> value;  ///< none in a report without timing
};
/// Returns all numbers of those keys of the JSON result, always in the same order.
[[nodiscard]] std::vector<ResultFigure> result_figures(const Report& report, const ResultSelection& keys);

/// Says how much detail a trace shows. Slices of steps contain those of passes, which contain those of
/// operations.
enum class TraceLevel : std::uint8_t {
  step,
  pass,       ///< and steps: the compute stream of each rank
  operation,  ///< and those: all streams
};
inline constexpr std::array<std::string_view, 3> kTraceLevelNames{"step", "pass", "operation"};

enum class TraceFormat : std::uint8_t {
  chrome,      ///< Chrome Trace Event JSON, which most viewers read
  speedscope,  ///< speedscope's own JSON: slices of one name are one frame there
  perfetto,    ///< Perfetto's native form (protocol buffers): smaller, exact in ns
};
/// Returns the format by the ending of a file's name: .speedscope.json, .pftrace, or anything else for
/// Chrome's; .gz may follow.
[[nodiscard]] TraceFormat trace_format(std::string_view path);

struct TraceOptions {
  /// Ranks to write, ascending; empty: all if that stays within `max_spans`, else the ranks of the
  /// first data-parallel replica, else one rank per pipeline stage.
  std::vector<std::uint32_t> ranks;
  std::vector<std::int32_t> steps;  ///< empty: all
  std::uint64_t max_spans = 1'000'000;
  TraceLevel level = TraceLevel::operation;
  TraceFormat format = TraceFormat::chrome;
  std::string metadata_json = "{}";  ///< object shown by viewers: plan, seed, version
};

/// Counts the contents of a trace, for the user's information.
struct TraceInfo {
  std::uint64_t spans = 0;  ///< slices, those of passes and steps too
  std::uint64_t flows = 0;  ///< arrows
  std::uint64_t ranks = 0;
  std::uint64_t left_out = 0;  ///< iterations and requests, of requests that were served
};

/// Writes all keys: JSON indented by two blanks, CSV with its header line.
void write_json(const Report& report, const Sink& sink);
void write_csv(const Report& report, const Sink& sink);

/// The timeline of a run in a format of viewers: a process per rank and a thread per stream, or of requests a
/// process per replica and a thread per stage; times in whole nanoseconds.
/// @throws InputError for a rank that does not exist; an unknown step gives a trace without slices.
TraceInfo write_trace(const RecordedRun& run, const TraceOptions& options, const Sink& sink);

/// Sets the style and contents of write_picture().
struct PictureOptions {
  static constexpr int kLeastWidth = 300;
  static constexpr int kMostWidth = 20'000;
  /// Pipeline stages, one GPU of each; empty: all, or of more than 64 a selection that lies evenly between
  /// first and last.
  std::vector<std::uint32_t> stages;
  Picoseconds from_ps = 0;  ///< from the beginning of the run
  Picoseconds to_ps = 0;    ///< 0: the end of the run; where it is later, room is left
  int width = 1200;         ///< pixels, kLeastWidth to kMostWidth
  bool memory = false;      ///< of each stage over time
};

/// The schedule of a run as SVG: passes with the numbers of their micro-batches, communication and waits; or
/// the iterations of replicas that served requests.
/// @throws InputError for stages, times and widths that there are not.
void write_picture(const RecordedRun& run, const PictureOptions& options, const Sink& sink);

/// A folder with a file for each rank, rank0.json.gz and so on, in the dialect of PyTorch's profiler
/// (Kineto), for Holistic Trace Analysis and notebooks that read such traces: all operations, one kernel
/// each; level, format and limits of spans do not matter but for the choice of ranks. The folder appears
/// whole or not at all, and must not be there before, unless it is empty. TraceInfo::spans counts kernels and
/// copies.
/// @throws InputError for a rank that does not exist or where requests were served, RunError with path and
/// reason if it cannot be written.
TraceInfo write_kineto(const RecordedRun& run, const TraceOptions& options, const std::string& folder);

/// A folder with a file for each rank, chakra.0.et and so on, as execution traces of MLCommons Chakra, and
/// comm_groups.json with the communicators, for ASTRA-sim (docs/reference/traces.md). Options matter as they
/// do for write_kineto(), and the folder appears likewise. TraceInfo::spans counts nodes.
/// @throws InputError for a rank that does not exist, for more than 20,000,000 nodes, or where requests were
/// served, RunError with path and reason if it cannot be written.
TraceInfo write_chakra(const RecordedRun& run, const TraceOptions& options, const std::string& folder);

/// A page that shows the run in any browser (docs/how-to/pages.md): one file of HTML with its data and its
/// scripts.
void write_page(const RecordedRun& run, const Sink& sink);

/// Makes the file at `path` ("-": standard output) of the text that `write` gives to its sink, compressed if
/// the name ends in .gz. The file appears whole when `write` has returned, and not at all when it throws.
/// @throws RunError with path and reason if the file cannot be written.
void write_file(const std::string& path, const std::function<void(const Sink&)>& write);

}  // namespace orrery
