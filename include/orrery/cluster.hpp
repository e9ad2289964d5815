// Describes the hardware as an experiment gives it: GPU, wiring of a node, fabric between nodes. Read by
// topologies/ (which builds a Topology from it) and sim/cost/ (which prices kernels).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/plan.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Describes one GPU model. Rates are peaks; the efficiencies say what share of them a large kernel reaches
/// in a short run. The constants below describe how kernels fall behind by their shape; their defaults leave
/// those effects out (docs/theory/kernels.md, "Price of a kernel").
struct Gpu {
  std::string name;
  /// Dense peak by unit_of(Precision), in 1e12 FLOP/s; 0 where the GPU has no such unit.
  std::array<double, kUnitCount> peak_tflops{};
  double memory_gb = 0;          ///< device memory, 1e9 bytes
  double memory_usable_gb = 0;   ///< the part of it that a process can allocate; 0: all
  double memory_reserve_gb = 0;  ///< the part of it left for CUDA, NCCL and others
  double memory_gb_per_s = 0;    ///< memory bandwidth, 1e9 bytes/s
  std::int64_t sms = 0;          ///< streaming multiprocessors; 0 leaves wave quantisation out
  double kernel_launch_us = 0;   ///< time between two dependent kernels of one stream
  double gemm_efficiency = 1;    ///< share of peak_tflops that the best tile of a large GEMM reaches, 0..1
  double memory_efficiency = 1;  ///< sustained share of memory_gb_per_s, 0..1

  /// Share of the speed of short runs that long training keeps, 0..1: of products in 16 bits and more, of
  /// those in fewer, and of fused attention. 0: the last two as the first, and that by power, as
  /// clock_within_power() says, or 1 where the energy of a FLOP is unknown.
  double sustained_clock = 0;
  double sustained_clock_fp8 = 0;
  double sustained_clock_attention = 0;
  /// Power that does not follow the clock of products: leakage, memory, links.
  double static_power_w = 0;
  /// Energy of a FLOP at the full clock, in 1e-12 J (so in watts for each TFLOP/s): of products in 16 bits
  /// and more, in 8 bits, in 4 bits, and of fused attention, all that moves operands with it. 0: unknown.
  double product_pj_per_flop = 0;
  double product_pj_per_flop_fp8 = 0;
  double product_pj_per_flop_fp4 = 0;
  double attention_pj_per_flop = 0;
  double gemm_efficiency_fp8 = 0;            ///< gemm_efficiency of fp8 products; 0: the same
  double gemm_efficiency_fp8_blockwise = 0;  ///< of those with scales for blocks of 128; 0: as fp8
  double gemm_efficiency_fp4 = 0;            ///< of fp4 products; 0: as fp8
  /// Speed of products whose weights are widened to 16 bits on the way in, over those of tiles in 16 bits.
  double widened_product_speed = 1;
  double partial_wave = 1;        ///< share of the time that SMs without a tile in the last wave lose, 0..1
  double tile_feed_elements = 0;  ///< a tile of m x n is slower by 1 + this (1/m + 1/n); 0: one size of tile
  double gemm_tile_us = 0;        ///< fill and drain of a tile of 256 x 128, others by area
  double gemm_start_us = 0;       ///< start and end of a GEMM or fused attention kernel
  double convolution_start_us = 0;  ///< more of a convolution: transforms, waves of few tiles
  double memory_ramp_us = 0;        ///< start and end of a memory-bound kernel
  double flash_efficiency = 0;      ///< share of the peak, FlashAttention 2, long and wide; 0: as GEMMs
  double flash3_efficiency = 0;     ///< the same of FlashAttention 3; 0: the GPU does not run it
  double exponential_speed = 1;     ///< exponentials of an SM over those of a Hopper's, 16 a clock
  /// Share of its pace that compute loses while tensor, data or expert traffic runs beside it, which takes
  /// SMs and memory bandwidth.
  double communication_interference = 0;
  std::string calibration{};  ///< where the constants above come from

  double host_link_gb_per_s = 0;       ///< to the memory of its host, one direction; 0: unknown
  double host_memory_gb_per_s = 51.2;  ///< its share of the bandwidth of the host's memory
  double nic_link_gb_per_s = 0;        ///< to its NICs, one direction; 0: as host_link_gb_per_s

  double power_w = 0;       ///< the most it draws, its thermal design power; 0: unknown
  double usd_per_hour = 0;  ///< its rent, with its share of the node; 0: unknown

  /// Returns the share of the peak that large products reach in a short run; a precision without a constant
  /// of its own has that of the next wider one.
  [[nodiscard]] double efficiency_of_products(Precision precision) const {
    if (!is_narrow(precision)) return gemm_efficiency;
    if (precision == Precision::fp4 && gemm_efficiency_fp4 > 0) return gemm_efficiency_fp4;
    if (precision == Precision::fp8_blockwise && gemm_efficiency_fp8_blockwise > 0)
      return gemm_efficiency_fp8_blockwise;
    return gemm_efficiency_fp8 > 0 ? gemm_efficiency_fp8 : gemm_efficiency;
  }

  /// Returns the clock that products sustain: `sustained_clock` or `sustained_clock_fp8` if given, otherwise
  /// the one at which they draw `power_w`.
  [[nodiscard]] double clock_of_products(Precision precision) const {
    if (is_narrow(precision)) {
      if (sustained_clock_fp8 > 0) return sustained_clock_fp8;
      const bool four_bits = precision == Precision::fp4 && product_pj_per_flop_fp4 > 0;
      const double pj_per_flop = four_bits ? product_pj_per_flop_fp4 : product_pj_per_flop_fp8;
      const Precision unit = four_bits ? Precision::fp4 : Precision::fp8;
      if (pj_per_flop > 0 && sustained_clock == 0)
        return clock_within_power(pj_per_flop, peak(unit) * efficiency_of_products(unit));
    }
    if (sustained_clock > 0) return sustained_clock;
    return clock_within_power(product_pj_per_flop, peak_in_16_bits() * gemm_efficiency);
  }
  [[nodiscard]] double clock_of_attention() const {
    if (sustained_clock_attention > 0) return sustained_clock_attention;
    if (attention_pj_per_flop == 0 || sustained_clock > 0) return clock_of_products(Precision::bf16);
    const double share = flash3_efficiency > 0 ? flash3_efficiency : flash_efficiency;
    return clock_within_power(attention_pj_per_flop, peak_in_16_bits() * share);
  }

  /// Returns the share of the full clock at which a kernel draws `power_w` and no more. The voltage falls
  /// with the clock, so that the power beyond `static_power_w` goes with the clock's square
  /// (docs/theory/kernels.md, "Power and clock").
  /// @param tflops  of the kernel at the full clock
  [[nodiscard]] double clock_within_power(double pj_per_flop, double tflops) const {
    const double full_w = pj_per_flop * tflops;
    const double left_w = power_w - static_power_w;
    return power_w > 0 && full_w > left_w ? std::sqrt(left_w / full_w) : 1;
  }
  [[nodiscard]] double peak_in_16_bits() const {
    return peak(Precision::bf16) > 0 ? peak(Precision::bf16) : peak(Precision::fp16);
  }

  /// Returns the most that it sends to NICs, and receives from them, in 1e9 bytes/s; 0: unknown.
  [[nodiscard]] double way_out_gb_per_s() const {
    return nic_link_gb_per_s > 0 ? nic_link_gb_per_s : host_link_gb_per_s;
  }

  /// Returns the peak of products in that precision, in TFLOP/s; 0: the GPU has no unit for it. Block scales
  /// of 32 values came with the units of 4 bits.
  [[nodiscard]] double peak(Precision precision) const {
    const bool scales = precision != Precision::mxfp8 || peak(Precision::fp4) > 0;
    return scales ? peak_tflops[static_cast<std::size_t>(unit_of(precision))] : 0;
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(name, peak_tflops, memory_gb, memory_usable_gb, memory_reserve_gb, memory_gb_per_s, sms,
                 kernel_launch_us, gemm_efficiency, memory_efficiency, sustained_clock, sustained_clock_fp8,
                 sustained_clock_attention, static_power_w, product_pj_per_flop, product_pj_per_flop_fp8,
                 product_pj_per_flop_fp4, attention_pj_per_flop, exponential_speed, gemm_efficiency_fp8,
                 gemm_efficiency_fp8_blockwise, gemm_efficiency_fp4, widened_product_speed, partial_wave,
                 tile_feed_elements, gemm_tile_us, gemm_start_us, convolution_start_us, memory_ramp_us,
                 flash_efficiency, flash3_efficiency, communication_interference, calibration,
                 host_link_gb_per_s, host_memory_gb_per_s, nic_link_gb_per_s, power_w, usd_per_hour);
  }
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// Describes the links between the GPUs of one node. `kind` is a name of `node_wirings()`.
struct NodeWiring {
  std::string kind = "none";
  double link_gb_per_s = 0;    ///< per GPU port (nvswitch, pcie) or per link (the others), one direction
  double latency_us = 0;       ///< GPU to GPU through one link or one switch
  double efficiency = 1;       ///< share of link_gb_per_s that collectives sustain, 0..1
  double base_latency_us = 0;  ///< of every collective and message inside a node, once
  double ramp_us = 0;          ///< most that the slower protocols of small messages add
  double ramp_efficiency = 1;  ///< share of the sustained pace at which small messages move, 0..1
  /// Share of link_gb_per_s that reductions in the switch (NVLink SHARP) sustain; 0: it does none.
  double nvls_efficiency = 0;
  double nvls_latency_us = 0;  ///< of a way to the switch that reduces and back; 0: latency_us
  /// Wiring pcie-host: bandwidth of the host's memory, in and out, for all messages of its GPUs, 1e9 bytes/s.
  double host_gb_per_s = 0;
  /// Nodes that share one switch, an NVLink domain (NVL72: 18 trays); only where `kind` is nvswitch.
  std::int64_t domain_nodes = 1;
  /// NICs read and write the memory of GPUs (GPUDirect RDMA); else messages to other nodes are staged in the
  /// host's memory, over the PCIe switch that a NIC and its nearest GPUs share.
  bool gpu_direct = true;
  std::string calibration{};  ///< where the constants above come from

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(kind, link_gb_per_s, latency_us, efficiency, base_latency_us, ramp_us, ramp_efficiency,
                 nvls_efficiency, nvls_latency_us, host_gb_per_s, domain_nodes, gpu_direct, calibration);
  }
  friend bool operator==(const NodeWiring&, const NodeWiring&) = default;
};

/// Describes the links between nodes. `kind` is a name of `fabrics()`.
struct Fabric {
  std::string kind = "switch";
  std::int64_t nics_per_node = 1;
  double nic_gbps = 0;          ///< per NIC and direction, 1e9 bits/s
  double latency_us = 0;        ///< per switch crossed, or per hop where nodes are wired directly
  double efficiency = 1;        ///< share of nic_gbps that collectives sustain, 0..1
  double flow_gbps = 0;         ///< most of one message between two GPUs (its connections); 0: no limit
  double oversubscription = 1;  ///< capacity below a leaf switch over capacity above it, >= 1
  /// fat-tree, rail-optimized: messages spread evenly over all ways up, not each destination over its own.
  bool adaptive_routing = false;
  /// grid, torus: extent of each dimension. fat-tree: children per switch from the leaves up.
  /// rail-optimized: nodes per leaf. Empty: chosen from the number of nodes.
  std::vector<std::int64_t> shape;
  double base_latency_us = 0;  ///< of every collective and message between nodes, once
  double ramp_us = 0;          ///< as in a node
  double ramp_efficiency = 1;  ///< as in a node
  std::string calibration{};   ///< where the constants above come from

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(kind, nics_per_node, nic_gbps, latency_us, efficiency, flow_gbps, oversubscription,
                 adaptive_routing, shape, base_latency_us, ramp_us, ramp_efficiency, calibration);
  }
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// A link of an explicit graph. Ends are vertex names; GPUs are "gpu0", "gpu1", ...
struct GraphLink {
  std::string from;
  std::string to;
  double gb_per_s = 0;  ///< per direction, 1e9 bytes/s
  double latency_us = 0;
  bool bidirectional = true;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(from, to, gb_per_s, latency_us, bidirectional);
  }
  friend bool operator==(const GraphLink&, const GraphLink&) = default;
};

/// An explicit topology, in place of node and fabric. Vertices that are no GPUs are switches.
struct Graph {
  std::vector<std::string> vertices;
  std::vector<GraphLink> links;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(vertices, links);
  }
  friend bool operator==(const Graph&, const Graph&) = default;
};

/// Nodes at one place, side by side in number. A site without nodes is an exchange point.
struct Site {
  std::string name;
  std::int64_t nodes = 1;

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(name, nodes);
  }
  friend bool operator==(const Site&, const Site&) = default;
};

/// A line between two sites.
struct SiteLink {
  std::string from;
  std::string to;
  double up_gbps = 0;            ///< from `from` to `to`, 1e9 bits/s
  double down_gbps = 0;          ///< back; 0: as up_gbps
  double latency_ms = 0;         ///< one way
  double loss = 0;               ///< share of the packets that are lost, 0..1
  std::int64_t connections = 8;  ///< TCP connections that share a message

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(from, to, up_gbps, down_gbps, latency_ms, loss, connections);
  }
  friend bool operator==(const SiteLink&, const SiteLink&) = default;
};

/// A cluster of clusters: each site has the fabric of its own nodes.
struct Regions {
  std::vector<Site> sites;  ///< in order of the nodes
  std::vector<SiteLink> links;

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(sites, links);
  }
  friend bool operator==(const Regions&, const Regions&) = default;
};

/// GPUs that are slower (or faster) than their kind.
struct GpuOverride {
  std::int64_t first_gpu = 0;
  std::int64_t gpus = 1;
  double speed = 1;  ///< of their kernels, over that of the others

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(first_gpu, gpus, speed);
  }
  friend bool operator==(const GpuOverride&, const GpuOverride&) = default;
};

/// Nodes side by side that have one class of GPU.
struct NodeGroup {
  std::int64_t nodes = 1;
  std::size_t gpu_class = 0;

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(nodes, gpu_class);
  }
  friend bool operator==(const NodeGroup&, const NodeGroup&) = default;
};

/// Describes where checkpoints go, in 1e9 bytes/s. No step depends on it.
struct Storage {
  double local_write_gb_per_s = 0;  ///< disks of a node; 0: as usual for a node
  double local_read_gb_per_s = 0;
  double filesystem_write_gb_per_s = 0;  ///< parallel file system, of all nodes together
  double filesystem_read_gb_per_s = 0;
  double object_store_write_gb_per_s = 0;  ///< of all nodes together; 0: as the file system
  double object_store_read_gb_per_s = 0;
  /// Most that a node sends to or takes from file system and object store; 0: the rate of its NICs.
  double node_gb_per_s = 0;
  /// Most that a process writes, as serializing and one stream allow; 0: no limit.
  double writer_gb_per_s = 0;
  double latency_s = 0;  ///< opening, metadata and the commit of a checkpoint, once

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(local_write_gb_per_s, local_read_gb_per_s, filesystem_write_gb_per_s,
                 filesystem_read_gb_per_s, object_store_write_gb_per_s, object_store_read_gb_per_s,
                 node_gb_per_s, writer_gb_per_s, latency_s);
  }
  friend bool operator==(const Storage&, const Storage&) = default;
};

struct Cluster {
  std::string name;
  Gpu gpu;  ///< of all nodes; class 0 where there are several
  std::int64_t gpus_per_node = 1;
  std::int64_t nodes = 1;
  NodeWiring node;
  Fabric fabric;
  std::optional<Graph> graph;
  std::optional<Regions> regions;      ///< empty: one site with all nodes
  std::vector<GpuOverride> overrides;  ///< later ones win
  std::vector<NodeGroup> groups;       ///< of all nodes, in order; empty: one of class 0
  std::vector<Gpu> other_gpus;         ///< classes 1, 2, ...
  Storage storage;

  [[nodiscard]] std::int64_t gpus() const { return gpus_per_node * nodes; }
  /// Rate of the NICs of one GPU together, without losses, in 1e9 bytes/s.
  [[nodiscard]] double nics_gb_per_s_of_gpu() const {
    const std::int64_t nics = (fabric.nics_per_node + gpus_per_node - 1) / gpus_per_node;
    return static_cast<double>(nics) * fabric.nic_gbps / 8;
  }
  /// GPUs that the wiring of nodes joins: those of a node, or of an NVLink domain of several nodes.
  [[nodiscard]] std::int64_t gpus_per_domain() const {
    return gpus_per_node * std::min(node.domain_nodes, nodes);
  }
  [[nodiscard]] std::size_t gpu_classes() const { return 1 + other_gpus.size(); }
  [[nodiscard]] const Gpu& gpu_of_class(std::size_t gpu_class) const {
    return gpu_class == 0 ? gpu : other_gpus[gpu_class - 1];
  }
  /// The sum of a figure over all GPUs; 0 where it is 0, unknown, of some.
  [[nodiscard]] double sum_over_gpus(double Gpu::*figure) const {
    if (groups.empty()) return static_cast<double>(gpus()) * gpu.*figure;
    double sum = 0;
    for (const NodeGroup& group : groups) {
      const double each = gpu_of_class(group.gpu_class).*figure;
      if (each == 0) return 0;
      sum += static_cast<double>(group.nodes * gpus_per_node) * each;
    }
    return sum;
  }
  /// Returns the most that a GPU of any class sends to NICs, in 1e9 bytes/s; 0: unknown for some.
  [[nodiscard]] double way_out_gb_per_s() const {
    double widest = 0;
    for (std::size_t c = 0; c < gpu_classes(); ++c) {
      const double way_out = gpu_of_class(c).way_out_gb_per_s();
      if (way_out == 0) return 0;
      widest = std::max(widest, way_out);
    }
    return widest;
  }
  /// The site of a node; 0 where there is one.
  [[nodiscard]] std::size_t site_of_node(std::int64_t index) const {
    std::size_t site = 0;
    while (regions && site + 1 < regions->sites.size() && index >= regions->sites[site].nodes)
      index -= regions->sites[site++].nodes;
    return site;
  }
  [[nodiscard]] std::size_t class_of_node(std::int64_t index) const {
    for (const NodeGroup& group : groups) {
      if (index < group.nodes) return group.gpu_class;
      index -= group.nodes;
    }
    return 0;
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(name, gpu, gpus_per_node, nodes, node, fabric, graph, regions, overrides, groups, other_gpus,
                 storage);
  }
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace orrery
