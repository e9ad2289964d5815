// Draws serving runs: the iterations of each stage of each replica, and the memory of its GPUs.
#pragma once

#include <string>

#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"
#include "orrery/write.hpp"
#include "reports/picture/characters.hpp"

namespace orrery {

/// SVG as write_picture() makes it. PictureOptions::stages are those of every replica that is drawn.
/// @throws InputError as write_picture()
void write_serving_picture(const ServingRecord& record, const Report& report, const PictureOptions& options,
                           const Sink& sink);

/// A line for each stage of each replica, as draw_schedule(): P prompts, D outputs, M both in one iteration.
/// @throws InputError as write_picture()
[[nodiscard]] std::string draw_serving_schedule(const ServingRecord& record, const CharacterOptions& options);

/// A line for each replica, as draw_memory(): weights, activations and the cache that requests hold.
/// @throws InputError as write_picture()
[[nodiscard]] std::string draw_serving_memory(const ServingRecord& record, const CharacterOptions& options);

}  // namespace orrery
