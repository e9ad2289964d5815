// Collects what the files say about an experiment, key by key, and what became of each key of theirs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/json.hpp"
#include "importers/common/source_keys.hpp"

namespace orrery::importers {

/// Says what became of a key of a file.
enum class Fate : std::uint8_t {
  mapped,         ///< stands in the experiment
  defaulted,      ///< stands in no file: the default of the framework, or a choice of ours
  ignored,        ///< changes nothing that Orrery simulates, or nothing it can say; the note has the reason
  contradictory,  ///< two files, or two keys, say different things
  missing,        ///< nothing gives the value: a variable, an unknown kind of model
};
[[nodiscard]] std::string_view to_string(Fate fate);

/// A line of the report of an import.
struct ImportItem {
  Fate fate = Fate::mapped;
  FilePlace place;      ///< without a file where nothing but a default stands behind it
  std::string key;      ///< as the file calls it
  std::string found;    ///< its value, short and printable
  std::string ours;     ///< the dotted key of an experiment, such as plan.tensor_parallel, or of launch
  std::string note;     ///< the reason, or what would resolve it
  std::string value{};  ///< of `ours`, short, where it is not what the file has

  /// Returns true if the import cannot go on.
  [[nodiscard]] bool stops() const { return fate == Fate::contradictory || fate == Fate::missing; }
};

/// Facts that are no keys of an experiment; combine() makes keys of them.
namespace launch {
inline constexpr const char* kGpus = "launch.gpus";  ///< of the whole job (world size)
inline constexpr const char* kNodes = "launch.nodes";
inline constexpr const char* kGpusPerNode = "launch.gpus_per_node";  ///< processes started on a node
inline constexpr const char* kAccumulation =
    "launch.accumulation_steps";                           ///< micro-batches a replica and step
inline constexpr const char* kModel = "launch.model";      ///< a name, of the catalog or of a hub
inline constexpr const char* kContext = "launch.context";  ///< the longest sequence of the model
inline constexpr const char* kSample = "launch.sample";    ///< tokens of the longest sample of a rollout
inline constexpr const char* kVocabularyMultiple =
    "launch.vocabulary_multiple";                        ///< its size is padded to it
inline constexpr const char* kFamily = "launch.family";  ///< what its library calls the kind of model
// Formats of numbers where requests are served, as the files of quantised weights say:
inline constexpr const char* kServedPrecision = "launch.served_precision";  ///< of products
inline constexpr const char* kServedWeights = "launch.served_weights";      ///< of weights in memory
inline constexpr const char* kServedCache = "launch.served_cache";          ///< of keys and values
inline constexpr const char* kLinks = "launch.links_per_gpu";  ///< NVLinks, of a rate that the GPU decides
inline constexpr const char* kMeasured = "launch.measured";    ///< curves of collectives, by collective
inline constexpr const char* kSockets = "launch.sockets";      ///< true: the NICs have no RDMA
inline constexpr const char* kShardedCopies =
    "launch.sharded_copies";  ///< of what ZeRO shards, over replicas
inline constexpr const char* kMeasuredStep = "launch.measured_step_s";  ///< seconds of the steps of a log
inline const std::string kVariable = "launch.variable.";                ///< and the name: one of a script
}  // namespace launch

class Draft {
 public:
  /// `settled`: keys with values that the user gave, which no file can contradict.
  explicit Draft(std::map<std::string, Json> settled = {});

  /// Takes `value` for the dotted key `ours` from `key`. A later key of the same file replaces an
  /// earlier one; one of another file that differs is contradictory.
  void map(const SourceKey& key, std::string_view ours, Json value, std::string note = "");
  /// Takes the value as it stands.
  void map(const SourceKey& key, std::string_view ours) { map(key, ours, key.value); }
  /// Takes `value` where no file gives one, now or later.
  void default_to(std::string_view ours, Json value, std::string note);
  void ignore(const SourceKey& key, std::string reason);
  void contradict(const SourceKey& key, std::string note);
  /// Says that `key` cannot be read, and what would resolve it.
  void lack(const SourceKey& key, std::string note);
  /// Says that another file fills in `key`, for the dotted key `ours`: missing where none does.
  void await(const SourceKey& key, std::string_view ours, std::string note);
  /// Settles what was awaited: no file comes after.
  void settle_awaited();
  /// Says so unless the user gave `ours`, which resolves it.
  void lack(const SourceKey& key, std::string_view ours, std::string note);
  /// Says that no file gives what is needed for `ours`.
  void lack(std::string_view ours, std::string note);

  /// Returns the value for `ours` so far, null of JSON where there is none.
  [[nodiscard]] const Json& value(std::string_view ours) const;
  [[nodiscard]] bool has(std::string_view ours) const { return !value(ours).is_null(); }
  /// Returns true if a file or the user gives it, and it is no default.
  [[nodiscard]] bool stated(std::string_view ours) const;
  /// Returns the item that gives `ours`; null where there is none.
  [[nodiscard]] const ImportItem* origin(std::string_view ours) const;
  /// Takes what `part`, a draft of one part of a file, has for `keys` (such as plan.) below the key `owner`,
  /// with its items. Of other keys, items other than defaults come along as they are.
  void adopt(const Draft& part, std::string_view owner, std::initializer_list<std::string_view> keys);
  /// Returns what the user gave below the key `owner`, without it.
  [[nodiscard]] std::map<std::string, Json> settled_below(std::string_view owner) const;

  /// Takes the value away, as where it became another key.
  void forget(std::string_view ours);
  /// Takes the value away and reports its key as ignored, for that reason.
  void drop(std::string_view ours, std::string reason);
  /// Returns true if the user gave it (--set), which nothing changes.
  [[nodiscard]] bool settled(std::string_view ours) const;

  /// Returns the dotted keys with their values, sorted by key.
  [[nodiscard]] const auto& facts() const { return facts_; }
  /// Returns the items in the order in which they were found.
  [[nodiscard]] const std::vector<ImportItem>& items() const { return items_; }
  [[nodiscard]] bool stopped() const;

 private:
  struct Fact {
    Json value;
    bool stated = false;
    std::size_t item = 0;
  };

  struct Awaited {
    std::size_t item = 0;
    std::string ours;
  };

  std::size_t add(ImportItem item);

  std::map<std::string, Fact, std::less<>> facts_;
  std::vector<ImportItem> items_;
  std::vector<Awaited> awaited_;
};

}  // namespace orrery::importers
