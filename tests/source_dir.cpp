#include "tests/source_dir.hpp"

std::filesystem::path orrery::test::source_dir() { return ORRERY_SOURCE_DIR; }
