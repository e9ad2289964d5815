// What other programs, and Orrery's own summaries, call the keys of an experiment.
#pragma once

#include <string_view>

namespace orrery {

/// The dotted key of an experiment that goes by `name` elsewhere: tp, gbs, hidden_size. "" for a name that
/// means none.
[[nodiscard]] std::string_view key_called(std::string_view name);

}  // namespace orrery
