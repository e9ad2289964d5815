// Variables of a script of the shell, and texts with their values in place.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/placed_text.hpp"
#include "importers/common/shell_tokens.hpp"

namespace orrery::importers {

/// Holds what is known of variables. What has no value stays in a text as ${NAME}: NAME is then the variable
/// that a user has to give.
class ShellVariables {
 public:
  /// `given`: what the user says, over all that the script says. `path` is for errors.
  ShellVariables(std::map<std::string, std::string> given, std::string path);

  /// Sets a variable to the elements of a list, or to one text. Nothing that the user gave changes.
  void set(const std::string& name, std::vector<PlacedText> elements, bool list);
  /// Adds elements to a list, or text to a text (NAME+=...).
  void add(const std::string& name, std::vector<PlacedText> elements, bool list);
  /// Says that its value depends on `cause`, which has none.
  void doubt(const std::string& name, const std::string& cause);
  void clear(const std::string& name) { values_.erase(name); }

  /// Returns the text of a word with values in place, without quotes: one text, or several where a list or
  /// blanks of values cut it.
  [[nodiscard]] std::vector<PlacedText> words(const PlacedText& word);
  /// Returns it as one text.
  [[nodiscard]] PlacedText text(const PlacedText& word, bool quotes = true);
  /// Returns the value as text, if the variable has one without any other that has none.
  [[nodiscard]] std::optional<std::string> known(const std::string& name) const;
  [[nodiscard]] std::optional<std::int64_t> arithmetic(std::string_view expression);
  /// Returns true if the script, or the user, sets it, whether it has a value or not.
  [[nodiscard]] bool contains(const std::string& name) const { return values_.contains(name); }
  /// Returns true if it is one of the script's own arguments ($1), which are empty where none is given.
  [[nodiscard]] bool is_positional(const std::string& name) const { return positional_.contains(name); }

 private:
  struct Value {
    std::vector<PlacedText> elements;
    bool list = false;
  };
  struct Expansion;

  void expand(const PlacedText& word, bool quotes, Expansion& out, int depth);
  std::size_t expand_dollar(const PlacedText& word, std::size_t at, bool quoted, Expansion& out, int depth);
  void expand_braced(std::string_view inside, const PlacedText& whole, bool quoted, Expansion& out,
                     int depth);
  void expand_name(const std::string& name, bool quoted, bool all, std::size_t offset, Expansion& out);
  void spend(std::size_t characters);

  std::map<std::string, Value> values_;
  std::set<std::string> given_;
  std::set<std::string> positional_;
  std::string path_;
  std::size_t spent_ = 0;
};

}  // namespace orrery::importers
