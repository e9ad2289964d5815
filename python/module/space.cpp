#include "python/module/space.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "config/catalog/calibration_files.hpp"
#include "config/schema/menus.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "orrery/parallel.hpp"
#include "python/module/bindings.hpp"
#include "python/module/errors.hpp"
#include "python/module/experiment_input.hpp"
#include "python/module/python_from_json.hpp"
#include "python/module/threads.hpp"

namespace orrery::python {
namespace {

using Names = std::vector<std::string>;

/// Returns the text and the name of a given object.
std::pair<std::string, std::string> text_and_source(py::handle given, const std::string& name) {
  GivenExperiment read = given_experiment(given, name);
  if (read.form == GivenExperiment::Form::path) return {read_text(read.source), read.source};
  return {std::move(read.text), std::move(read.source)};
}

BaseExperiment base_of(const SpaceSource& source, const SpaceDescription& description) {
  if (!source.experiment.empty()) return {source.experiment_source, source.experiment, source.overrides};
  return {source.source, description.experiment_text, source.overrides};
}

/// A document has keys by name; points are numbered by the order in which keys were given.
void order_keys(const Names& order, std::vector<SpaceKey>& keys) {
  std::ranges::stable_sort(
      keys, {}, [&order](const SpaceKey& key) { return std::ranges::find(order, key.key) - order.begin(); });
}

std::unique_ptr<const Space> space_of(const SpaceSource& source) {
  SpaceDescription description = read_space(source.text, source.source);
  order_keys(source.order, description.keys);
  BaseExperiment base = base_of(source, description);
  if (base.text.empty())
    throw InputError({Diagnostic{source.source, 0, 0, "",
                                 "an experiment is missing: the key `experiment`, or the argument"}});
  return std::make_unique<const Space>(std::move(description), std::move(base),
                                       catalog_with(source.calibrations), menus(),
                                       source.intervals ? Intervals::allowed : Intervals::refused);
}

/// Files that the description or the caller names are read at once.
SpaceSource source_of(py::handle description, py::handle experiment, const Names& overrides,
                      const Names& calibrations) {
  SpaceSource source;
  std::tie(source.text, source.source) = text_and_source(description, "space");
  source.overrides = overrides;
  source.calibrations = calibrations;
  if (!experiment.is_none()) {
    std::tie(source.experiment, source.experiment_source) = text_and_source(experiment, "experiment");
    return source;
  }
  const std::string file = read_space(source.text, source.source).experiment_file;
  if (file.empty()) return source;
  source.experiment = read_text(file);
  source.experiment_source = file;
  return source;
}

/// A dict has no lines.
std::unique_ptr<BoundSpace> make_space(py::handle description, py::handle experiment, const Names& overrides,
                                       const Names& calibrations, bool intervals, const Names& order) {
  try {
    SpaceSource source = source_of(description, experiment, overrides, calibrations);
    source.intervals = intervals;
    source.order = order;
    return std::make_unique<BoundSpace>(std::move(source));
  } catch (const InputError& error) {
    if (PyDict_Check(description.ptr()) == 0) throw;
    throw InputSeries::without_positions(error, "space");
  }
}

py::dict keys_of(const BoundSpace& space) {
  py::dict keys;
  for (const SpaceKey& key : space.space().keys()) {
    py::list values;
    for (const std::string& text : key.values) values.append(value_of_override(text));
    keys[text_of(key.key)] = values;
  }
  return keys;
}

void check_index(const BoundSpace& space, std::uint64_t index) {
  if (index < space.space().size()) return;
  throw py::index_error("found point " + std::to_string(index) + ", allowed are 0 to " +
                        std::to_string(space.space().size() - 1));
}

/// (places of the values per key, with -1 where a key does nothing; None), or (None, why there is none).
py::tuple read_point(BoundSpace& space, std::uint64_t index) {
  check_index(space, index);
  const PointOrRemoval read = space.reader().read(index);
  if (const auto* removal = std::get_if<Removal>(&read)) {
    const std::string message = removal->message.empty() ? "" : ": " + removal->message;
    return py::make_tuple(py::none(), text_of(removal->by + message));
  }
  py::list used;
  for (const std::string& value : std::get<Point>(read).values) used.append(py::bool_(!value.empty()));
  return py::make_tuple(used, py::none());
}

py::object experiment_at(BoundSpace& space, std::uint64_t index) {
  check_index(space, index);
  return from_json_text(space.reader().text_at(index));
}

/// Holds the findings of a thread in its part of a space.
struct PartOfSurvey {
  std::vector<std::pair<std::uint64_t, ContentHash>> points;
  std::map<std::string, std::uint64_t> removed;
};

PartOfSurvey survey_part(const Space& space, std::uint64_t begin, std::uint64_t end) {
  PartOfSurvey part;
  PointReader reader(space);
  for (std::uint64_t index = begin; index < end; ++index) {
    const PointOrRemoval read = reader.read(index);
    if (const auto* point = std::get_if<Point>(&read))
      part.points.emplace_back(index, point->content);
    else
      ++part.removed[std::get<Removal>(read).by];
  }
  return part;
}

std::vector<PartOfSurvey> survey_parts(const Space& space, unsigned threads) {
  const std::uint64_t count = std::min<std::uint64_t>(space.size(), std::uint64_t{8} * threads);
  std::vector<PartOfSurvey> parts(count);
  std::vector<std::exception_ptr> failures(count);
  for_each_index(count, threads, [&](std::size_t i) {
    try {
      parts[i] = survey_part(space, space.size() * i / count, space.size() * (i + 1) / count);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return parts;
}

/// (indices of the points that are experiments and differ from all before them, those of all that are, how
/// many were removed by each condition or key).
py::tuple survey(const BoundSpace& space) {
  const std::vector<PartOfSurvey> parts = [&] {
    const py::gil_scoped_release released;
    return survey_parts(space.space(), threads_of(0));
  }();
  std::unordered_map<ContentHash, std::uint64_t, ContentHasher> first;
  std::map<std::string, std::uint64_t> removed;
  py::list distinct;
  py::list valid;
  for (const PartOfSurvey& part : parts) {
    for (const auto& [index, content] : part.points) {
      valid.append(index);
      if (first.emplace(content, index).second) distinct.append(index);
    }
    for (const auto& [by, points] : part.removed) removed[by] += points;
  }
  return py::make_tuple(distinct, valid, removed);
}

py::tuple state_of(const BoundSpace& space) {
  const SpaceSource& s = space.source();
  return py::make_tuple(s.text, s.source, s.experiment, s.experiment_source, s.overrides, s.calibrations,
                        s.intervals, s.order);
}

SpaceSource source_from(const py::tuple& state) {
  return {state[0].cast<std::string>(), state[1].cast<std::string>(), state[2].cast<std::string>(),
          state[3].cast<std::string>(), state[4].cast<Names>(),       state[5].cast<Names>(),
          state[6].cast<bool>(),        state[7].cast<Names>()};
}

}  // namespace

py::object value_of_override(const std::string& text) {
  Json document = Json::object();
  std::vector<Diagnostic> diagnostics;
  apply_overrides(document, {"value=" + text}, diagnostics);
  return from_json(document.value("value", Json()));
}

BoundSpace::BoundSpace(SpaceSource source)
    : source_(std::move(source)), space_(space_of(source_)), reader_(*space_) {}

void bind_space(py::module_& module) {
  module.def("value_of_override", &value_of_override, py::arg("text"));
  module.def(
      "experiment_text",
      [](py::handle experiment) {
        const auto [text, source] = text_and_source(experiment, "experiment");
        return py::make_tuple(text_of(text), text_of(source));
      },
      py::arg("experiment"));
  py::class_<BoundSpace>(module, "Space")
      .def(py::init(&make_space), py::arg("description"), py::arg("experiment"), py::arg("overrides"),
           py::arg("calibrations"), py::arg("intervals"), py::arg("order") = Names())
      .def_property_readonly("size", [](const BoundSpace& space) { return space.space().size(); })
      .def("keys", &keys_of)
      .def("read", &read_point, py::arg("index"))
      .def("experiment", &experiment_at, py::arg("index"))
      .def("survey", &survey)
      .def(py::pickle(&state_of, [](const py::tuple& state) {
        return std::make_unique<BoundSpace>(source_from(state));
      }));
}

}  // namespace orrery::python
