// Tracks how each key of an experiment is exported to a framework: tables of keys, and the report that is
// filled in from them. Internal to emit/.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// Keeps keys in their order.
using EmitJson = nlohmann::ordered_json;

/// Something that the framework is told: an argument ("--seq-length"), or the path of a key
/// ("training.seq_len").
struct Setting {
  std::string path;
  EmitJson value;
};

/// Holds the outcome of exporting one key of the experiment.
struct Entry {
  enum class ExportOutcome { open, set, usual, idle, lacking };

  std::string key;    ///< "plan.tensor_parallel"
  std::string value;  ///< as an experiment has it
  ExportOutcome fate = ExportOutcome::open;
  std::vector<Setting> settings;
  std::string remark;  ///< a note on the settings, or the reason why there are none

  void set(std::string path, EmitJson setting) {
    settings.push_back({std::move(path), std::move(setting)});
    fate = ExportOutcome::set;
  }
  /// An argument without a value.
  void raise(std::string argument) { set(std::move(argument), true); }
  void note(std::string_view text) {
    if (!remark.empty()) remark += "; ";
    remark += text;
  }
  /// The framework does so without being told.
  void usual(std::string_view why = "") { settle(ExportOutcome::usual, why); }
  /// The key does nothing beside the others, or is no matter of the framework.
  void idle() { settle(ExportOutcome::idle, ""); }
  /// The framework has nothing like it, or not with this value.
  void lacks(std::string_view why) { settle(ExportOutcome::lacking, why); }

 private:
  void settle(ExportOutcome how, std::string_view why) {
    if (fate != ExportOutcome::set) fate = how;
    if (!why.empty()) note(why);
  }
};

/// Holds the inputs of a row.
struct Subject {
  const Experiment& e;
  const Plan& plan;
  const Model& model;

  explicit Subject(const Experiment& experiment)
      : e(experiment), plan(experiment.plan), model(experiment.model) {}
  [[nodiscard]] bool has_experts() const { return model.kind == ModelKind::moe_transformer; }
  [[nodiscard]] bool pipelined() const { return plan.pipeline_parallel > 1; }
  [[nodiscard]] bool shares_sequences() const { return plan.context_parallel > 1; }
  [[nodiscard]] bool replicated() const { return plan.data_parallel > 1; }
};

/// Describes how a framework expresses a key. If `write` is null, the value is copied into `setting`; a flag
/// that is off counts as the framework's default.
struct KeyRow {
  std::string_view key;
  std::string_view setting;
  void (*write)(const Subject&, const EmitJson& value, Entry& out) = nullptr;
  std::string_view lacking;  ///< why there is no setting

  static constexpr KeyRow same(std::string_view key, std::string_view setting) {
    return {key, setting, nullptr, ""};
  }
  static constexpr KeyRow by(std::string_view key, void (*write)(const Subject&, const EmitJson&, Entry&)) {
    return {key, "", write, ""};
  }
  static constexpr KeyRow lacks(std::string_view key, std::string_view why) {
    return {key, "", nullptr, why};
  }
};

/// Rows that no framework here has a setting for but where the value is the usual one.
void whole_loss(const Subject& s, const EmitJson& value, Entry& out);
void wide_weights(const Subject& s, const EmitJson& value, Entry& out);

/// Collects the keys of an experiment and how each is exported.
class ExportReport {
 public:
  /// @throws std::logic_error for a key without a row, or a row that leaves its key open: a mistake in
  /// `rows`.
  ExportReport(const Experiment& experiment, std::span<const KeyRow> rows);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Gives settings other paths.
  void rename(std::string (*renamed)(const std::string& path));
  /// Returns the heading comments of a file of `framework`, each line after "# ".
  [[nodiscard]] std::string heading(std::string_view framework, std::string_view how) const;
  /// Comments on all keys without a setting, by reason.
  [[nodiscard]] std::string remainder(std::string_view framework) const;

 private:
  const Experiment& experiment_;
  std::vector<Entry> entries_;
};

/// The keys of a framework's table.
std::span<const KeyRow> megatron_rows();
std::span<const KeyRow> megatron_model_rows();  ///< of those, the ones of model and training
void megatron_recompute(const Subject& s, const EmitJson& value, Entry& out);  ///< its row of plan.recompute
std::span<const KeyRow> torchtitan_rows();
std::span<const KeyRow> deepspeed_rows();
std::span<const KeyRow> nemo_rows();

std::string write_megatron(const Experiment& experiment);
std::string write_torchtitan(const Experiment& experiment);
std::string write_deepspeed(const Experiment& experiment);
std::string write_nemo(const Experiment& experiment);

/// An array of the shell with a line for each setting that is an argument.
std::string shell_arguments(std::string_view name, const ExportReport& sheet);
/// A word that the shell takes as it is.
std::string shell_quoted(std::string_view text);
/// The other settings: objects within objects, by the parts of their paths.
std::string settings_as_json(const ExportReport& sheet);
/// Comments that say which keys those come from, as JSON has none.
std::string settings_as_comments(const ExportReport& sheet);
std::string settings_as_toml(const ExportReport& sheet);
std::string settings_as_yaml(const ExportReport& sheet);

}  // namespace orrery
