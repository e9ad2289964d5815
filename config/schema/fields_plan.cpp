#include "config/schema/fields.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kShardings{"NO_OP", "OPTIMIZER_STATES",
                                                     "OPTIMIZER_STATES_AND_GRADIENTS", "FULLY_SHARD"};
constexpr std::array<std::string_view, 2> kPartitions{"column", "row"};
constexpr std::array<std::string_view, 1> kAutomatic{"auto"};
constexpr std::array<std::string_view, 7> kAlgorithms{"ring",   "tree", "halving-doubling", "hierarchical",
                                                      "direct", "nvls", "nvls-tree"};
constexpr std::array<std::string_view, 2> kNetworks{"alpha-beta", "flow"};
constexpr std::array<std::string_view, 2> kFoldings{"auto", "off"};
constexpr std::array<std::string_view, 2> kDetails{"layer", "stage"};

constexpr std::array kMoments{Precision::fp32, Precision::fp16, Precision::bf16, Precision::fp8};
constexpr std::array<std::string_view, kMoments.size()> kMomentNames{"fp32", "fp16", "bf16", "fp8"};
constexpr std::array<std::string_view, 3> kMainWeightNames{"fp32", "fp16", "none"};
constexpr std::array<std::optional<Precision>, 3> kMainWeights{Precision::fp32, Precision::fp16,
                                                               std::nullopt};

void set_partition(Plan& plan, const std::vector<std::size_t>& cuts) {
  for (const std::size_t cut : cuts) plan.tensor_partition.push_back(static_cast<MatrixPartition>(cut));
}

void set_modules(Plan& plan, const std::vector<std::size_t>& modules) {
  plan.recompute_modules = {};
  for (const std::size_t module : modules) plan.recompute_modules.add(static_cast<Module>(module));
}

/// That need no object.
constexpr std::span kRecomputeWords = std::span(kRecomputeNames).first<3>();

}  // namespace

const std::vector<Field<Plan>>& plan_fields() {
  using T = FieldTable<Plan>;
  static const std::vector<Field<Plan>> fields{
      T::nested("base", "auto: keys that are not given are those of the best plan that orrery plan finds"),
      T::integer("tensor_parallel", 1, kMaxGpus, &Plan::tensor_parallel, "1",
                 "ranks that share every matrix"),
      T::integer("pipeline_parallel", 1, kMaxGpus, &Plan::pipeline_parallel, "1",
                 "ranks that share the layers"),
      T::integer("data_parallel", 1, kMaxGpus, &Plan::data_parallel, "GPUs / (tensor x pipeline)",
                 "replicas"),
      T::integer("context_parallel", 1, kMaxGpus, &Plan::context_parallel, "1",
                 "ranks that share sequences, each with part of their tokens"),
      T::choice(
          "context_parallel_type", {kContextParallelTypeNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.context_parallel_type = static_cast<ContextParallelType>(i); },
          "ring",
          "keys and values go around or are gathered, tokens are exchanged for heads, or both "
          "(hierarchical)"),
      T::integer("hierarchical_context_parallel_size", 1, kMaxGpus, &Plan::hierarchical_context_parallel_size,
                 "context ranks in a node", "hierarchical: ranks of a group that exchanges tokens for heads"),
      T::integer("sub_seq_length", 1, kMaxTokens, std::monostate{}, "seq_length / context_parallel",
                 "tokens of a sequence on each rank that shares it, in place of context_parallel"),
      T::integer("expert_parallel", 1, kMaxGpus, &Plan::expert_parallel, "1",
                 "ranks of a stage that share the experts of a layer"),
      T::integer("expert_tensor_parallel", 1, kMaxGpus, &Plan::expert_tensor_parallel, "tensor_parallel",
                 "ranks of a stage that share the matrices of an expert"),
      T::choice(
          "dispatcher", {kDispatcherNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.dispatcher = static_cast<Dispatcher>(i); }, "all-to-all",
          "how tokens get to their experts: straight, over nodes first, or with one copy to each node"),
      T::number("capacity_factor", "", 0, 1e6, &Plan::capacity_factor, "0",
                "an expert takes so many times its mean share of tokens, the others are dropped; 0: all"),
      T::choice(
          "token_imbalance", {kTokenImbalanceNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.token_imbalance = static_cast<TokenImbalance>(i); }, "uniform",
          "how unequally tokens choose experts; a list is a token_histogram"),
      T::flag("overlap_expert_parallel", &Plan::overlap_expert_parallel, "with dualpipe and dualpipe-v",
              "passes of two micro-batches side by side: one computes while tokens of the other travel"),
      T::flag("overlap_shared_experts", &Plan::overlap_shared_experts, "false",
              "shared experts compute while tokens travel to the other experts and back"),
      T::integers("token_histogram", 0, 1e12, &Plan::token_histogram, "none",
                  "tokens of each expert, with token_imbalance histogram"),
      T::flag("sequence_parallel", &Plan::sequence_parallel, "false",
              "tensor ranks split norms and dropout along the sequence"),
      T::integer("micro_batch_size", 1, kMaxBatch, &Plan::micro_batch_size, "1", "samples"),
      T::integers("replica_batch_sizes", 1, kMaxBatch, &Plan::replica_batch_sizes,
                  "global_batch_size / data_parallel each",
                  "samples of each replica; auto: by how fast its GPUs are")
          .or_one_of(kAutomatic),
      T::integer("global_batch_size", 1, kMaxBatch, &Plan::global_batch_size,
                 "data_parallel x micro_batch_size", "samples over all replicas and micro-batches"),
      T::choice("pipeline_schedule", {{}, &Menus::pipeline_schedules, {}}, &Plan::pipeline_schedule, "1f1b",
                "order of forward and backward passes"),
      T::integer("virtual_stages", 1, kMaxLayers, &Plan::virtual_stages, "1; 2 with the schedules of a V",
                 "model chunks per pipeline rank"),
      T::integer("micro_batch_group_size", 1, kMaxBatch, &Plan::micro_batch_group_size, "pipeline_parallel",
                 "interleaved: micro-batches that go through a chunk in a row"),
      T::integer("warmup_micro_batches", 1, kMaxBatch, &Plan::warmup_micro_batches, "as the schedule says",
                 "forward passes of the first pipeline rank before it alternates"),
      T::integers("stage_layers", 0, kMaxLayers, &Plan::stage_layers,
                  "as many each; where they do not divide the last and the first ones have one fewer",
                  "layers of each stage; with virtual stages, of each chunk; auto: as the slowest is fastest")
          .or_one_of(kAutomatic),
      T::nested("recompute",
                "activations computed again in the backward pass: none | selective | full, or an object with "
                "modules, layers, method, stage_layers"),
      T::integer("zero_stage", 0, 3, &Plan::zero_stage, "0",
                 "sharded over replicas: 1 optimizer states, 2 gradients too, 3 parameters too"),
      T::choice(
          "sharding", {kShardings, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.zero_stage = static_cast<int>(i); }, "by zero_stage",
          "another name for zero_stage 0 to 3"),
      T::integer(
          "zero_group_size", 1, kMaxGpus, &Plan::zero_group_size,
          "data_parallel, or as the software stack does",
          "replicas that share one copy of what ZeRO shards (hybrid sharding); auto: all of them or those "
          "of a node, as the step is faster")
          .or_one_of(kAutomatic),
      T::choice(
          "gradient_reduction", {kGradientReductionNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.gradient_reduction = static_cast<GradientReduction>(i + 1); },
          "every-step; every-micro-batch from zero_stage 2 on",
          "when gradients are summed over replicas: added up whole first, or with each micro-batch"),
      T::flag("reshard_after_forward", &Plan::reshard_after_forward, "true",
              "ZeRO-3: parameters are dropped after a forward pass and gathered again for the backward pass"),
      T::integer("prefetch", 0, kMaxLayers, &Plan::prefetch, "1 with overlap_parameter_gather, else 0",
                 "ZeRO-3: units gathered ahead of the one that runs"),
      T::integer("fsdp_unit_layers", 1, kMaxLayers, &Plan::fsdp_unit_layers, "1",
                 "ZeRO-3: layers that are gathered and reduced together"),
      T::flag("overlap_gradient_reduce", &Plan::overlap_gradient_reduce, "as the software stack does",
              "reduce a bucket while the backward pass goes on"),
      T::flag("overlap_parameter_gather", &Plan::overlap_parameter_gather, "as the software stack does",
              "ZeRO: gather parameters ahead of their use"),
      T::flag("overlap_tensor_parallel", &Plan::overlap_tensor_parallel, "as the software stack does",
              "weight gradients while input gradients are reduced"),
      T::flag("overlap_tensor_chunks", &Plan::overlap_tensor_chunks,
              "overlap_tensor_parallel with sequence_parallel, where tensor ranks share an NVLink domain",
              "products work chunk by chunk and hide a share of their collectives (software.tensor_overlap)"),
      T::choice(
          "cuda_graphs", {kCudaGraphsNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.cuda_graphs = static_cast<CudaGraphs>(i); },
          "none, or step with inference on stacks of engines of 2025 and 2026",
          "what is launched as CUDA graphs: the parts of each layer but the experts, or the whole step"),
      T::flag("scatter_gather", &Plan::scatter_gather, "true", "tensor ranks send 1/t of an activation each"),
      T::number("bucket_mb", "MB", 0, 1e7, &Plan::bucket_mb, "40",
                "gradient bucket, 1e6 bytes; 0: one bucket"),
      T::nested("collectives", "an object with an algorithm per collective"),
      T::text("rank_order", &Plan::rank_order, "dimensions, innermost first; tp-cp-ep-dp-pp by default"),
      T::choice(
          "precision", {kPrecisionNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.precision = static_cast<Precision>(i); },
          "bf16; fp16 where the GPU has no bf16", "of matrix products"),
      T::nested("wire_precision", "an object with precisions of what is communicated, by dimension"),
      T::choice(
          "optimizer", {kOptimizerNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.optimizer = static_cast<Optimizer>(i); },
          "adam; sgd-momentum for convnets on pytorch-ddp",
          "what is kept of each trained parameter, and updated"),
      T::integer(
          "loss_chunks", 1, 4096, &Plan::loss_chunks, "1",
          "pieces of the tokens that go through output projection, loss and gradients one after the other"),
      T::choice(
          "frozen_precision", {kFrozenPrecisionNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.frozen_precision = static_cast<FrozenPrecision>(i); },
          "as-computed",
          "with LoRA: what the weights of layers, which are not trained, are kept in (QLoRA: nf4)"),
      T::choice(
          "offload", {kOffloadNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.offload = static_cast<Offload>(i); }, "none",
          "what lies in the memory of the host: states of the optimizer, or activations of layers"),
      T::number("offload_fraction", "", 0, 1, &Plan::offload_fraction, "1",
                "share of the parameters, or of the layers of a stage, that is offloaded"),
      T::choice(
          "moment_precision", {kMomentNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.moment_precision = kMoments[i]; }, "fp32",
          "of the optimizer's moments"),
      T::choice(
          "main_weight_precision", {kMainWeightNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.main_weight_precision = kMainWeights[i]; }, "fp32",
          "of the copy of 16-bit parameters that is updated; none: they are updated themselves"),
      T::choices("tensor_partition", {kPartitions, nullptr, {}}, set_partition, "column, row, column, ...",
                 "how each matrix of an mlp is cut")
          .only("mlp"),
  };
  return fields;
}

const Field<Plan>& recompute_field() {
  static const Field<Plan> field = FieldTable<Plan>::choice(
      "recompute", {kRecomputeWords, nullptr, {}},
      +[](Plan& p, std::size_t i) { p.recompute = static_cast<Recompute>(i); }, "none",
      "activations computed again in the backward pass");
  return field;
}

const std::vector<Field<Plan>>& recompute_fields() {
  using T = FieldTable<Plan>;
  static const std::vector<Field<Plan>> fields{
      T::choices("modules", {kModuleNames, nullptr, {}}, set_modules, "[layer]",
                 "parts of a layer that are computed again"),
      T::integer("layers", 1, kMaxLayers, &Plan::recompute_layers, "1 with uniform, all with block",
                 "layers in a group of which only the input is kept (uniform), or of each stage (block)"),
      T::choice(
          "method", {kRecomputeMethodNames, nullptr, {}},
          +[](Plan& p, std::size_t i) { p.recompute_method = static_cast<RecomputeMethod>(i); },
          "uniform for whole layers, else block",
          "uniform: all layers, in groups; block: the first ones of each (virtual) stage"),
      T::integers("stage_layers", 0, kMaxLayers, &Plan::recompute_stage_layers, "layers of each",
                  "block: how many layers of each (virtual) stage are computed again"),
  };
  return fields;
}

const FieldInfo& algorithm_field() {
  static const FieldInfo field =
      FieldTable<Plan>::choice("collectives", {kAutomatic, &Menus::collective_algorithms, kAlgorithms},
                               std::monostate{}, "auto", "algorithm of one collective");
  return field;
}

const std::vector<Field<SimulationOptions>>& simulation_fields() {
  using S = SimulationOptions;
  using T = FieldTable<S>;
  static const std::vector<Field<S>> fields{
      T::choice(
          "network", {kNetworks, nullptr, {}},
          +[](S& s, std::size_t i) { s.network = static_cast<Network>(i); }, "flow",
          "alpha-beta: transfers do not disturb each other; flow: they share links"),
      T::choice(
          "folding", {kFoldings, nullptr, {}},
          +[](S& s, std::size_t i) { s.folding = static_cast<Folding>(i); }, "auto",
          "auto simulates ranks that cannot differ once"),
      T::choice(
          "detail", {kDetails, nullptr, {}}, +[](S& s, std::size_t i) { s.detail = static_cast<Detail>(i); },
          "layer", "what a task is: what a layer does, or a whole pass through a stage"),
      T::integer("steps", 1, 1e4, &S::steps, "1, or until what data_parallel_sync does repeats itself",
                 "training steps"),
      T::integer("seed", 0, 9007199254740992.0, &S::seed, "0", "of everything random"),
  };
  return fields;
}

const std::vector<Field<Training>>& training_fields() {
  using T = FieldTable<Training>;
  static const std::vector<Field<Training>> fields{
      T::integer("tokens", 1, 9007199254740992.0, &Training::tokens, "none",
                 "tokens of the whole training run"),
      T::integer("samples", 1, 9007199254740992.0, &Training::samples, "none",
                 "samples of the whole training run, in place of tokens"),
      T::choice(
          "data", {kDataInputNames, nullptr, {}},
          +[](Training& t, std::size_t i) { t.data = static_cast<DataInput>(i); },
          "loaded with tokens or samples, else synthetic",
          "what a step is fed with: made once on the GPU, or read and prepared by the host for each step"),
  };
  return fields;
}

const std::vector<Field<Accuracy>>& accuracy_fields() {
  using T = FieldTable<Accuracy>;
  static const std::vector<Field<Accuracy>> fields{
      T::number("target", "", 1e-12, 1, &Accuracy::target, "none",
                "squared norm of the gradient to reach, mean over the steps"),
      T::number("noise", "", 0, 1e9, &Accuracy::noise, "1", "standard deviation of a stochastic gradient"),
      T::number("heterogeneity", "", 0, 1e9, &Accuracy::heterogeneity, "0",
                "distance of the replicas' gradients from their mean; 0: all draw from one data set"),
      T::choice(
          "noise_of", {kNoiseOfNames, nullptr, {}},
          +[](Accuracy& a, std::size_t i) { a.noise_of = static_cast<NoiseOf>(i); }, "replica",
          "whose gradient noise is of: a replica's in one step, or a sample's"),
  };
  return fields;
}

const std::vector<Field<Experiment>>& experiment_fields() {
  using T = FieldTable<Experiment>;
  static const std::vector<Field<Experiment>> fields{
      T::text("name", &Experiment::name, "shown in reports"),
      T::nested("id", "a text or an integer that batches repeat in their answers"),
      T::nested("model", "the name of a catalog model, or an object"),
      T::nested("cluster", "the name of a catalog cluster, or an object"),
      T::nested("plan",
                "an object; everything is 1 or off by default. auto, or an object with base auto: the best "
                "plan that "
                "orrery plan finds, as where none is given and the simplest does not fit"),
      T::nested("data_parallel_sync", "an object with method, topology, period, compression, ..."),
      T::nested("simulation", "an object with network, folding, detail, steps, seed"),
      T::nested("training", "an object with tokens or samples, for the days the whole run takes"),
      T::nested("inference",
                "an object with prompt_tokens, output_tokens, batch_size or requests_per_s, ...: "
                "requests are served in place of training steps"),
      T::nested("post_training",
                "an object: a step of reinforcement learning from rollouts in place of one of training"),
      T::nested(
          "run",
          "an object with steps or tokens, checkpoint, failures, recovery, ...: weeks of training, which "
          "orrery run simulates"),
      T::nested("jobs",
                "a list of jobs that share the cluster, or a file of them; orrery jobs simulates them, each "
                "with a model and a plan of its own"),
      T::nested("placement", "of jobs: which GPUs they get"),
      T::nested("queueing", "of jobs: which one is next"),
      T::nested("preemption", "of jobs: an object with checkpoint_s, restart_s, slice_s"),
      T::nested("accuracy", "an object with target, for the steps and the time until it is reached"),
      T::nested("problem", "an object: what `converge` learns; logistic regression by default"),
      T::nested("software", "an object with what the training framework costs; from the stack's calibration"),
      T::text(
          "stack", &Experiment::stack,
          "software generation whose calibration applies: a calibration of software; default: the usual one "
          "of such models (nemo-2024; pytorch-ddp of convnets, huggingface-ddp of encoders), with inference "
          "vllm-2025"),
  };
  return fields;
}

}  // namespace orrery
