// Holds the text of `orrery --version`. CMake makes its source when it configures: another commit compiles
// one small file.
#pragma once

namespace orrery {

/// The version and, in a checkout, the commit: "0.1.0 (4bb6580a1b)", with "-dirty" where files had changed.
extern const char* const kVersionText;

}  // namespace orrery
