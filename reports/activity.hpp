// Names and colours the activities of a GPU for pictures and pages: kinds of passes, of communication, and of
// serving iterations, which no picture shows beside passes. People who see no red, no green or no blue can
// still tell the colours apart (Okabe and Ito, "Color Universal Design", 2008; Paul Tol, "Colour Schemes",
// SRON/EPS/TN/09-002, 2021).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "orrery/workload.hpp"

namespace orrery {

enum class Activity : std::uint8_t {
  forward,
  recompute,
  backward,
  weight_gradient,
  optimizer,
  tensor,  ///< from here on communication, by the dimension that it serves
  pipeline,
  data,
  context,
  expert,
  offload,
  host,     ///< the CPU thread works
  bubble,   ///< the GPU waits with nothing in flight
  prefill,  ///< from here on iterations that serve requests
  decode,
  prefill_and_decode,
};
inline constexpr std::size_t kActivityCount = 16;

struct ActivityStyle {
  std::string_view name;    ///< in legends
  std::string_view colour;  ///< on white, as #rrggbb
  std::string_view dark;    ///< on black
};
inline constexpr std::array<ActivityStyle, kActivityCount> kActivityStyles{
    {{"forward", "#0072b2", "#56a8dc"},
     {"recomputation", "#8ec6ec", "#2f6d94"},
     {"backward", "#009e73", "#2fbf94"},
     {"weight gradients", "#9ad8c0", "#1f7a60"},
     {"optimizer", "#6b4c9a", "#a68bd0"},
     {"tensor communication", "#e69f00", "#f0b429"},
     {"messages between stages", "#d55e00", "#f0793a"},
     {"gradients and parameters", "#a0522d", "#c98a63"},
     {"context communication", "#cc79a7", "#e09bc2"},
     {"expert communication", "#b8a800", "#e6dc5a"},
     {"copies to and from the host", "#777777", "#a8a8a8"},
     {"host", "#4d4d4d", "#cfcfcf"},
     {"bubble", "#ffffff", "#16181c"},
     {"prefill", "#0072b2", "#56a8dc"},
     {"decode", "#009e73", "#2fbf94"},
     {"prefill and decode", "#6b4c9a", "#a68bd0"}}};

[[nodiscard]] constexpr const ActivityStyle& style_of(Activity activity) {
  return kActivityStyles[static_cast<std::size_t>(activity)];
}

[[nodiscard]] constexpr Activity activity_of(Dimension dimension) {
  return static_cast<Activity>(static_cast<std::size_t>(Activity::tensor) +
                               static_cast<std::size_t>(dimension));
}
static_assert(activity_of(Dimension::tensor) == Activity::tensor);
static_assert(activity_of(Dimension::pipeline) == Activity::pipeline);
static_assert(activity_of(Dimension::data) == Activity::data);
static_assert(activity_of(Dimension::context) == Activity::context);
static_assert(activity_of(Dimension::expert) == Activity::expert);
static_assert(activity_of(Dimension::offload) == Activity::offload);

[[nodiscard]] Activity activity_of(const Workload& workload, const Op& op);

}  // namespace orrery
