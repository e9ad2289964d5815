#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "apps/help_format.hpp"
#include "apps/option_checks.hpp"
#include "apps/page_origin.hpp"
#include "apps/text_columns.hpp"
#include "apps/version.hpp"
#include "config/schema/aliases.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/text/wording.hpp"
#include "face/heap.hpp"
#include "orrery/error.hpp"
#include "orrery/printable.hpp"

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
    {"explain", "Why a measured run is slower than the simulated one, term by term", orrery::add_explain},
    {"sweep", "All plans of a space into a file of results; the best of them, and exports",
     orrery::add_sweep},
    {"capacity", "The most requests per second within limits of latency", orrery::add_capacity},
    {"run", "Weeks of training: failures, checkpoints, restarts; when it is done, and at what cost",
     orrery::add_run},
    {"jobs", "Several jobs on one cluster: queues, placements, links that they share", orrery::add_jobs},
    {"memory", "Memory by category and stage, without simulating", orrery::add_memory},
    {"plan", "Search for the best plan: proven optimal, or by other methods", orrery::add_plan},
    {"schedule", "The pipeline schedule of an experiment, drawn as text", orrery::add_schedule},
    {"validate", "Simulate measured runs: predicted, measured and error", orrery::add_validate},
    {"calibrate", "Fit constants of calibrations to measured runs", orrery::add_calibrate},
    {"converge", "Run a method on a small learning problem: loss against simulated time",
     orrery::add_converge},
    {"elastic", "A run whose sites come and go, phase by phase", orrery::add_elastic},
    {"gossip", "Degrees, spectral gaps and exact averaging of gossip topologies", orrery::add_gossip},
    {"explore", "A page whose knobs are the keys of an experiment, redrawn while you turn them",
     orrery::add_explore},
    {"import", "Files of other tools as one experiment: models, launches, machines, logs",
     orrery::add_import},
    {"list", "The catalog: models, GPUs, clusters, measurements; schedules, algorithms, wirings",
     orrery::add_list},
    {"show", "An entry of the catalog, with its sources", orrery::add_show},
    {"schema", "JSON Schema of an experiment or its parts", orrery::add_schema},
    {"completion", "Completion of the command line for bash, zsh or fish", orrery::add_completion},
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

/// Makes writing beyond a limit on file sizes an error like that of a full disk, not the end of the process.
void take_size_limits_as_errors() { std::signal(SIGXFSZ, SIG_IGN); }

/// A line on standard error.
void say(const std::string& text) {
  const std::string line = orrery::one_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// The status of a command whose text may still wait in a buffer.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  say("orrery: cannot write standard output");
  return orrery::kRunFailed;
}

/// Runs `command`; every error becomes lines on standard error and an exit status.
int guarded(const Command& command) {
  try {
    return flushed(command());
  } catch (const orrery::InputError& error) {
    for (const auto& diagnostic : error.diagnostics()) say(diagnostic.text());
    return orrery::kWrongInput;
  } catch (const std::bad_alloc&) {
    say("orrery: out of memory");
  } catch (const std::exception& error) {
    say("orrery: " + std::string(error.what()));
  }
  return orrery::kRunFailed;
}

void add_common(CLI::App& app, CommonOptions& common) {
  app.add_flag("--quiet", common.quiet, "No summary");
  app.add_option("--threads", common.threads, "Threads to use")->check(orrery::integer_within(1, 1024));
}

/// Every name an option of `app` goes by, such as --json.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns the error in the first argument, which should be a command; "" if there is none.
std::string wrong_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return "";
  std::vector<std::string_view> known;
  for (const Entry& entry : kCommands) known.emplace_back(entry.name);
  if (std::ranges::find(known, arguments.front()) != known.end()) return "";
  return "found command " + orrery::quote(arguments.front()) + ", allowed " + orrery::joined(known) +
         orrery::hint(arguments.front(), known);
}

/// Returns the key of an experiment that the user gave as an option, such as --tp or --tensor-parallel; ""
/// for other options.
std::string key_meant(std::string_view option) {
  std::string key(option.substr(2));
  std::ranges::replace(key, '-', '_');
  const std::vector<std::string>& keys = orrery::experiment_keys();
  for (const std::string& full : {orrery::full_key(key), "plan." + key, std::string(orrery::key_called(key))})
    if (std::ranges::find(keys, full) != keys.end()) return full;
  return "";
}

/// The first option that `app` does not have, and the nearest one: "" if there is none.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = option_names(app);
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || name == "--" || std::ranges::find(known, name) != known.end()) continue;
    const std::string found = "found option " + orrery::quote(name) + ", which " +
                              (app.get_parent() ? app.get_name() : "orrery") + " does not have";
    const std::string key = key_meant(name);
    return key.empty() ? found + orrery::hint(name, orrery::views(known))
                       : found + "; keys of the experiment stand without dashes: " + key + "=VALUE";
  }
  return "";
}

/// The mistake behind `error` in words.
std::string mistake(const CLI::App& app, const std::vector<std::string>& arguments,
                    const CLI::ParseError& error) {
  if (std::string wrong = wrong_command(arguments); !wrong.empty()) return wrong;
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  if (chosen.empty() || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    if (std::string unknown = unknown_option(command, arguments); !unknown.empty()) return unknown;
  }
  return error.what();
}

/// Text that was asked for, on standard output.
int print(const std::string& text) {
  const std::string lines = orrery::wrapped_lines(text, orrery::text_columns());
  std::fwrite(lines.data(), 1, lines.size(), stdout);
  return flushed(orrery::kDone);
}

/// Help of the program, or of the command named behind "help".
int print_help(const CLI::App& app, const std::vector<std::string>& arguments) {
  const bool of_command = arguments.size() > 1 && wrong_command({arguments[1]}).empty();
  return print(of_command ? app.get_subcommand(arguments[1])->help("orrery") : app.help());
}

/// The status where nothing is to run: help and version were asked for, or the command line is wrong.
int end_of(const CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) return print(app.help());
  if (error.get_exit_code() == 0) return print(error.what() + std::string("\n"));
  say("command line: " + mistake(app, arguments, error));
  return orrery::kWrongInput;
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  take_size_limits_as_errors();
  orrery::prepare_heap();
  CLI::App app{"Orrery simulates LLM training clusters.", "orrery"};
  app.formatter(orrery::help_format());
  app.set_version_flag("-v,--version", orrery::kVersionText);
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
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.front() == "help") return print_help(app, arguments);
  if (arguments.front() == "version") return print(orrery::kVersionText + std::string("\n"));
  common.command_line = orrery::command_line_of(arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_of(app, arguments, error);
  }
  return guarded(commands.at(app.get_subcommands().front()));
}
