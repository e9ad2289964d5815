// Declares options of commands that draw a run: --svg and --draw, with the contents, the range of time and
// the width.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/outputs.hpp"
#include "apps/time_range.hpp"
#include "orrery/experiment.hpp"
#include "orrery/serving_record.hpp"
#include "orrery/write.hpp"
#include "reports/picture/characters.hpp"
#include "reports/picture/rendering.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/run/recorded_outcome.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery {

/// Holds the part of a run that is drawn, as given.
struct DrawnPart {
  std::string stages;  ///< a list of numbers; empty: all
  std::string time;    ///< FROM..TO; empty: all of it
  int width = 0;       ///< of a drawing in characters; 0: the default
};

struct PictureArguments {
  ChartArguments file;            ///< --svg may name a PNG
  std::string name = "schedule";  ///< of the picture in files: schedule or latencies
  std::string drawn;              ///< in characters: names with commas between them; empty: none
  DrawnPart file_part;
  DrawnPart drawn_part;
  bool memory = false;

  [[nodiscard]] bool any() const { return file.any() || !drawn.empty(); }
};

/// Adds the options; returns --draw and those of files, which options for other things exclude.
std::vector<CLI::Option*> add_picture_options(CLI::App& app, PictureArguments& arguments);

/// The pictures of one run: opened and checked before it, drawn after it.
class Pictures {
 public:
  /// @throws InputError for stages that the plan does not have, RunError where no PNG or PDF can be written
  Pictures(const PictureArguments& arguments, const Experiment& experiment, Outputs& outputs);

  /// Draws an outcome whose operations were recorded.
  /// @throws InputError for a time behind the end of the run
  void write(const RecordedOutcome& outcome) const;
  /// Returns the drawings that --draw asks for, below headings; "" without --draw.
  [[nodiscard]] std::string drawn(const RecordedOutcome& outcome) const;

 private:
  [[nodiscard]] std::string drawn(const RunView& run, const Report& report) const;
  [[nodiscard]] std::string drawn(const ServingRecord& record) const;
  void write_file(Picoseconds makespan,
                  const std::function<void(const PictureOptions&, const Sink&)>& write) const;
  [[nodiscard]] CharacterOptions character_options(Picoseconds makespan) const;
  [[nodiscard]] std::string drawings_of(const RunView& run, const Report& report,
                                        const CharacterOptions& options) const;

  const PictureArguments& arguments_;
  const Experiment& experiment_;
  std::vector<std::uint32_t> file_stages_;
  std::vector<std::uint32_t> drawn_stages_;
  TimeRange file_time_;
  TimeRange drawn_time_;
  struct Target {
    OutputFile* file;
    std::optional<RenderedFormat> rendered;
  };
  void open(const std::string& file, std::optional<RenderedFormat> rendered, Outputs& outputs);

  std::vector<Target> files_;
};

}  // namespace orrery
