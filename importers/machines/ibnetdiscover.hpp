// Output of ibnetdiscover: the switches and hosts of an InfiniBand fabric, link by link.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

extern const Importer kIbnetdiscover;

}  // namespace orrery::importers::machines
