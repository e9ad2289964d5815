#include "importers/machines/measured_links.hpp"

namespace orrery::importers::machines {

void apply_measured_links(Draft&, const Catalog&) {}

}  // namespace orrery::importers::machines
