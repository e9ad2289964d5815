// usage: step_time EXPERIMENT [KEY=VALUE...]    the summary, and the timeline in trace.json.gz
#include <iostream>
#include <orrery/orrery.hpp>

int main(int argc, char** argv) try {
  if (argc < 2) return 2;
  const orrery::Experiment experiment =
      orrery::read_experiment(argv[1], {.overrides = {argv + 2, argv + argc}});
  const orrery::RecordedRun run = orrery::record(experiment);
  orrery::write_summary(run.report(), {}, [](std::string_view text) { std::cout << text; });
  orrery::write_file("trace.json.gz", [&](const orrery::Sink& sink) { orrery::write_trace(run, {}, sink); });
} catch (const orrery::InputError& error) {
  for (const orrery::Diagnostic& diagnostic : error.diagnostics()) std::cerr << diagnostic.text() << '\n';
  return 2;
}
