// Fuzzes the reader of one kind of file, with libFuzzer: it reads whatever it gets, or refuses it with an
// InputError. CMakeLists.txt makes a program of it for each kind.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "importers/combine.hpp"
#include "importers/importers.hpp"
#include "orrery/error.hpp"

/// The kind, in the source that CMakeLists.txt writes.
extern const char* const kFuzzedReader;

namespace orrery::importers {
namespace {

const Importer& fuzzed_reader() {
  const auto all = importers();
  const auto found = std::ranges::find(all, kFuzzedReader, &Importer::name);
  if (found == all.end()) std::abort();
  return *found;
}

void read(const std::string& text) {
  static const Importer& reader = fuzzed_reader();
  static const Catalog catalog = Catalog::embedded();
  const SourceFile file("fuzzed", text);
  for (const Importer& importer : importers()) static_cast<void>(importer.recognises(file));
  Draft draft;
  try {
    reader.read({file, {{}, text.size() % 2 == 0}, catalog}, draft);
    draft.settle_awaited();
    combine(draft, catalog);
  } catch (const InputError&) {
  }
}

}  // namespace
}  // namespace orrery::importers

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  orrery::importers::read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
