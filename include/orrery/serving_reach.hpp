// Bounds how much an experiment may ask to be served, so that times and iterations can be counted within
// reasonable time. Used by config/, which knows the numbers that are given, and sim/serving/, which knows the
// derived ones.
#pragma once

namespace orrery {

inline constexpr double kMostServedRequests = 1e7;
inline constexpr double kMostServedTokens = 1e9;          ///< outputs of all requests
inline constexpr double kMostServedArrivalSeconds = 1e6;  ///< from the first arrival to the last, on average

}  // namespace orrery
