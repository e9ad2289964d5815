// Readers of the parts of an experiment: resolved JSON to validated values. Internal to config/.
#pragma once

#include "config/schema/read_fields.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

// In these readers `value` is resolved: no names, no bases. A result may be used only if there are no
// findings.

/// Finds widths of a kind of layer that no layer has.
void check_kinds_of_layers(const Model& model, const Path& path, Findings& findings);
/// Reads the content of each layer if `value` gives it; the rest of the model must have been read.
void read_layer_pattern(const Json& value, Model& model, const Path& path, Scope& scope);
Model read_model(const Json& value, const Path& path, Scope& scope);
Cluster read_cluster(const Json& value, const Path& path, Scope& scope);
void read_problem(const Json& value, LearningProblem& problem, const Path& path, Scope& scope);
/// @param model  of the experiment, for the longest request
/// @param experiment  with its model, cluster and stack
Inference read_inference(const Json& value, const Experiment& experiment, const Path& path, Scope& scope);
/// Reads the lengths under the key of `field` in `owner`: a number, or an object. `path` leads to `owner`.
/// @param why  that needs them, as report_missing() says it
void read_token_lengths(const Json& owner, const FieldInfo& field, std::string_view why,
                        TokenLengths& lengths, const Path& path, Scope& scope);
/// A CSV file of requests, none longer than `context` tokens; nothing after a finding. `path` leads to its
/// name.
RequestTrace read_request_trace(const std::string& file, std::int64_t context, const Path& path,
                                Scope& scope);
Regions read_regions(const Json& value, const Path& path, Scope& scope);
/// Reads the keys of a plan; defaults that depend on model and cluster come from `complete_plan`.
Plan read_plan(const Json& value, const Path& path, Scope& scope);

/// Reads the synchronisation. complete_plan(), which knows the rest, checks if its keys fit together.
DataParallelSync read_sync(const Json& value, const Path& path, Scope& scope);

/// Fills in the plan's missing keys and reports contradictions between plan, model and cluster.
/// `plan` is the object the plan was read from. Call it only without findings.
void complete_plan(Experiment& experiment, const Json& plan, const Menus& menus, Findings& findings);

/// Fills in which communication runs beside compute, where `plan`, the object the plan was read from, leaves
/// it open; after the degrees are complete.
void complete_overlap(Experiment& experiment, const Json& plan, const Menus& menus, Findings& findings);
/// Completes the overlap of synchronisation after the plan is complete: if the software overlaps gradients,
/// models of gossip are sent by bucket too, beside the same backward pass. `sync` is the object that the
/// synchronisation was read from.
void complete_sync_overlap(Experiment& experiment, const Json& sync);

/// Fills in and checks how many samples a plan of known degrees has, and each replica; whether they are
/// sound. `given` is the object the plan was read from.
bool complete_batch(Plan& plan, const Json& given, const ReportProblem& complain);

/// Fills in the keys of ZeRO that the plan leaves open and reports those that contradict others or have no
/// effect; call it after the degrees are complete.
void complete_sharding(Experiment& experiment, const Json& plan, Findings& findings);

/// Reports contradictions in `sync`, the object of data_parallel_sync; call it after complete_plan(). Keys
/// without effect under the method are idle, and mistakes if the command line set them (`set` has its
/// pointers): a file may have the keys of several methods, to vary between them.
void check_sync(const Experiment& experiment, const Json& sync, const std::vector<std::string>& set,
                Findings& findings);

/// Reports obstacles to `loss_chunks` or `frozen_precision` in this experiment.
void check_pieces(const Experiment& experiment, Findings& findings);
/// Reports gossip that would take too long or too much memory to simulate, `weights` those of the model.
void check_gossip(const Experiment& experiment, double weights, Findings& findings);
/// Reports algorithms that can do their collective in no group of ranks of this cluster.
void check_collectives(const Experiment& experiment, Findings& findings);

/// Reports contradictions and training keys in an experiment that serves requests; `root` is the document it
/// was read from. Call it after complete_plan().
void check_inference(const Experiment& experiment, const Json& root, Findings& findings);

struct CatalogData;

/// Reports values of a valid experiment that look like another unit, or change nothing.
void warn_of_oddities(const Experiment& experiment, const CatalogData& catalog, Findings& warnings);
/// Reports keys that are set and do nothing beside the others.
void warn_of_idle_keys(const Experiment& experiment, Findings& warnings);

/// Reports software keys in the document of an experiment that its kind of run, serving or training, does not
/// use.
void warn_of_idle_software(const Json& root, bool serves, Findings& warnings);

/// Returns the training steps after which the actions of the experiment's synchronisation method repeat; call
/// it after complete_plan(). @throws InputError at /data_parallel_sync/... if its graph cannot be built.
std::int64_t usual_steps(const Experiment& experiment);

/// Reports experiments whose figures might leave 64-bit integers or the simulator's reach.
void check_size(const Experiment& experiment, Findings& findings);

}  // namespace orrery
