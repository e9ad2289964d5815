// A config.json on its way into a draft: facts of the model with the keys that gave them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/common/draft.hpp"
#include "importers/models/config_keys.hpp"
#include "importers/models/family.hpp"
#include "orrery/layer.hpp"

namespace orrery::importers::models {

/// A value of a key of ours. Without keys it is what the family does.
struct ModelFact {
  Json value;
  Keys keys;
  std::string note;
};

class ModelReading {
 public:
  ModelReading(const Family& of, ConfigKeys& from, Draft& into, bool may_approximate);

  const Family& family;
  ConfigKeys& keys;
  BlockTraits block;             ///< of the family, as keys change it
  std::vector<LayerRun> layers;  ///< one by one; empty until there is a number of them

  /// Takes a value of the family for a key of model, or of launch::*. An earlier value of it is replaced, and
  /// its keys count as keys of this one.
  void set(std::string_view ours, Json value, std::string note) {
    set(ours, std::move(value), Keys{}, std::move(note));
  }
  /// Takes a value that keys give.
  void set(std::string_view ours, Json value, Keys from, std::string note = "");
  /// Takes the value of the first of the names that has one as it stands. Returns true if there is one.
  bool set_from(std::string_view ours, Names names, std::string note = "");
  /// Takes the value of the first of the names that has one; others of them may differ, and change nothing.
  void set_first(std::string_view ours, Names names);
  /// Takes the value of one key of ours, with its keys, for another.
  void rename(std::string_view from, std::string_view to, std::string note);
  /// Takes a value away; its keys change nothing for that reason.
  void forget(std::string_view ours, const std::string& reason);
  [[nodiscard]] const Json& value(std::string_view ours) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view ours) const;
  [[nodiscard]] std::int64_t count_or(std::string_view ours, std::int64_t otherwise) const;
  [[nodiscard]] const std::map<std::string, ModelFact>& facts() const { return facts_; }

  /// Says that a value is missing, and what would give it.
  void lack(const std::string& ours, const std::string& note) { draft_.lack("model." + ours, note); }
  /// Says that keys change nothing.
  void ignore(const Keys& idle, const std::string& reason);
  /// Says that a thing cannot be said. Returns true if the nearest is to be taken.
  bool cannot(const Keys& because, const std::string& what, const std::string& nearest);
  /// Counts parameters that no other key of a model has.
  void add_parameters(std::int64_t number, const std::string& of);
  /// Does something for each layer, in order.
  template <class Change>
  void each_layer(const Change& change) {
    for (std::size_t i = 0; i < layers.size(); ++i) change(static_cast<std::int64_t>(i), layers[i]);
  }

  /// Puts all facts into the draft, in the order of the file, and then those of the family.
  void write();

 private:
  void write_mapped();

  Draft& draft_;
  bool may_approximate_;
  std::map<std::string, ModelFact> facts_;
  Json other_parameters_ = 0;
  std::string other_note_;
};

}  // namespace orrery::importers::models
