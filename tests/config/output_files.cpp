#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/text/output_file.hpp"
#include "orrery/error.hpp"

using namespace orrery;
namespace fs = std::filesystem;

namespace {

/// An empty folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "orrery-io-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }
  [[nodiscard]] auto count() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_all(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string failure(const std::string& path, std::string_view text) {
  try {
    write_all(path, text);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a committed file holds everything, others leave nothing") {
  const Folder folder;
  {
    OutputFile file(folder.file("a.txt"));
    file.write("lost");
  }
  CHECK(folder.count() == 0);
  const std::string large(300000, 'x');
  write_all(folder.file("a.txt"), large);
  CHECK(content(folder.file("a.txt")) == large);
  {
    OutputFile file(folder.file("a.txt"));
    file.write("lost");
  }
  CHECK(content(folder.file("a.txt")) == large);
  write_all(folder.file("a.txt"), "new");
  CHECK(content(folder.file("a.txt")) == "new");
  CHECK(folder.count() == 1);
}

TEST_CASE("a name in .gz is compressed, the same way each time") {
  const Folder folder;
  const std::string text(200000, 'y');
  write_all(folder.file("a.gz"), text);
  write_all(folder.file("b.gz"), text);
  const std::string packed = content(folder.file("a.gz"));
  CHECK(packed.size() < 2000);
  CHECK(packed == content(folder.file("b.gz")));
  CHECK(packed.substr(4, 4) == std::string(4, '\0'));  // modification time
  REQUIRE(std::system(("gzip -dc " + folder.file("a.gz") + " > " + folder.file("c")).c_str()) == 0);
  CHECK(content(folder.file("c")) == text);
}

TEST_CASE("failures name the path and the reason") {
  const Folder folder;
  CHECK(failure("/dev/full", "x") == "cannot write /dev/full: No space left on device");
  CHECK(failure("/dev/full", std::string(1 << 20, 'x')) == "cannot write /dev/full: No space left on device");
  CHECK(failure(folder.file("none/a"), "x") ==
        "cannot write " + folder.file("none/a") + ": No such file or directory");
  CHECK(failure(folder.file(""), "x") == "cannot write " + folder.file("") + ": Is a directory");
  CHECK(failure("/proc/orrery", "x").starts_with("cannot write /proc/orrery: "));
  CHECK(failure("/dev/null", "x").empty());
  CHECK(folder.count() == 0);
}
