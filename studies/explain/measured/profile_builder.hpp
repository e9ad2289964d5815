// Puts together a Profile from events in any order. Used by the readers of traces.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "studies/explain/measured/profile.hpp"

namespace orrery {

class ProfileBuilder {
 public:
  ProfileBuilder(std::string source, std::string writer) {
    profile_.source = std::move(source);
    profile_.writer = std::move(writer);
  }

  [[nodiscard]] Profile& profile() { return profile_; }
  [[nodiscard]] std::uint32_t name(std::string_view text);
  /// Adds a span with the number of the launch that issued it; 0: none.
  /// @throws InputError if there are more than a profile holds
  void add(const GpuSpan& span, std::int64_t launch);
  /// Adds a message; returns its place. @throws InputError as add()
  [[nodiscard]] std::uint32_t add_message(ProfiledMessage message);
  /// Adds the parts of an operation; returns their place. @throws InputError as add()
  [[nodiscard]] std::uint32_t add_parts(KernelParts parts);
  void add_launch(std::int64_t launch, const ClockRange& call);
  void add_step(const ProfiledStep& step);
  void add_loading(const ClockRange& range);
  /// Sorts all, and finds launches and steps of spans. @throws InputError if no GPU has worked
  [[nodiscard]] Profile finish() &&;

 private:
  /// @throws InputError if `size` things are as many as a profile holds
  void require_room(std::size_t size, std::size_t most, std::string_view things) const;
  [[noreturn]] void refuse(const std::string& message) const;
  [[nodiscard]] std::string shown_name(std::uint32_t name) const;
  void find_launches();
  void find_steps();

  Profile profile_;
  std::map<std::string, std::uint32_t, std::less<>> name_numbers_;
  std::size_t name_bytes_ = 0;
  std::set<std::string, std::less<>> groups_;              ///< communicators
  std::vector<std::int64_t> launch_of_;                    ///< per span
  std::unordered_map<std::int64_t, ClockRange> launches_;  ///< looked up, never walked through
};

}  // namespace orrery
