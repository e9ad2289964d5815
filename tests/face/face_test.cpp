// Tests the face of the library, as an outside program reads, runs, inspects and writes.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <orrery/orrery.hpp>
#include <set>
#include <sstream>

using namespace orrery;

namespace {

constexpr std::string_view kText =
    R"({"model": {"base": "gpt3-125m", "layers": 4}, "cluster": "dgx-a100-80gb",
  "plan": {"tensor_parallel": 2, "pipeline_parallel": 2, "micro_batch_size": 1, "global_batch_size": 16}})";

std::string text_of(const std::function<void(const Sink&)>& write) {
  std::string text;
  write([&text](std::string_view part) { text += part; });
  return text;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder that goes when the test ends.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "orrery_face_test";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("an experiment is read from a text or a file, with overrides") {
  const Experiment experiment = parse_experiment(kText, {.overrides = {"plan.micro_batch_size=2"}});
  CHECK(experiment.model.layers == 4);
  CHECK(experiment.plan.micro_batch_size == 2);
  const Folder folder;
  std::ofstream(folder.path / "experiment.json") << kText;
  CHECK(read_experiment((folder.path / "experiment.json").string()) == parse_experiment(kText));
}

TEST_CASE("what is wrong in a text is told with its source and place") {
  try {
    static_cast<void>(parse_experiment(R"({"model": "gpt3-125n",
"cluster": "dgx-a100-80gb"})",
                                       {}, "mine.json"));
    FAIL("read");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].source == "mine.json");
    CHECK(error.diagnostics()[0].line == 1);
    CHECK(error.diagnostics()[0].pointer == "/model");
    CHECK(error.diagnostics()[0].message.find("gpt3-125m") != std::string::npos);
  }
  CHECK_THROWS_AS(static_cast<void>(read_experiment("no such file.json")), InputError);
}

TEST_CASE("a calibration from a file can be named") {
  const Folder folder;
  std::ofstream(folder.path / "ours.json")
      << R"({"summary": "ours", "source": "test", "part": "software", "constants": {}})";
  const std::string file = (folder.path / "ours.json").string();
  const std::vector<std::string> named{"stack=ours"};
  CHECK_THROWS_AS(static_cast<void>(parse_experiment(kText, {.overrides = named})), InputError);
  CHECK(parse_experiment(kText, {.overrides = named, .calibrations = {file}}).stack == "ours");
}

TEST_CASE("a recorded run has the figures of simulate()") {
  const Experiment experiment = parse_experiment(kText);
  const RecordedRun run = record(experiment);
  const Report report = simulate(experiment);
  CHECK(run.report().makespan_ps == report.makespan_ps);
  CHECK(run.report().breakdown.compute_ps == report.breakdown.compute_ps);
  CHECK(run.experiment() == experiment);
  CHECK(run.ranks() == 8);
}

TEST_CASE("spans of a stream follow each other, and the last one ends the run") {
  const RecordedRun run = record(parse_experiment(kText));
  Picoseconds last = 0;
  for (std::uint32_t rank = 0; rank < run.ranks(); ++rank) {
    const std::vector<Stream> streams = run.streams(rank);
    REQUIRE(!streams.empty());
    CHECK(std::ranges::is_sorted(streams));
    for (const Stream stream : streams) {
      const std::vector<OperationSpan> spans = run.spans(rank, stream);
      REQUIRE(!spans.empty());
      Picoseconds free = 0;
      for (const OperationSpan& span : spans) {
        CHECK(span.start_ps >= free);
        CHECK(span.finish_ps >= span.start_ps);
        CHECK(!span.name.empty());
        free = span.finish_ps;
      }
      last = std::max(last, free);
    }
  }
  CHECK(last == run.report().makespan_ps);
}

TEST_CASE("the compute streams of all ranks are busy for the utilisation of the report") {
  const RecordedRun run = record(parse_experiment(kText));
  Picoseconds busy = 0;
  for (std::uint32_t rank = 0; rank < run.ranks(); ++rank) {
    for (const OperationSpan& span : run.spans(rank, Stream::compute)) busy += span.finish_ps - span.start_ps;
  }
  const double available = static_cast<double>(run.report().makespan_ps) * run.ranks();
  CHECK(static_cast<double>(busy) / available == doctest::Approx(run.report().gpu_utilization_mean));
}

TEST_CASE("a communication's span names its communicator, folded or not") {
  for (const char* folding : {"auto", "off"}) {
    const RecordedRun run =
        record(parse_experiment(kText, {.overrides = {std::string("simulation.folding=") + folding}}));
    // tensor parallelism of 2, innermost: ranks 4 and 5 are one group
    const std::vector<OperationSpan> spans = run.spans(5, Stream::tensor);
    REQUIRE(!spans.empty());
    CHECK(std::ranges::equal(spans.front().ranks, std::vector<std::uint32_t>{4, 5}));
    CHECK(spans.front().bytes > 0);
    CHECK(std::ranges::any_of(spans, [](const OperationSpan& span) { return span.layer >= 0; }));
    CHECK(run.spans(5, Stream::compute).front().ranks.empty());
    CHECK(run.spans(5, send_stream(3)).empty());
  }
}

TEST_CASE("every format is written to a sink and to a file, whole or not at all") {
  const RecordedRun run = record(parse_experiment(kText));
  const Report& report = run.report();
  const auto json = [&](const Sink& sink) { write_json(report, sink); };
  CHECK(text_of(json).starts_with("{\n"));
  CHECK(text_of([&](const Sink& sink) { write_csv(report, sink); }).find("\n") != std::string::npos);
  CHECK(text_of([&](const Sink& sink) { write_summary(report, {}, sink); }).find("GPUs") !=
        std::string::npos);
  CHECK(text_of([&](const Sink& sink) { write_page(run, sink); }).starts_with("<!doctype html>"));
  const std::string trace = text_of([&](const Sink& sink) { CHECK(write_trace(run, {}, sink).ranks == 8); });
  CHECK(trace.find("traceEvents") != std::string::npos);
  CHECK(text_of([&](const Sink& sink) { write_picture(run, {}, sink); }).ends_with("</svg>\n"));
  const Folder folder;
  const std::filesystem::path path = folder.path / "result.json";
  CHECK_THROWS_AS(write_file(path.string(),
                             [](const Sink& sink) {
                               sink("half");
                               throw RunError("stopped");
                             }),
                  RunError);
  CHECK(!std::filesystem::exists(path));
  write_file(path.string(), json);
  CHECK(contents(path) == text_of(json));
  CHECK_THROWS_AS(write_file((folder.path / "none" / "result.json").string(), json), RunError);
}

TEST_CASE("requests that are served are recorded, and written in every format but kernels one by one") {
  const Experiment experiment = parse_experiment(
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "gpus_per_node": 2, "nodes": 1},
          "plan": {"data_parallel": 2},
          "inference": {"prompt_tokens": 100, "output_tokens": 5, "batch_size": 2, "requests": 8}})");
  const RecordedRun run = record(experiment);
  REQUIRE(run.requests() != nullptr);
  CHECK(run.requests()->requests.size() == 8);
  CHECK(run.report().serving->duration_ps == simulate(experiment).serving->duration_ps);
  CHECK(run.ranks() == 0);
  CHECK(run.streams(0).empty());
  CHECK(run.spans(0, Stream::compute).empty());
  CHECK(text_of([&](const Sink& sink) {
          CHECK(write_trace(run, {}, sink).ranks == 2);
        }).find("traceEvents") != std::string::npos);
  CHECK(text_of([&](const Sink& sink) { write_picture(run, {}, sink); }).ends_with("</svg>\n"));
  CHECK(text_of([&](const Sink& sink) { write_page(run, sink); }).starts_with("<!doctype html>"));
  const Folder folder;
  CHECK_THROWS_WITH_AS(write_kineto(run, {}, (folder.path / "traces").string()),
                       doctest::Contains("which have no kernels one by one"), InputError);
  const RecordedRun step = record(parse_experiment(kText));
  CHECK(step.requests() == nullptr);
}

TEST_CASE("all that can be named is listed, and each name of a kind once") {
  for (std::size_t kind = 0; kind < kNameKindNames.size(); ++kind) {
    CAPTURE(kNameKindNames[kind]);
    const std::vector<NamedEntry> entries = list_names(static_cast<NameKind>(kind));
    std::set<std::string> names;
    for (const NamedEntry& entry : entries) {
      CHECK(names.insert(entry.name).second);
      CHECK(!entry.summary.empty());
    }
    CHECK(entries.size() > 1);
  }
  CHECK(catalog_entry(NameKind::gpu, "h100").find("peak_tflops") != std::string::npos);
  CHECK_THROWS_WITH_AS(static_cast<void>(catalog_entry(NameKind::model, "gpt3-125n")),
                       doctest::Contains("did you mean \"gpt3-125m\"?"), InputError);
  CHECK_THROWS_AS(static_cast<void>(catalog_entry(NameKind::gossip, "ring")), InputError);
  CHECK(experiment_schema().find("draft-07") != std::string::npos);
  CHECK(!version().empty());
}

TEST_CASE("the name of a file says which format its trace has") {
  CHECK(trace_format("t.json") == TraceFormat::chrome);
  CHECK(trace_format("-") == TraceFormat::chrome);
  CHECK(trace_format("a.speedscope.json.gz") == TraceFormat::speedscope);
  CHECK(trace_format("t.pftrace") == TraceFormat::perfetto);
  CHECK(trace_format("T.PFTRACE.GZ") == TraceFormat::perfetto);
  CHECK(trace_format("t.pftrace.gz") == TraceFormat::perfetto);
  const RecordedRun run = record(parse_experiment(kText));
  const auto text = [&](TraceFormat format) {
    TraceOptions options;
    options.format = format;
    return text_of([&](const Sink& sink) { write_trace(run, options, sink); });
  };
  CHECK(text(TraceFormat::speedscope).starts_with(R"({"$schema":"https://www.speedscope.app)"));
  CHECK(text(TraceFormat::perfetto).starts_with('\x0a'));  // field 1, a packet
}

TEST_CASE("traces of single ranks go into a folder, whole or not at all") {
  const RecordedRun run = record(parse_experiment(kText));
  const Folder folder;
  const std::filesystem::path traces = folder.path / "traces";
  const auto write = [&](const std::vector<std::uint32_t>& ranks) {
    TraceOptions options;
    options.ranks = ranks;
    return write_kineto(run, options, traces.string()).ranks;
  };
  CHECK_THROWS_AS(write({8}), InputError);
  CHECK(!std::filesystem::exists(traces));
  CHECK(write({1, 6}) == 2);
  CHECK(std::filesystem::exists(traces / "rank6.json.gz"));
  CHECK_THROWS_AS(write({1}), RunError);
  CHECK(std::distance(std::filesystem::directory_iterator(traces), {}) == 2);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("execution traces of Chakra go into a folder with the communicators") {
  const RecordedRun run = record(parse_experiment(kText));
  const Folder folder;
  const std::filesystem::path traces = folder.path / "chakra";
  TraceOptions options;
  options.ranks = {8};
  CHECK_THROWS_AS(write_chakra(run, options, traces.string()), InputError);
  CHECK(!std::filesystem::exists(traces));
  // All 8 ranks, and comm_groups.json.
  const TraceInfo info = write_chakra(run, {}, traces.string());
  CHECK(info.ranks == 8);
  CHECK(info.spans > 8);
  CHECK(std::filesystem::exists(traces / "chakra.7.et"));
  CHECK(std::filesystem::exists(traces / "comm_groups.json"));
  CHECK(std::distance(std::filesystem::directory_iterator(traces), {}) == 9);
  CHECK_THROWS_AS(write_chakra(run, {}, traces.string()), RunError);
}
