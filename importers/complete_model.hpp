// Completes the model and the serving of a draft, once all files are read.
#pragma once

#include "importers/common/draft.hpp"

namespace orrery::importers {

/// Takes windows away that are at least as long as the samples: tokens then attend to all before them.
void drop_idle_window(Draft& draft);

/// Returns true if the experiment serves requests.
[[nodiscard]] bool serves(const Draft& draft);

/// Takes the formats of quantised weights for serving, and fills in requests where no file has any.
void complete_serving(Draft& draft);

}  // namespace orrery::importers
