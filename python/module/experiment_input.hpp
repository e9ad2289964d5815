// Holds and reads the experiment that a caller gives, free of Python objects, so that the text can be handed
// to another thread.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "config/experiment/read_experiment.hpp"

namespace orrery::python {

namespace py = pybind11;

struct GivenExperiment {
  enum class Form { path, text, object };
  Form form = Form::object;
  std::string text;                   ///< JSON or YAML; empty of a path
  std::string source;                 ///< the path, or the name of the text in errors
  std::vector<Diagnostic> refusal{};  ///< of an object that was found to be no experiment before it was read
};

/// From a dict, a path (str or os.PathLike) or a text: a str that begins with { or has more than one line.
/// @throws InputError for anything else.
[[nodiscard]] GivenExperiment given_experiment(py::handle value, const std::string& source);

/// Holds the settings that a series of experiments is read with. Safe to read from several threads.
struct ReadSetting {
  Catalog catalog;
  Menus names;
  std::vector<std::string> overrides;  ///< KEY=VALUE
};
/// `calibrations`: files beside the catalog. @throws InputError for wrong overrides or files.
[[nodiscard]] std::shared_ptr<const ReadSetting> read_setting(std::vector<std::string> overrides,
                                                              const std::vector<std::string>& calibrations);

/// Reads one experiment after the other. One thread at a time.
class InputSeries {
 public:
  explicit InputSeries(const ReadSetting& setting)
      : series_(setting.catalog, setting.names, setting.overrides) {}

  /// Returns the error without lines and columns in `source`.
  [[nodiscard]] static InputError without_positions(const InputError& error, const std::string& source);

  /// Returns `use` of the experiment. @throws InputError with positions; in an object there are none.
  template <class Use>
  auto apply(const GivenExperiment& given, Use use) {
    if (!given.refusal.empty()) throw InputError(given.refusal);
    try {
      const LocatedExperiment read = series_.read(text_of_input(given), given.source);
      return read.apply([&](const Experiment& experiment) { return use(experiment, read.positions); });
    } catch (const InputError& error) {
      if (given.form != GivenExperiment::Form::object) throw;
      throw without_positions(error, given.source);
    }
  }

 private:
  static std::string text_of_input(const GivenExperiment& given);

  ExperimentSeries series_;
};

}  // namespace orrery::python
