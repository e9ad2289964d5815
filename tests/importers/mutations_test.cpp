// Every reader takes any change of a file of its kind: it reads it, or refuses it with an InputError.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "importers/combine.hpp"
#include "importers/importers.hpp"
#include "orrery/error.hpp"
#include "tests/source_dir.hpp"

namespace orrery::importers {
namespace {

/// Numerical Recipes' generator: the mutations are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 1664525U + 1013904223U;
    return bound == 0 ? 0 : (state_ >> 8U) % bound;
  }

 private:
  std::uint32_t state_;
};

std::string mutated(std::string text, Dice& dice) {
  const std::vector<std::string> parts{"-1",    "0",    "99999999999999999999",
                                       "1e308", "null", "[]",
                                       "{}",    "\"",   "\n",
                                       "<",     "\xff", "[",
                                       ":",     "x",    "true",
                                       "\t",    "&amp;"};
  for (std::size_t changes = 1 + dice.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = dice.below(text.size()), length = 1 + dice.below(12);
    switch (dice.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, parts[dice.below(parts.size())]);
        break;
      case 2:
        text.replace(at, length, parts[dice.below(parts.size())]);
        break;
      default:
        text.insert(at, text.substr(dice.below(text.size()), length * 4));
        break;
    }
  }
  return dice.below(8) == 0 ? text.substr(0, dice.below(text.size() + 1)) : text;
}

/// Small files of each kind, by its name.
std::map<std::string, std::vector<std::string>> seeds() {
  std::map<std::string, std::vector<std::string>> files;
  const auto folder = orrery::test::source_dir() / "tests/importers/fuzz/seeds";
  for (const Importer& importer : importers())
    for (const auto& entry : std::filesystem::directory_iterator(folder / importer.name)) {
      std::stringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      files[std::string(importer.name)].push_back(text.str());
    }
  return files;
}

const Importer* importer_for(const SourceFile& file) {
  for (const Importer& importer : importers())
    if (importer.recognises(file)) return &importer;
  return nullptr;
}

/// Reads the text as whatever it is taken for, else as `kind`.
void read_changed(const std::string& text, const Importer& kind, const Catalog& catalog) {
  const SourceFile file("changed", text);
  const Importer* importer = importer_for(file);
  Draft draft;
  try {
    (importer == nullptr ? kind : *importer).read({file, {{}, true}, catalog}, draft);
    combine(draft, catalog);
  } catch (const InputError& error) {
    CHECK_FALSE(error.diagnostics().empty());
  }
}

}  // namespace

TEST_CASE("any change of a file is read or refused") {
  const Catalog catalog = Catalog::embedded();
  const auto files = seeds();
  REQUIRE(files.size() == importers().size());
  for (const auto& files_of_kind : files)
    for (const std::string& text : files_of_kind.second) {
      const std::string& name = files_of_kind.first;
      CAPTURE(name);
      const Importer* kind = importer_for({"seed", text});
      REQUIRE(kind != nullptr);
      CHECK(kind->name == name);
      Dice dice(static_cast<std::uint32_t>(text.size()));
      for (int round = 0; round < 150; ++round) read_changed(mutated(text, dice), *kind, catalog);
    }
}

TEST_CASE("each kind of file has a target of the fuzzer") {
  std::ifstream list(orrery::test::source_dir() / "tests/importers/fuzz/readers.txt");
  std::vector<std::string> names;
  for (std::string line; std::getline(list, line);) names.push_back(line);
  CHECK(names == importer_names());
}

}  // namespace orrery::importers
