// Maps the names that other programs and our own summaries give to keys of an experiment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/text/json.hpp"
#include "orrery/error.hpp"

namespace orrery {

/// The dotted key of an experiment that goes by `name` elsewhere: tp, gbs, hidden_size. "" for a name that
/// means none.
[[nodiscard]] std::string_view key_called(std::string_view name);

/// A dotted key with the full name of an alias that is accepted: tp, plan.tp, model.hidden_size; others as
/// they are.
[[nodiscard]] std::string full_key(std::string_view key);

/// The JSON pointers under which an experiment may have the value at `pointer`, by aliases that are accepted.
[[nodiscard]] std::vector<std::string> other_pointers(std::string_view pointer);

/// Gives keys of the plan and the model of an experiment their full names; adds a diagnostic where both
/// stand.
void use_full_names(Json& experiment, const std::string& source, std::vector<Diagnostic>& diagnostics);

}  // namespace orrery
