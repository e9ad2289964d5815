#include "apps/far_sweep.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "orrery/error.hpp"
#include "planner/sweep/space_text.hpp"

namespace orrery {
namespace {

std::string request_of(const Space& space, const FarSweep& sweep) {
  const SpaceText text = text_of(space);
  nlohmann::json order = nlohmann::json::array();  // points are numbered by it
  for (const SpaceKey& key : space.keys()) order.push_back(key.key);
  const nlohmann::json request{{"scheduler", sweep.scheduler},
                               {"file", sweep.file},
                               {"keys", sweep.keys},
                               {"calibrations", sweep.calibrations},
                               {"space", nlohmann::json::parse(text.space)},
                               {"order", std::move(order)},
                               {"experiment", text.experiment},
                               {"overrides", nlohmann::json::parse(text.overrides)}};
  return request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A file in memory that holds `text`, at its beginning.
int file_of(const std::string& text) {
  const int file = memfd_create("sweep", MFD_CLOEXEC);
  if (file < 0) throw RunError(std::string("cannot hand over the sweep: ") + std::strerror(errno));
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ::close(file);
      throw RunError(std::string("cannot hand over the sweep: ") + std::strerror(errno));
    }
    at += static_cast<std::size_t>(written);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

/// Its exit status once it has ended.
int run_python(int input) {
  std::array<std::string, 3> words{"python3", "-m", "orrery.many_machines"};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "python3", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw RunError(std::string("cannot run python3: ") + std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void sweep_far(const Space& space, const FarSweep& sweep) {
  const int input = file_of(request_of(space, sweep));
  const int status = run_python(input);
  ::close(input);
  if (status != 0)
    throw RunError("the sweep on " + sweep.scheduler +
                   " failed (python3 -m orrery.many_machines, exit status " + std::to_string(status) +
                   "); what is finished is in " + sweep.file);
}

}  // namespace orrery
