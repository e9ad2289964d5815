#include "apps/picture_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/option_checks.hpp"
#include "apps/paper_length.hpp"
#include "apps/rank_list.hpp"
#include "apps/text_columns.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "reports/chart/serving_scene.hpp"
#include "reports/chart/write_scene.hpp"
#include "reports/picture/picture.hpp"
#include "reports/picture/serving_picture.hpp"
#include "sim/run/asynchronous_run.hpp"

namespace orrery {
namespace {

constexpr const char* kSchedule = "schedule";
constexpr const char* kMemory = "memory";
constexpr const char* kTopology = "topology";
constexpr const char* kLatencies = "latencies";

const std::vector<std::string>& drawings() {
  static const std::vector<std::string> names{kSchedule, kMemory, kTopology};
  return names;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

/// Names of drawings with commas between them.
CLI::Validator some_of_the_drawings() {
  return {[check = one_of(drawings())](const std::string& list) -> std::string {
            std::vector<std::string> parts = names_in(list);
            for (std::string& part : parts) {
              if (std::string wrong = check(part); !wrong.empty()) return wrong;
            }
            std::ranges::sort(parts);
            const auto twice = std::ranges::adjacent_find(parts);
            return twice == parts.end() ? "" : "found " + quote(*twice) + " twice";
          },
          fmt::format("{}", fmt::join(drawings(), "|"))};
}

/// Returns the result of `draw`; its errors are located on the command line.
template <class Draw>
auto as_asked(const Draw& draw) {
  try {
    return draw();
  } catch (const InputError& error) {
    throw InputError({Diagnostic{"command line", 0, 0, "", error.diagnostics().front().message}});
  }
}

/// Refuses a drawing of the topology, because serving runs record no link traffic.
void require_no_topology(const PictureArguments& arguments) {
  if (arguments.drawn.empty()) return;
  const std::vector<std::string> names = names_in(arguments.drawn);
  if (std::ranges::find(names, kTopology) != names.end())
    throw InputError({Diagnostic{"command line", 0, 0, "",
                                 "--draw: found \"topology\", allowed of an experiment that serves requests "
                                 "are schedule and memory"}});
}

/// --svg-stages and its like, for `option`, and those of a drawing for `of` alone; returns them.
std::vector<CLI::Option*> add_part(CLI::App& app, const std::string& option, CLI::Option* of,
                                   DrawnPart& part) {
  CLI::Option* stages = app.add_option(option + "-stages", part.stages, "Pipeline stages in it, such as 0-3")
                            ->type_name("NUMBERS")
                            ->check(not_empty("numbers, such as 0-3"));
  CLI::Option* time =
      app.add_option(option + "-time", part.time, "From when to when, such as 0.5..2s or 25..50%")
          ->type_name("FROM..TO")
          ->check(not_empty("FROM..TO, such as 0.5..2s"));
  if (of != nullptr)
    for (CLI::Option* part_option : {stages, time}) part_option->needs(of);
  return {stages, time};
}

/// Options that shape a picture are mistakes without one.
void require_files(const PictureArguments& arguments) {
  if (arguments.file.any()) return;
  const auto require = [](const char* option, bool given) {
    if (given)
      throw InputError({Diagnostic{"command line", 0, 0, "",
                                   std::string(option) + " does nothing without --svg, --png or --pdf"}});
  };
  require("--svg-stages", !arguments.file_part.stages.empty());
  require("--svg-time", !arguments.file_part.time.empty());
  require("--svg-width", !arguments.file.width.empty());
  require("--svg-memory", arguments.memory);
  require("--picture", arguments.name != kSchedule);
}

/// Refuses what a picture of latencies has no place for.
void require_parts_of_latencies(const PictureArguments& arguments, const Experiment& experiment) {
  const auto refuse = [](const std::string& message) {
    throw InputError({Diagnostic{"command line", 0, 0, "", message}});
  };
  if (!experiment.inference)
    refuse("--picture: found \"latencies\", allowed of an experiment that trains is schedule");
  if (!arguments.file_part.stages.empty() || !arguments.file_part.time.empty() || arguments.memory)
    refuse("--svg-stages, --svg-time and --svg-memory do nothing for --picture latencies");
}

/// A picture of latencies is as wide as the text of a paper unless a width was asked for.
SceneFormat latency_format(const ChartArguments& arguments) {
  SceneFormat format;
  if (!arguments.width.empty())
    format.width =
        parse_paper_length(arguments.width, "--width", SceneFormat::kLeastWidth, SceneFormat::kMostWidth);
  return format;
}

std::vector<std::uint32_t> stages_of(const DrawnPart& part, const Experiment& experiment,
                                     const std::string& option) {
  return parse_number_list(part.stages, static_cast<std::uint64_t>(experiment.plan.pipeline_parallel),
                           option);
}

}  // namespace

std::vector<CLI::Option*> add_picture_options(CLI::App& app, PictureArguments& arguments) {
  CLI::Option* svg = add_output(app, "--svg", arguments.file.svg,
                                "Draw the schedule as SVG, or as PNG if the name ends in .png");
  CLI::Option* png = add_output(app, "--png", arguments.file.png, "The same as PNG");
  CLI::Option* pdf = add_output(app, "--pdf", arguments.file.pdf, "The same as PDF");
  std::vector<CLI::Option*> others = add_part(app, "--svg", nullptr, arguments.file_part);
  others.push_back(
      app.add_option("--svg-width,--width", arguments.file.width,
                     "Of the picture: pixels, by default 1200, or a length such as 3.33in, column or page")
          ->type_name("LENGTH"));
  others.push_back(app.add_flag("--svg-memory", arguments.memory, "Also the memory of each stage over time"));
  others.push_back(
      app.add_option("--picture", arguments.name,
                     "schedule, or of requests that are served latencies: their shares over latencies")
          ->type_name("NAME")
          ->check(one_of({kSchedule, kLatencies}))
          ->capture_default_str());
  CLI::Option* draw =
      app.add_option("--draw", arguments.drawn,
                     "Draw with characters: schedule, memory, topology, or several with commas")
          ->type_name("NAMES")
          ->check(some_of_the_drawings());
  add_part(app, "--draw", draw, arguments.drawn_part);
  app.add_option("--draw-width", arguments.drawn_part.width, "Columns, by default those of the terminal")
      ->needs(draw)
      ->check(integer_within(CharacterOptions::kLeastColumns, CharacterOptions::kMostColumns));
  others.insert(others.end(), {svg, png, pdf, draw});
  return others;
}

Pictures::Pictures(const PictureArguments& arguments, const Experiment& experiment, Outputs& outputs)
    : arguments_(arguments),
      experiment_(experiment),
      file_stages_(stages_of(arguments.file_part, experiment, "--svg-stages")),
      drawn_stages_(stages_of(arguments.drawn_part, experiment, "--draw-stages")),
      file_time_(parse_time_range(arguments.file_part.time, "--svg-time")),
      drawn_time_(parse_time_range(arguments.drawn_part.time, "--draw-time")) {
  if (arguments.any() && !experiment.inference) require_one_timeline(experiment);
  if (experiment.inference) require_no_topology(arguments);
  require_files(arguments);
  require_matching_endings(arguments.file, true);
  if (arguments.name == kLatencies) require_parts_of_latencies(arguments, experiment);
  open(arguments.file.svg, rendered_format_of(arguments.file.svg), outputs);
  open(arguments.file.png, RenderedFormat::png, outputs);
  open(arguments.file.pdf, RenderedFormat::pdf, outputs);
  if (!arguments.drawn.empty() && outputs.use_standard_output())
    throw InputError(
        {Diagnostic{"command line", 0, 0, "", "--draw and another output go to standard output"}});
}

void Pictures::open(const std::string& file, std::optional<RenderedFormat> rendered, Outputs& outputs) {
  if (file.empty()) return;
  if (rendered) require_renderer(*rendered);
  files_.push_back({outputs.open(file), rendered});
}

void Pictures::write(const RecordedOutcome& outcome) const {
  if (files_.empty()) return;
  const Report& report = outcome.report();
  const Picoseconds end = outcome.requests != nullptr ? outcome.requests->duration_ps : report.makespan_ps;
  write_file(end, [&](const PictureOptions& options, const Sink& sink) {
    if (arguments_.name == kLatencies)
      return write_scene(latency_scene(*outcome.requests, report), latency_format(arguments_.file), sink);
    if (outcome.requests != nullptr) return write_serving_picture(*outcome.requests, report, options, sink);
    write_picture(outcome.run.view(), RankGrid(experiment_.plan), report, options, sink);
  });
}

std::string Pictures::drawn(const RecordedOutcome& outcome) const {
  if (arguments_.drawn.empty()) return "";
  return outcome.requests != nullptr ? drawn(*outcome.requests) : drawn(outcome.run.view(), outcome.report());
}

void Pictures::write_file(Picoseconds makespan,
                          const std::function<void(const PictureOptions&, const Sink&)>& write) const {
  PictureOptions options{file_stages_, file_time_.from_ps(makespan), file_time_.to_ps(makespan)};
  if (!arguments_.file.width.empty())
    options.width = parse_paper_length(arguments_.file.width, "--svg-width", PictureOptions::kLeastWidth,
                                       PictureOptions::kMostWidth);
  options.memory = arguments_.memory;
  std::string svg;
  as_asked([&] { write(options, [&svg](std::string_view text) { svg += text; }); });
  for (const Target& target : files_)
    target.rendered ? write_rendered(*target.rendered, svg, to(*target.file)) : target.file->write(svg);
}

std::string Pictures::drawn(const RunView& run, const Report& report) const {
  const CharacterOptions options = character_options(run.timeline.makespan_ps);
  return as_asked([&] { return drawings_of(run, report, options); });
}

std::string Pictures::drawn(const ServingRecord& record) const {
  std::string text;
  const CharacterOptions options = character_options(record.duration_ps);
  for (const std::string& name : names_in(arguments_.drawn)) {
    if (!text.empty()) text += "\n";
    text += as_asked([&] {
      return name == kSchedule ? "Schedule\n" + draw_serving_schedule(record, options)
                               : "Memory\n" + draw_serving_memory(record, options);
    });
  }
  return text;
}

CharacterOptions Pictures::character_options(Picoseconds makespan) const {
  CharacterOptions options{drawn_stages_, drawn_time_.from_ps(makespan), drawn_time_.to_ps(makespan)};
  options.columns = arguments_.drawn_part.width > 0
                        ? arguments_.drawn_part.width
                        : std::min(text_columns(), CharacterOptions::kMostColumns);
  options.colour = colour_on_standard_output();
  return options;
}

std::string Pictures::drawings_of(const RunView& run, const Report& report,
                                  const CharacterOptions& options) const {
  const RankGrid grid(experiment_.plan);
  std::string text;
  for (const std::string& name : names_in(arguments_.drawn)) {
    if (!text.empty()) text += "\n";
    if (name == kSchedule) text += "Schedule\n" + draw_schedule(run, grid, options);
    if (name == kMemory) text += "Memory\n" + draw_memory(run, grid, report, options);
    if (name == kTopology) text += "Topology\n" + draw_topology(experiment_.cluster, run, options.columns);
  }
  return text;
}

}  // namespace orrery
