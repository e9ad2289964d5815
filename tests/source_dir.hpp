// The folder of the sources, for tests that read files of it. Known to one source only, so that a compiler
// cache serves the others in any checkout.
#pragma once

#include <filesystem>

namespace orrery::test {

std::filesystem::path source_dir();

}  // namespace orrery::test
