// The three files of Calculon (Isaev et al., SC 2023): application, execution and system. Calculon has
// neither a vocabulary nor costs of the host, and the efficiency of its kernels is a ladder, of which the
// highest step is taken.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::simulators {

extern const Importer kCalculonApplication;
extern const Importer kCalculonExecution;
extern const Importer kCalculonSystem;

}  // namespace orrery::importers::simulators
