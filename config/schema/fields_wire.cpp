#include <array>

#include "config/schema/fields.hpp"

namespace orrery {
namespace {

constexpr std::array kFormats{Precision::fp32, Precision::fp16,          Precision::bf16, Precision::fp8,
                              Precision::fp4,  Precision::fp8_blockwise, Precision::mxfp8};
constexpr std::array<std::string_view, kFormats.size()> kFormatNames{"fp32", "fp16",          "bf16", "fp8",
                                                                     "fp4",  "fp8-blockwise", "mxfp8"};

/// A key that sets one or two members.
template <std::optional<Precision> WirePrecision::*First,
          std::optional<Precision> WirePrecision::*Second = First>
Field<WirePrecision> format(std::string_view name, std::string_view help) {
  return FieldTable<WirePrecision>::choice(
      name, {kFormatNames, nullptr, {}},
      +[](WirePrecision& w, std::size_t i) {
        w.*First = kFormats[i];
        w.*Second = kFormats[i];
      },
      "as it is kept", help);
}

}  // namespace

const std::vector<Field<WirePrecision>>& wire_precision_fields() {
  using W = WirePrecision;
  static const std::vector<Field<W>> fields{
      format<&W::tensor_gather, &W::tensor_reduce>("tensor", "tensor_gather and tensor_reduce"),
      format<&W::tensor_gather>("tensor_gather", "activations that tensor ranks gather"),
      format<&W::tensor_reduce>("tensor_reduce", "partial sums that tensor ranks add up"),
      format<&W::pipeline>("pipeline", "activations and their gradients between stages"),
      format<&W::context>("context", "between ranks that share sequences"),
      format<&W::dispatch, &W::combine>("expert", "dispatch and combine"),
      format<&W::dispatch>("dispatch", "rows, or their gradients, on the way to experts"),
      format<&W::combine>("combine", "rows, or their gradients, on the way back"),
      format<&W::data>("data", "gradients of weights"),
      format<&W::parameters>("parameters", "that ZeRO gathers"),
      format<&W::models>("models", "of replicas that differ: what gossip, local-sgd, diloco exchange"),
  };
  return fields;
}

}  // namespace orrery
