#include "config/schema/fields.hpp"

namespace orrery {
namespace {

constexpr double kMaxRate = 1e7;
constexpr double kMaxLinkGbPerS = 7e4;  // kMaxLinkBytesPerS
constexpr double kMaxNicGbps = 5.6e5;
constexpr double kMinRate = 1e-6;
constexpr double kMaxLatency = 1e7;

constexpr std::array<std::string_view, 7> kWirings{"nvswitch", "hybrid-cube-mesh", "ring", "full-mesh",
                                                   "pcie",     "pcie-host",        "none"};
constexpr std::array<std::string_view, 9> kFabrics{
    "switch", "ring", "grid", "torus", "fat-tree", "rail-optimized", "dragonfly", "star", "full-mesh"};

}  // namespace

const std::vector<Field<Gpu>>& gpu_fields() {
  using T = FieldTable<Gpu>;
  static const std::vector<Field<Gpu>> fields{
      T::text("name", &Gpu::name, "shown in reports; the catalog name by default"),
      T::nested("peak_tflops", "an object with dense peaks in 1e12 FLOP/s by precision"),
      T::number("memory_gb", "GB", 1e-3, 1e6, &Gpu::memory_gb, "", "device memory, 1e9 bytes"),
      T::number("memory_usable_gb", "GB", 1e-3, 1e6, &Gpu::memory_usable_gb, "memory_gb",
                "device memory that a process can allocate"),
      T::number("memory_reserve_gb", "GB", 0, 1e6, &Gpu::memory_reserve_gb, "0",
                "of that, what is left for the CUDA context, NCCL and others"),
      T::number("memory_gb_per_s", "GB/s", 1e-3, kMaxRate, &Gpu::memory_gb_per_s, "", "memory bandwidth"),
      T::integer("sms", 0, 1e5, &Gpu::sms, "0", "streaming multiprocessors; 0 leaves wave quantisation out"),
      T::number("kernel_launch_us", "us", 0, 1e6, &Gpu::kernel_launch_us, "0",
                "time between two dependent kernels of one stream"),
      T::number("gemm_efficiency", "", 1e-3, 1, &Gpu::gemm_efficiency, "1",
                "share of the peak that the best tile of a large GEMM reaches in a short run"),
      T::number("memory_efficiency", "", 1e-3, 1, &Gpu::memory_efficiency, "1",
                "sustained share of the memory bandwidth"),
      T::number(
          "sustained_clock", "", 0, 1, &Gpu::sustained_clock, "0",
          "share of the speed of short runs that products of 16 bits keep in long training; 0: the clock at "
          "which they draw power_w, or 1 if product_pj_per_flop is unknown"),
      T::number("sustained_clock_fp8", "", 0, 1, &Gpu::sustained_clock_fp8, "0",
                "the same for products of 8 and 4 bits; 0: as sustained_clock, or by power"),
      T::number("sustained_clock_attention", "", 0, 1, &Gpu::sustained_clock_attention, "0",
                "the same for fused attention; 0: as sustained_clock, or by power"),
      T::number("static_power_w", "W", 0, 1e6, &Gpu::static_power_w, "0",
                "power that does not follow the clock of products: leakage, memory, links"),
      T::number(
          "product_pj_per_flop", "pJ/FLOP", 0, 1e3, &Gpu::product_pj_per_flop, "0",
          "energy of a product of 16 bits at the full clock, with all that moves its operands; 0: unknown"),
      T::number("product_pj_per_flop_fp8", "pJ/FLOP", 0, 1e3, &Gpu::product_pj_per_flop_fp8, "0",
                "the same in 8 bits; 0: unknown"),
      T::number("product_pj_per_flop_fp4", "pJ/FLOP", 0, 1e3, &Gpu::product_pj_per_flop_fp4, "0",
                "the same in 4 bits; 0: unknown"),
      T::number("attention_pj_per_flop", "pJ/FLOP", 0, 1e3, &Gpu::attention_pj_per_flop, "0",
                "the same of fused attention; 0: unknown"),
      T::number("gemm_efficiency_fp8", "", 0, 1, &Gpu::gemm_efficiency_fp8, "0",
                "gemm_efficiency of fp8 products; 0: the same"),
      T::number("gemm_efficiency_fp8_blockwise", "", 0, 1, &Gpu::gemm_efficiency_fp8_blockwise, "0",
                "the same with fp8-blockwise; 0: as fp8"),
      T::number("gemm_efficiency_fp4", "", 0, 1, &Gpu::gemm_efficiency_fp4, "0",
                "the same of fp4 products; 0: as fp8"),
      T::number("widened_product_speed", "", 0.01, 1, &Gpu::widened_product_speed, "1",
                "speed of products whose weights are widened to 16 bits on the way in over 16-bit tiles"),
      T::number("partial_wave", "", 0, 1, &Gpu::partial_wave, "1",
                "share of the time that SMs without a tile in the last wave of a GEMM lose"),
      T::number("tile_feed_elements", "elements", 0, 1e4, &Gpu::tile_feed_elements, "0",
                "an output tile of m x n is slower by 1 + this (1/m + 1/n); 0: tiles of one size"),
      T::number("gemm_tile_us", "us", 0, 1e6, &Gpu::gemm_tile_us, "0",
                "fill and drain of an output tile of 256 x 128, others by area"),
      T::number("gemm_start_us", "us", 0, 1e6, &Gpu::gemm_start_us, "0",
                "start and end of a GEMM or fused attention kernel"),
      T::number("convolution_start_us", "us", 0, 1e6, &Gpu::convolution_start_us, "0",
                "more of a convolution, whatever its size: transforms, waves of few tiles"),
      T::number("memory_ramp_us", "us", 0, 1e6, &Gpu::memory_ramp_us, "0",
                "start and end of a memory-bound kernel"),
      T::number("flash_efficiency", "", 0, 1, &Gpu::flash_efficiency, "0",
                "share of the peak FlashAttention 2 nears with long sequences and wide heads; 0: as GEMMs"),
      T::number("flash3_efficiency", "", 0, 1, &Gpu::flash3_efficiency, "0",
                "the same for FlashAttention 3 and cuDNN's kernels; 0: not on this GPU"),
      T::number(
          "exponential_speed", "", 0.1, 100, &Gpu::exponential_speed, "1",
          "exponentials that an SM computes, over the 16 a clock of Hopper: fused attention waits for them"),
      T::number("communication_interference", "", 0, 0.9, &Gpu::communication_interference, "0",
                "share of its pace that compute loses while tensor, data or expert traffic runs beside it"),
      T::number("host_link_gb_per_s", "GB/s", 0, kMaxRate, &Gpu::host_link_gb_per_s, "0",
                "to the memory of its host, one direction; 0: unknown, and nothing can be offloaded"),
      T::number("host_memory_gb_per_s", "GB/s", 1e-3, kMaxRate, &Gpu::host_memory_gb_per_s, "51.2",
                "its share of the bandwidth of the host's memory"),
      T::number("nic_link_gb_per_s", "GB/s", 0, kMaxRate, &Gpu::nic_link_gb_per_s, "0",
                "to the NICs of its node, one direction; 0: as host_link_gb_per_s"),
      T::number(
          "power_w", "W", 0, 1e6, &Gpu::power_w, "0",
          "the most it draws (thermal design power), which limits its clock, and for energy_kwh; 0: unknown"),
      T::number("usd_per_hour", "USD/h", 0, 1e6, &Gpu::usd_per_hour, "0",
                "its rent, with its share of the node, for cost_usd; 0: unknown"),
      T::text("calibration", &Gpu::calibration, "calibration of a gpu, for constants not given"),
  };
  return fields;
}

const FieldInfo& peak_field() {
  static const FieldInfo field =
      FieldTable<Gpu>::number("peak_tflops", "TFLOP/s", 0, 1e6, nullptr, "0", "0: the GPU has no such unit");
  return field;
}

const std::vector<Field<NodeWiring>>& node_fields() {
  using T = FieldTable<NodeWiring>;
  static const std::vector<Field<NodeWiring>> fields{
      T::choice("kind", {{}, &Menus::node_wirings, kWirings}, &NodeWiring::kind, "",
                "how the GPUs of a node are wired"),
      T::number("link_gb_per_s", "GB/s", kMinRate, kMaxLinkGbPerS, &NodeWiring::link_gb_per_s, "",
                "one direction, per GPU port (nvswitch, pcie, pcie-host) or per link (the others)"),
      T::number("latency_us", "us", 0, kMaxLatency, &NodeWiring::latency_us, "0",
                "GPU to GPU through one link or one switch"),
      T::number("efficiency", "", 1e-3, 1, &NodeWiring::efficiency, "1",
                "share of link_gb_per_s that collectives sustain"),
      T::number("base_latency_us", "us", 0, kMaxLatency, &NodeWiring::base_latency_us, "0",
                "of every collective and message inside a node, once"),
      T::number("ramp_us", "us", 0, kMaxLatency, &NodeWiring::ramp_us, "0",
                "most that the slower protocols of small messages add"),
      T::number("ramp_efficiency", "", 1e-3, 1, &NodeWiring::ramp_efficiency, "1",
                "share of the sustained pace at which small messages move"),
      T::number("nvls_efficiency", "", 0, 1, &NodeWiring::nvls_efficiency, "0",
                "share of link_gb_per_s that reductions in the switch (NVLink SHARP) sustain; 0: none"),
      T::number("nvls_latency_us", "us", 0, kMaxLatency, &NodeWiring::nvls_latency_us, "0",
                "of a way to the switch that reduces and back; 0: as latency_us"),
      T::number("host_gb_per_s", "GB/s", 0, kMaxLinkGbPerS, &NodeWiring::host_gb_per_s, "0",
                "what the host's memory takes, and gives, of all messages of a node; only pcie-host"),
      T::integer("domain_nodes", 1, kMaxGpus, &NodeWiring::domain_nodes, "1",
                 "nodes that share one switch (an NVLink domain: 18 trays of an NVL72); only nvswitch"),
      T::flag("gpu_direct", &NodeWiring::gpu_direct, "true",
              "NICs read and write the memory of GPUs; else messages are staged in the host's memory"),
      T::text("calibration", &NodeWiring::calibration, "calibration of a node, for constants not given"),
  };
  return fields;
}

const std::vector<Field<Fabric>>& fabric_fields() {
  using T = FieldTable<Fabric>;
  static const std::vector<Field<Fabric>> fields{
      T::choice("kind", {{}, &Menus::fabrics, kFabrics}, &Fabric::kind, "switch", "how nodes are wired"),
      T::integer("nics_per_node", 1, 1e4, &Fabric::nics_per_node, "1", "network adapters of a node"),
      T::number("nic_gbps", "Gb/s", kMinRate, kMaxNicGbps, &Fabric::nic_gbps, "",
                "1e9 bits/s per NIC and direction"),
      T::number("latency_us", "us", 0, kMaxLatency, &Fabric::latency_us, "0",
                "per switch crossed, or per hop where nodes are wired directly"),
      T::number("efficiency", "", 1e-3, 1, &Fabric::efficiency, "1",
                "share of nic_gbps that collectives sustain"),
      T::number("flow_gbps", "Gb/s", 0, kMaxNicGbps, &Fabric::flow_gbps, "0",
                "most of one message between two GPUs, over all its connections; 0: no limit"),
      T::number("oversubscription", "", 1, 1e6, &Fabric::oversubscription, "1",
                "capacity below a leaf switch over capacity above it"),
      T::flag("adaptive_routing", &Fabric::adaptive_routing, "false",
              "fat-tree, rail-optimized: messages spread evenly over all ways up"),
      T::integers("shape", 1, 1e7, &Fabric::shape, "chosen from the nodes",
                  "grid, torus: extents; fat-tree: children per switch from the leaves up; rail-optimized: "
                  "nodes per leaf"),
      T::number("base_latency_us", "us", 0, kMaxLatency, &Fabric::base_latency_us, "0",
                "of every collective and message between nodes, once"),
      T::number("ramp_us", "us", 0, kMaxLatency, &Fabric::ramp_us, "0",
                "most that the slower protocols of small messages add"),
      T::number("ramp_efficiency", "", 1e-3, 1, &Fabric::ramp_efficiency, "1",
                "share of the sustained pace at which small messages move"),
      T::text("calibration", &Fabric::calibration, "calibration of a fabric, for constants not given"),
  };
  return fields;
}

const std::vector<Field<GraphLink>>& graph_link_fields() {
  using T = FieldTable<GraphLink>;
  static const std::vector<Field<GraphLink>> fields{
      T::text("from", &GraphLink::from, "a vertex"),
      T::text("to", &GraphLink::to, "a vertex"),
      T::number("gb_per_s", "GB/s", kMinRate, kMaxLinkGbPerS, &GraphLink::gb_per_s, "", "per direction"),
      T::number("latency_us", "us", 0, kMaxLatency, &GraphLink::latency_us, "0", "of the link"),
      T::flag("bidirectional", &GraphLink::bidirectional, "true", "a link each way"),
  };
  return fields;
}

const std::vector<Field<Graph>>& graph_fields() {
  using T = FieldTable<Graph>;
  static const std::vector<Field<Graph>> fields{
      T::nested("vertices", "a list of names; gpu0, gpu1, ... are the GPUs, all others are switches"),
      T::nested("links", "a list of objects with from, to, gb_per_s, latency_us, bidirectional"),
  };
  return fields;
}

const std::vector<Field<Cluster>>& cluster_fields() {
  using T = FieldTable<Cluster>;
  static const std::vector<Field<Cluster>> fields{
      T::text("name", &Cluster::name, "shown in reports; the catalog name by default"),
      T::nested("gpu", "the name of a catalog gpu, or an object"),
      T::integer("gpus_per_node", 1, 1e5, &Cluster::gpus_per_node, "1; all GPUs of a graph",
                 "GPUs of a node"),
      T::integer("nodes", 1, kMaxGpus, &Cluster::nodes, "1", "number of nodes"),
      T::nested("node",
                "the name of a wiring, or an object with kind, link_gb_per_s, latency_us, efficiency"),
      T::nested("fabric", "the name of a fabric, or an object with kind, nics_per_node, nic_gbps, ..."),
      T::nested("graph", "an object with vertices and links, in place of node and fabric"),
      T::nested("groups", "a list of objects with nodes and gpu: nodes in order whose GPUs differ"),
      T::nested("regions", "an object with sites and links: a cluster of clusters"),
      T::nested("overrides", "a list of objects with gpu or node, and speed: slow GPUs"),
      T::nested("storage",
                "an object with rates of disks, file system and object store: where checkpoints go"),
  };
  return fields;
}

const std::vector<Field<NodeGroup>>& group_fields() {
  using T = FieldTable<NodeGroup>;
  static const std::vector<Field<NodeGroup>> fields{
      T::integer("nodes", 1, kMaxGpus, &NodeGroup::nodes, "", "number of nodes of the group"),
      T::nested("gpu", "the name of a catalog gpu, or an object; cluster.gpu by default"),
  };
  return fields;
}

const std::vector<Field<Site>>& site_fields() {
  using T = FieldTable<Site>;
  static const std::vector<Field<Site>> fields{
      T::text("name", &Site::name, "by which links and tables call it"),
      T::integer("nodes", 0, kMaxGpus, &Site::nodes, "1", "its nodes; 0: an exchange point"),
  };
  return fields;
}

const std::vector<Field<SiteLink>>& site_link_fields() {
  using T = FieldTable<SiteLink>;
  static const std::vector<Field<SiteLink>> fields{
      T::text("from", &SiteLink::from, "the name of a site"),
      T::text("to", &SiteLink::to, "the name of another one"),
      T::number("up_gbps", "Gb/s", kMinRate, kMaxNicGbps, &SiteLink::up_gbps, "",
                "1e9 bits/s from `from` to `to`"),
      T::number("down_gbps", "Gb/s", kMinRate, kMaxNicGbps, &SiteLink::down_gbps, "up_gbps",
                "1e9 bits/s back"),
      T::number("latency_ms", "ms", 0, 1e4, &SiteLink::latency_ms, "0", "one way"),
      T::number("loss", "", 0, 0.5, &SiteLink::loss, "0", "share of the packets that are lost"),
      T::integer("connections", 1, 1e5, &SiteLink::connections, "8",
                 "of TCP, that carry what is sent; loss and latency limit each"),
  };
  return fields;
}

const std::vector<Field<Regions>>& region_fields() {
  using T = FieldTable<Regions>;
  static const std::vector<Field<Regions>> fields{
      T::nested("sites", "a list of objects with name and nodes: the nodes in order"),
      T::nested("links",
                "a list of objects with from, to, up_gbps, down_gbps, latency_ms, loss, connections"),
  };
  return fields;
}

const std::vector<Field<OverrideKeys>>& override_fields() {
  using O = OverrideKeys;
  using T = FieldTable<O>;
  static const std::vector<Field<O>> fields{
      T::integer("gpu", 0, kMaxGpus - 1, &O::gpu, "none", "the GPU it is about"),
      T::integer("node", 0, kMaxGpus - 1, &O::node, "none", "the node it is about"),
      T::number("speed", "", 0.001, 1000, &O::speed, "", "of kernels, over that of the other GPUs"),
      T::not_modelled("link", "all links are healthy"),
  };
  return fields;
}

}  // namespace orrery
