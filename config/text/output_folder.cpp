#include "config/text/output_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "config/text/output_file.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path) : path_(path), target_(without_slashes(path)) {
  std::error_code error;
  target_ = file_behind(target_);
  was_there_ = fs::exists(target_, error);
  if (was_there_ && !fs::is_directory(target_, error)) fail(ENOTDIR);
  if (was_there_ && !fs::is_empty(target_, error)) fail(error ? error.value() : ENOTEMPTY);
  const fs::path beside = fs::path(target_).parent_path();
  std::string name = ((beside.empty() ? fs::path(".") : beside) / ".orrery.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail(errno);
  temporary_ = name;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(temporary_.c_str(), 0777U & ~mask);
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void OutputFolder::put_in_place() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFolder::take_back() noexcept {
  if (!temporary_.empty()) return;
  std::error_code ignored;
  fs::remove_all(target_, ignored);
  if (was_there_) fs::create_directory(target_, ignored);
}

void OutputFolder::fail(int error) const {
  throw RunError("cannot write " + path_ + ": " + std::strerror(error));
}

}  // namespace orrery
