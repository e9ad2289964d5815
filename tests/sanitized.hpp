// Tells if the sanitizers watch this build; tests that only repeat the same paths then do so less often.
#pragma once

namespace orrery::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// Returns how many of `count` random trials are made: a sixth under the sanitizers.
constexpr int trials(int count) { return kSanitized ? (count + 5) / 6 : count; }

}  // namespace orrery::test
