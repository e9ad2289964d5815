// Declares the commands of the command line, one file each. A command adds its options to the parser and
// returns the function to run when it is chosen; that returns the exit status.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace orrery {

/// Exit statuses that scripts hold on to.
enum ExitStatus { kDone = 0, kRunFailed = 1, kWrongInput = 2, kInfeasible = 3 };

/// Options every command takes.
struct CommonOptions {
  bool quiet = false;
  unsigned threads = 1;
  std::string command_line;  ///< as pages show it
};

using Command = std::function<int()>;

Command add_simulate(CLI::App& app, const CommonOptions& common);
Command add_compare(CLI::App& app, const CommonOptions& common);
Command add_plan(CLI::App& app, const CommonOptions& common);
Command add_sweep(CLI::App& app, const CommonOptions& common);
Command add_memory(CLI::App& app, const CommonOptions& common);
Command add_schedule(CLI::App& app, const CommonOptions& common);
Command add_validate(CLI::App& app, const CommonOptions& common);
Command add_calibrate(CLI::App& app, const CommonOptions& common);
Command add_converge(CLI::App& app, const CommonOptions& common);
Command add_explain(CLI::App& app, const CommonOptions& common);
Command add_run(CLI::App& app, const CommonOptions& common);
Command add_jobs(CLI::App& app, const CommonOptions& common);
Command add_elastic(CLI::App& app, const CommonOptions& common);
Command add_gossip(CLI::App& app, const CommonOptions& common);
Command add_capacity(CLI::App& app, const CommonOptions& common);
Command add_explore(CLI::App& app, const CommonOptions& common);
Command add_import(CLI::App& app, const CommonOptions& common);
Command add_list(CLI::App& app, const CommonOptions& common);
Command add_show(CLI::App& app, const CommonOptions& common);
Command add_schema(CLI::App& app, const CommonOptions& common);
Command add_completion(CLI::App& app, const CommonOptions& common);

}  // namespace orrery
