// Finds a row of a menu by name.
#pragma once

#include <span>
#include <string>

#include "orrery/error.hpp"
#include "orrery/menu.hpp"

namespace orrery {

/// @throws InputError at `pointer` that lists the names, when there is no such row.
template <class Entry>
const Entry& find_entry(std::span<const Entry> menu, const std::string& name, const std::string& pointer) {
  std::string names;
  for (const Entry& entry : menu) {
    if (entry.name == name) return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw InputError(pointer, "found \"" + name + "\"; allowed are " + names);
}

}  // namespace orrery
