// Collects the errors that readers and checks find, by JSON pointer. Text positions are added later, once,
// because only wrong input needs them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/error.hpp"

namespace orrery {

/// Reference token of a JSON pointer: "~" and "/" escaped.
std::string pointer_token(std::string_view key);

/// The way from the document to a value, kept on the stack; text is made only on demand.
class Path {
 public:
  Path() = default;
  Path(const Path& parent, std::string_view key) : parent_(&parent), key_(key) {}
  Path(const Path& parent, std::size_t index) : parent_(&parent), index_(index), is_index_(true) {}
  [[nodiscard]] std::string pointer() const;

 private:
  const Path* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
  bool is_index_ = false;
};

/// Says if a finding is about a value or about the key itself.
enum class Anchor { value, key };

struct Finding {
  std::string pointer;
  Anchor anchor = Anchor::value;
  std::string message;
  bool not_modelled = false;  ///< as in Diagnostic
  bool idle = false;          ///< as in Diagnostic
  Diagnostic place{};         ///< where it stands, if not in the experiment: has a source
};

/// Collects findings, at most kLimit of them, and counts the others.
class Findings {
 public:
  static constexpr std::size_t kLimit = 100;

  void add(std::string pointer, std::string message, Anchor anchor = Anchor::value) {
    keep({std::move(pointer), anchor, std::move(message)});
  }
  void add(const Path& path, std::string message, Anchor anchor = Anchor::value) {
    if (has_room()) keep({path.pointer(), anchor, std::move(message)});
  }
  /// Adds a finding of a later step, by its pointer.
  void add(const Diagnostic& diagnostic) {
    keep({diagnostic.pointer, Anchor::value, diagnostic.message, diagnostic.not_modelled, diagnostic.idle});
  }
  /// Something wrong in another text, at `place`.
  void add_at(const Diagnostic& place, std::string message) {
    keep({place.pointer, Anchor::value, std::move(message), false, false, place});
  }
  /// Something the interface knows but nothing models yet.
  void add_not_modelled(const Path& path, std::string message, Anchor anchor = Anchor::value) {
    if (has_room()) keep({path.pointer(), anchor, std::move(message), true});
  }
  /// A value that does nothing beside the others.
  void add_idle(std::string pointer, std::string message) {
    keep({std::move(pointer), Anchor::value, std::move(message), false, true});
  }
  /// Returns true if one more finding would be kept. Otherwise it is counted, so that its text need not be
  /// written.
  [[nodiscard]] bool has_room() {
    if (list_.size() < kLimit) return true;
    ++left_out_;
    return false;
  }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<Finding>& list() const { return list_; }
  /// Returns the number of findings beside those in list().
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  void keep(Finding finding) {
    if (has_room()) list_.push_back(std::move(finding));
  }

  std::vector<Finding> list_;
  std::size_t left_out_ = 0;
};

}  // namespace orrery
