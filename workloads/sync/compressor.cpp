#include "workloads/sync/compressor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "workloads/models/blocks.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

constexpr Bytes kScale = 4;  // an fp32 number beside the compressed values
constexpr Bytes kIndex = 4;

using Method = Compression::Method;

std::int64_t kept(const Compression& c, const Payload& payload) {
  return std::max<std::int64_t>(1, std::llround(c.fraction * static_cast<double>(payload.values)));
}

/// Bits for 0 to `levels`.
std::int64_t level_bits(std::int64_t levels) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(levels)));
}

/// Returns the bits of an index into the values among which the largest are chosen.
std::int64_t index_bits(const Compression& c) {
  if (c.chunk == 0) return 8 * kIndex;
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(c.chunk - 1)));
}

/// Returns the bytes of the values kept and their indices. Quantised values have a scale per chunk.
Bytes largest_bytes(const Compression& c, const Payload& payload) {
  const Bytes values = divide_up(kept(c, payload) * (c.bits + index_bits(c)), 8);
  const bool scaled = c.bits != 32 && c.bits != 16;
  const std::int64_t chunks = c.chunk == 0 ? 1 : divide_up(payload.values, c.chunk);
  return values + (scaled ? kScale * chunks : 0);
}

/// Passes over all values to find the largest: a chunk that a block of threads has room for takes one, all
/// values together a radix select of 8 bits each.
int selection_passes(const Compression& c) {
  constexpr std::int64_t kValuesOfBlock = 8192;  // in fp32, with their places, 64 KB of shared memory
  return c.chunk > 0 && c.chunk <= kValuesOfBlock ? 1 : 4;
}

/// Cosine transforms along both sides of chunks as squares, there or back.
void add_transforms(const Compression& c, const Payload& payload, std::vector<Kernel>& kernels) {
  const std::int64_t chunk = c.chunk == 0 ? payload.values : std::min(c.chunk, payload.values);
  const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(chunk))));
  for (int along = 0; along < 2; ++along)
    kernels.push_back(gemm(divide_up(payload.values, side), side, side));
}

/// Each tensor of the payload as a square matrix of about its size.
std::int64_t matrix_side(const Payload& payload) {
  const double each = static_cast<double>(divide_up(payload.values, payload.tensors));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(std::sqrt(each))));
}

/// One width is read and the other written, so often; nothing where values travel as they are kept.
std::vector<Kernel> casts(const Payload& payload, std::int64_t times) {
  if (!payload.casts()) return {};
  return {memory(times * (payload.values * payload.width + payload.sent()))};
}

}  // namespace

bool Compressor::adds_up() const {
  switch (compression_.method) {
    case Method::none:
    case Method::quantize:
    case Method::random_k:
    case Method::low_rank:
      return true;
    case Method::qsgd:
    case Method::sign:
    case Method::top_k:
    case Method::fp4:  // receivers add up in fp32
    case Method::dct_top_k:
      break;
  }
  return false;
}

bool Compressor::compresses(const Payload& payload) const {
  if (compression_.method != Method::low_rank) return active();
  return 2 * 4 * compression_.rank * matrix_side(payload) * payload.tensors < payload.values * payload.width;
}

std::vector<Bytes> Compressor::wire_bytes(const Payload& payload) const {
  const std::int64_t d = payload.values;
  if (!compresses(payload)) return {payload.sent()};
  const Bytes scales = kScale * divide_up(d, compression_.bucket);
  switch (compression_.method) {
    case Method::none:
      break;
    case Method::quantize:
      return {divide_up(d * compression_.bits, 8) + (compression_.bits < 16 ? scales : 0)};
    case Method::fp4:
      return {divide_up(d, 2) + scales};
    case Method::qsgd:
      return {divide_up(d * (1 + level_bits(compression_.levels)), 8) + scales};
    case Method::sign:
      return {divide_up(d, 8) + kScale * payload.tensors};
    case Method::top_k:
    case Method::dct_top_k:
      return {largest_bytes(compression_, payload)};
    case Method::random_k:
      return {kept(compression_, payload) * 4 + 8};  // and the seed
    case Method::low_rank: {
      const Bytes factor = 4 * compression_.rank * matrix_side(payload) * payload.tensors;
      return {factor, factor};
    }
  }
  return {d * payload.width};
}

std::vector<Kernel> Compressor::compress(const Payload& payload) const {
  if (!compresses(payload)) return casts(payload, 1);
  const std::vector<Bytes> wire = wire_bytes(payload);
  const Bytes sent = std::accumulate(wire.begin(), wire.end(), Bytes{0});
  const Bytes pass = payload.values * payload.width;  // one reading of all values
  std::vector<Kernel> kernels;
  if (compression_.feeds_back())
    kernels.push_back(memory(2 * pass + 4 * payload.values));  // adds the last residual
  switch (compression_.method) {
    case Method::none:
      break;
    case Method::quantize:
    case Method::fp4:
    case Method::random_k:
      kernels.push_back(memory(pass + sent));
      break;
    case Method::qsgd:
    case Method::sign:
      kernels.push_back(memory(pass));  // norms
      kernels.push_back(memory(pass + sent));
      break;
    case Method::dct_top_k:
      add_transforms(compression_, payload, kernels);
      [[fallthrough]];
    case Method::top_k:
      for (int i = 0; i < selection_passes(compression_); ++i) kernels.push_back(memory(pass));
      kernels.push_back(memory(pass + sent));
      if (compression_.method == Method::dct_top_k && compression_.feeds_back())
        add_transforms(compression_, payload, kernels);  // back, to find the new residual
      break;
    case Method::low_rank: {
      const std::int64_t side = matrix_side(payload);
      const std::int64_t r = compression_.rank;
      kernels.push_back(gemm(side, r, side, payload.tensors));  // P = M Q
      kernels.push_back(gemm(r, r, side, payload.tensors));     // orthogonalised
      kernels.push_back(gemm(side, r, side, payload.tensors));  // Q = M^T P
      break;
    }
  }
  if (compression_.feeds_back())
    kernels.push_back(memory(pass + 4 * payload.values + sent));  // keeps the new residual
  return kernels;
}

std::vector<Kernel> Compressor::decompress(const Payload& payload, std::int64_t received) const {
  if (!compresses(payload)) return casts(payload, received);
  const std::vector<Bytes> wire = wire_bytes(payload);
  const Bytes each = std::accumulate(wire.begin(), wire.end(), Bytes{0});
  const Bytes pass = payload.values * payload.width;
  const Bytes written = pass * (adds_up() ? 1 : 2);  // sums are read again for each of several
  if (compression_.method == Method::low_rank) {
    const std::int64_t side = matrix_side(payload);
    return {gemm(side, side, compression_.rank, payload.tensors)};
  }
  if (compression_.keeps_largest()) {  // scattered sums, then the whole once
    std::vector<Kernel> kernels{memory(pass + received * 2 * each)};
    if (compression_.method == Method::dct_top_k) add_transforms(compression_, payload, kernels);
    return kernels;
  }
  return {memory(received * (each + written))};
}

Bytes Compressor::state_bytes_per_value() const { return compression_.feeds_back() ? 4 : 0; }

}  // namespace orrery
