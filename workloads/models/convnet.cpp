// Builds a convolutional network of which only its size is known: equal layers of convolutions, their
// normalisation and their activation; whole matrices behind them have their parameters in the last layer.
// An element of kept activations costs memory traffic beside the convolutions: forward, normalisation
// reads its input twice and writes, activation reads and writes, for two kept values; backward, they read 6
// and write 2.
#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

constexpr double kForwardPasses = 2.5;
constexpr double kBackwardPasses = 4;

class ConvNet {
 public:
  explicit ConvNet(const Experiment& experiment)
      : experiment_(experiment),
        model_(experiment.model),
        samples_(experiment.plan.micro_batch_size),
        element_(element_bytes(experiment.plan.precision)) {}

  [[nodiscard]] ModelBlocks describe() const {
    ModelBlocks blocks;
    const std::int64_t layers = model_.layers;
    blocks.boundaries.push_back({activations(), false, false});
    const std::int64_t spread = model_.parameters - model_.head_parameters;
    for (std::int64_t i = 0; i < layers; ++i) {
      // The first layers take the remainder of an uneven division, so there are at most three kinds of
      // layers.
      std::int64_t parameters = spread / layers + (i < spread % layers ? 1 : 0);
      if (i + 1 == layers) parameters += model_.head_parameters;
      if (blocks.kinds.empty() || blocks.kinds.back().parameters != parameters)
        blocks.kinds.push_back(block(parameters));
      blocks.layers.push_back(static_cast<std::uint32_t>(blocks.kinds.size() - 1));
      blocks.boundaries.push_back({activations(), false, false});
    }
    blocks.model_flops = TotalFlops{3} * forward_flops(1) * layers * experiment_.plan.global_batch_size;
    return blocks;
  }

  [[nodiscard]] Steps forward(Workload& workload) const {
    StepBuilder to(experiment_, workload, Phase::forward);
    std::vector<Kernel> kernels = convolutions();
    kernels.push_back(elementwise(kForwardPasses));
    const std::int32_t out = to.compute(Part::layer, std::move(kernels), kBlockInput);
    return std::move(to).finish(out);
  }
  [[nodiscard]] Steps backward(PassKind kind, Workload& workload) const {
    StepBuilder to(experiment_, workload, phase_of(kind));
    std::vector<Kernel> kernels = convolutions();
    if (kind == PassKind::backward) kernels.insert(kernels.end(), kernels.begin(), kernels.end());
    if (hands_on(kind)) kernels.insert(kernels.begin(), elementwise(kBackwardPasses));
    const std::int32_t gradient = to.compute(Part::layer, std::move(kernels), kBlockInput);
    return std::move(to).finish(gradient);
  }

 private:
  /// Returns the FLOPs of a layer.
  [[nodiscard]] Flops forward_flops(std::int64_t samples) const {
    const double layer = model_.forward_gflops_per_sample * 1e9 / static_cast<double>(model_.layers);
    return static_cast<Flops>(layer + 0.5) * samples;
  }
  [[nodiscard]] Bytes activations() const {
    return divide_up(model_.activations_per_sample, model_.layers) * samples_ * element_;
  }
  /// Returns the kernels of a layer in one direction.
  [[nodiscard]] std::vector<Kernel> convolutions() const {
    Kernel direct;
    direct.kind = Kernel::Kind::convolution;
    direct.batch = model_.convolutions / model_.layers;
    direct.flops = forward_flops(samples_);
    direct.bytes = activations();
    Kernel small;
    small.kind = Kernel::Kind::small_filter;
    small.flops = static_cast<Flops>(static_cast<double>(direct.flops) * model_.small_filter_share);
    direct.flops -= small.flops;
    return small.flops > 0 ? std::vector{direct, small} : std::vector{direct};
  }
  [[nodiscard]] Kernel elementwise(double passes) const {
    const double traffic = passes * experiment_.software.elementwise_traffic;
    return as(KernelClass::activation,
              memory(static_cast<Bytes>(traffic * static_cast<double>(activations()) + 0.5)));
  }

  [[nodiscard]] Block block(std::int64_t parameters) const {
    Block block;
    block.activations[ActivationKind::mlp] = activations();
    block.for_weights = 2 * activations();  // and the gradient of the output
    block.parameters = parameters;
    block.tensors = divide_up(model_.tensors, model_.layers);
    return block;
  }

  const Experiment& experiment_;
  const Model& model_;
  std::int64_t samples_;
  Bytes element_;
};

}  // namespace

std::int64_t convnet_parameters(const Model& model) { return model.parameters; }

ModelBlocks describe_convnet(const Experiment& experiment) { return ConvNet(experiment).describe(); }

void write_convnet_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload) {
  const ConvNet net(experiment);
  for (Block& block : blocks.kinds) {
    block.of(PassKind::forward) = net.forward(workload);
    for (const PassKind kind : backward_kinds(splits_backward(experiment.plan)))
      block.of(kind) = net.backward(kind, workload);
  }
}

}  // namespace orrery
