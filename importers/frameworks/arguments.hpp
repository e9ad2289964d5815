// Arguments of a framework, under the names that its table here has for them, and what became of each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/common/importer.hpp"
#include "importers/common/source_keys.hpp"
#include "importers/common/values.hpp"

namespace orrery::importers::frameworks {

/// `name` is Megatron's, with underscores; `source` is what the file has, for the report.
struct LaunchArgument {
  std::string name;
  Json value;
  SourceKey source;
};

/// Reads arguments one by one: each is answered for once, as what it became or why it changes nothing, and
/// rest() answers for the others.
class LaunchArguments {
 public:
  LaunchArguments(const ImportContext& context, Draft& draft) : context_(context), draft_(draft) {}

  /// An argument that is given again replaces the one before, which is reported.
  void add(LaunchArgument argument);

  /// Returns the argument. Null where it is missing, has no value, or has one with an unresolved variable,
  /// which is reported as missing unless the user gives `ours`.
  const LaunchArgument* take(std::string_view name, std::string_view ours = "");
  /// Takes the argument as a whole number from `least` on, such as 8, "8", 5e8; reports any other value.
  std::optional<std::int64_t> take_count(std::string_view name, std::int64_t least = 1);
  /// Takes the argument as a flag: nothing where it is missing.
  std::optional<bool> take_flag(std::string_view name);
  /// Takes the argument as text in lower case, "" where it is missing.
  std::string take_text(std::string_view name);
  /// Takes the value as it stands for the key `ours`.
  void map(std::string_view name, std::string_view ours);
  /// Takes a whole number for the key `ours`.
  void map_count(std::string_view name, std::string_view ours, std::int64_t least = 1);
  /// Takes a flag for the key `ours`.
  void map_flag(std::string_view name, std::string_view ours);
  /// Reports the argument, if there is one, as the origin of `ours`.
  void became(std::string_view name, std::string_view ours, Json value, std::string note = "");
  /// Reports the argument as without effect, unless it is answered for already.
  void ignore(std::string_view name, std::string_view reason);
  /// Reports that an experiment cannot say `what`: stops the import, or notes `nearest` with --approximate.
  void refuse(std::string_view name, std::string_view what, std::string_view nearest);

  /// Counts the argument as answered for: whoever calls it reports it.
  void answered(std::string_view name) { answer(name); }
  [[nodiscard]] bool answers(std::string_view name) const { return answered_.contains(name); }

  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const LaunchArgument* find(std::string_view name) const;
  /// Reports all that nobody answered for: the reason of `reason_of`, which returns "" for a name it does not
  /// know.
  void rest(std::string_view (*reason_of)(std::string_view name));

  /// Returns all arguments, replaced ones too.
  [[nodiscard]] const std::vector<LaunchArgument>& list() const { return list_; }
  [[nodiscard]] Draft& draft() { return draft_; }
  [[nodiscard]] const ImportContext& context() const { return context_; }

 private:
  /// Returns true if nobody answered for `name` before.
  bool answer(std::string_view name) { return answered_.insert(std::string(name)).second; }

  const ImportContext& context_;
  Draft& draft_;
  std::vector<LaunchArgument> list_;
  std::map<std::string, std::size_t, std::less<>> last_;
  std::set<std::string, std::less<>> answered_;
};

/// A name of another framework, or an older one, for a name of the table here.
struct Spelling {
  std::string_view theirs;
  std::string_view name;
  bool negated = false;  ///< true there is false here
};

/// Returns the argument that `key` of a file is.
[[nodiscard]] LaunchArgument respelled(const SourceKey& key, const std::string& name, const Spelling* first,
                                       std::size_t count);

}  // namespace orrery::importers::frameworks
