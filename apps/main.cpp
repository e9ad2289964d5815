#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>

#include "apps/commands.hpp"
#include "apps/heap.hpp"
#include "orrery/error.hpp"

namespace {

using orrery::Command;
using orrery::CommonOptions;

struct Entry {
  const char* name;
  const char* summary;
  Command (*add)(CLI::App&, const CommonOptions&);
};

constexpr Entry kCommands[] = {
    {"simulate", "Simulate one experiment: summary, JSON, CSV, Chrome trace", orrery::add_simulate},
    {"compare", "Experiments, or variations of one, side by side", orrery::add_compare},
    {"memory", "Memory by category and stage, without simulating", orrery::add_memory},
    {"validate", "Simulate measured runs: predicted, measured and error", orrery::add_validate},
    {"calibrate", "Fit constants of calibrations to measured runs", orrery::add_calibrate},
    {"converge", "Run a method on a small learning problem: loss against simulated time",
     orrery::add_converge},
    {"gossip", "Degrees, spectral gaps and exact averaging of gossip topologies", orrery::add_gossip},
    {"list", "The catalog: models, GPUs, clusters, measurements; schedules, algorithms, wirings",
     orrery::add_list},
    {"schema", "JSON Schema of an experiment or its parts", orrery::add_schema},
};

/// Gives the standard streams something to stand on where the caller closed them, so that no file
/// opened later takes their place: reading finds nothing, writing fails.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    const bool reads = stream == STDIN_FILENO;
    if (open(reads ? "/dev/null" : "/dev/full", reads ? O_RDONLY : O_WRONLY) != stream) std::abort();
  }
}

/// The status of a command whose text may still wait in a buffer.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "orrery: cannot write standard output\n");
  return orrery::kRunFailed;
}

/// Runs `command`; every error becomes lines on standard error and an exit status.
int guarded(const Command& command) {
  try {
    return flushed(command());
  } catch (const orrery::InputError& error) {
    for (const auto& problem : error.problems()) std::fprintf(stderr, "%s\n", problem.text().c_str());
    return orrery::kWrongInput;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "orrery: out of memory\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orrery: %s\n", error.what());
  }
  return orrery::kRunFailed;
}

void add_common(CLI::App& app, CommonOptions& common) {
  app.add_flag("--quiet", common.quiet, "No summary");
  app.add_option("--threads", common.threads, "Threads to use")->check(CLI::Range(1, 1024));
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  orrery::prepare_heap();
  CLI::App app{"Orrery simulates LLM training clusters.", "orrery"};
  app.set_version_flag("--version", ORRERY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 the run failed, 2 the input is wrong, 3 the plan does not fit into memory.");
  CommonOptions common;
  std::map<const CLI::App*, Command> commands;
  for (const Entry& entry : kCommands) {
    CLI::App* sub = app.add_subcommand(entry.name, entry.summary);
    add_common(*sub, common);
    commands[sub] = entry.add(*sub, common);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? orrery::kDone : orrery::kWrongInput;
  }
  return guarded(commands.at(app.get_subcommands().front()));
}
