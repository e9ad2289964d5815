#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/version.hpp"
#include "config/text/document.hpp"
#include "explore/server.hpp"

namespace orrery {
namespace {

struct ExploreOptions {
  std::string experiment;
  explore::ServerOptions server;
  bool open = false;
};

/// Shows the page in the browser of the desktop. The address is ours: digits and letters, no text of a user.
void open_in_browser(const std::string& address) {
  const std::string command = "xdg-open '" + address + "' >/dev/null 2>&1 &";
  if (std::system(command.c_str()) != 0) std::fputs("cannot open a browser: no xdg-open\n", stderr);
}

int run(ExploreOptions options, const CommonOptions& common) {
  options.server.threads = common.threads;
  options.server.version = kVersionText;
  if (!options.experiment.empty()) options.server.setup = read_text(options.experiment);
  const bool reached_by_others = options.server.address != explore::kLoopback;
  explore::serve(options.server, [&](const std::string& address) {
    std::printf("%s\n", address.c_str());
    if (reached_by_others)
      std::printf("Others reach it too: whoever has this address can run simulations on this machine.\n");
    std::printf("Ctrl-C ends it.\n");
    std::fflush(stdout);
    if (options.open) open_in_browser(address);
  });
  return kDone;
}

}  // namespace

Command add_explore(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ExploreOptions>();
  app.add_option("experiment", options->experiment, "A JSON or YAML file to begin with, - for standard input")
      ->type_name(kFile);
  app.add_option("--port", options->server.port, "Port to listen on; by default any free one")
      ->check(integer_within(1, 65535))
      ->type_name("N");
  app.add_option("--listen", options->server.address,
                 "Address to listen on: with another than 127.0.0.1 other machines reach the page, if they "
                 "know its token")
      ->type_name("ADDRESS");
  app.add_flag("--open", options->open, "Open the page in the browser");
  return [options, &common] { return run(*options, common); };
}

}  // namespace orrery
