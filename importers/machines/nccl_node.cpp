#include "importers/machines/nccl_node.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "importers/common/text_lines.hpp"

namespace orrery::importers::machines {
namespace {

/// A PCI function with the ways and the host above it.
struct PciFunction {
  const XmlElement* element = nullptr;
  PciSpeed slowest;
  bool arm = false;
};

// Classes of PCI functions, the first four digits.
constexpr std::array<std::string_view, 4> kGpuClasses{"0x0302", "0x0300", "0x0380", "0x1200"};
constexpr std::array<std::string_view, 2> kNicClasses{"0x0207", "0x0200"};

// One direction of a link of Infinity Fabric between GPUs, in GB/s: 16 lanes of 23 GT/s (MI100), of 25 GT/s
// (MI200), of 32 GT/s (MI300X), from AMD's data sheets of the three.
constexpr double kMi100LinkGbPerS = 46, kMi200LinkGbPerS = 50, kMi300LinkGbPerS = 64;

constexpr double kMegabitsPerGigabit = 1000;

int number_at(const XmlElement& element, std::string_view key, int otherwise) {
  return static_cast<int>(
      std::clamp<std::int64_t>(integer_of(element.attribute(key)).value_or(otherwise), -1, 1'000'000));
}

PciSpeed speed_of(const XmlElement& pci) {
  return {leading_number(pci.attribute("link_speed")).value_or(0), number_at(pci, "link_width", 0)};
}

PciSpeed slower(const PciSpeed& a, const PciSpeed& b) {
  if (!a.given() || !b.given()) return a.given() ? a : b;
  return b.gb_per_s() < a.gb_per_s() ? b : a;
}

void collect(const XmlElement& element, PciFunction above, std::vector<PciFunction>& out) {
  if (element.name == "cpu") above.arm = element.attribute("arch") == "arm64";
  if (element.name == "pci") {
    above.element = &element;
    above.slowest = slower(above.slowest, speed_of(element));
    out.push_back(above);
  }
  for (const XmlElement& child : element.children) collect(child, above, out);
}

std::vector<PciFunction> functions_of(const XmlElement& system) {
  std::vector<PciFunction> functions;
  collect(system, {}, functions);
  return functions;
}

const XmlElement* child_of(const XmlElement& element, std::string_view name) {
  const auto found = std::ranges::find(element.children, name, &XmlElement::name);
  return found == element.children.end() ? nullptr : &*found;
}

template <std::size_t count>
bool has_class(const XmlElement& pci, const std::array<std::string_view, count>& classes) {
  return std::ranges::any_of(classes,
                             [&pci](std::string_view c) { return pci.attribute("class").starts_with(c); });
}

bool is_bridge(const XmlElement& pci) { return child_of(pci, "pci") != nullptr; }

/// The first class of `classes` that a function without others below it has; "" if none has one.
template <std::size_t count>
std::string_view first_class(const std::vector<PciFunction>& functions,
                             const std::array<std::string_view, count>& classes) {
  for (const std::string_view c : classes)
    for (const PciFunction& f : functions)
      if (!is_bridge(*f.element) && f.element->attribute("class").starts_with(c)) return c;
  return "";
}

bool is_switch(const XmlElement& link) {
  const std::string target = small(link.attribute("target"));
  return link.attribute("tclass").starts_with("0x0680") || target.starts_with("fffff");
}

std::vector<NodeLink> links_of(const XmlElement& gpu, const SourceFile& file) {
  std::vector<NodeLink> links;
  for (const XmlElement& child : gpu.children)
    if (child.name == "nvlink" || child.name == "xgmi")
      links.push_back({small(child.attribute("target")),
                       std::max(1, number_at(child, "count", 1)),
                       is_switch(child),
                       {file.path(), child.line}});
  return links;
}

double link_gb_per_s(const XmlElement& gpu) {
  const std::string_view gcn = gpu.attribute("gcn");
  if (gcn.empty()) return nvlink_gb_per_s(number_at(gpu, "sm", 0));
  if (gcn.find("908") != std::string_view::npos) return kMi100LinkGbPerS;
  if (gcn.find("90a") != std::string_view::npos || gcn.find("910") != std::string_view::npos)
    return kMi200LinkGbPerS;
  return gcn.find("94") != std::string_view::npos ? kMi300LinkGbPerS : 0;
}

GpuGuess guess_of(const PciFunction& function, const XmlElement* gpu) {
  const XmlElement& pci = *function.element;
  if (const GpuGuess guess = gpu_of_pci(pci.attribute("vendor"), pci.attribute("device"));
      !guess.words.empty())
    return guess;
  if (gpu == nullptr) return {};
  if (gpu->has("gcn")) return gpu_of_gcn(gpu->attribute("gcn"), number_at(*gpu, "sm", 0));
  return gpu->has("sm") ? gpu_of_capability(number_at(*gpu, "sm", 0), function.arm) : GpuGuess{};
}

SourceKey told_by(const XmlElement& pci, const XmlElement* gpu, const SourceFile& file) {
  if (!gpu_of_pci(pci.attribute("vendor"), pci.attribute("device")).words.empty())
    return key_at(file, pci.line, "pci device", std::string(pci.attribute("device")));
  if (gpu == nullptr) return key_at(file, pci.line, "pci class", std::string(pci.attribute("class")));
  const std::string_view key = gpu->has("gcn") ? "gcn" : "sm";
  return key_at(file, gpu->line, "gpu " + std::string(key), std::string(gpu->attribute(key)));
}

NodeGpu gpu_of(const PciFunction& function, const SourceFile& file) {
  const XmlElement& pci = *function.element;
  const XmlElement* gpu = child_of(pci, "gpu");
  NodeGpu out;
  out.id = small(pci.attribute("busid"));
  out.guess = guess_of(function, gpu);
  out.told_by = told_by(pci, gpu, file);
  out.pci = function.slowest;
  out.place = {file.path(), pci.line};
  if (gpu == nullptr) return out;
  out.links = links_of(*gpu, file);
  out.link_gb_per_s = link_gb_per_s(*gpu);
  return out;
}

/// GPUs of a job, and those of the same device that it did not use, or in a hint all of the first class there
/// is.
bool is_gpu(const PciFunction& function, const std::vector<PciFunction>& all, bool hint) {
  const XmlElement& pci = *function.element;
  if (child_of(pci, "gpu") != nullptr) return true;
  if (is_bridge(pci) || !has_class(pci, kGpuClasses)) return false;
  if (hint) return pci.attribute("class").starts_with(first_class(all, kGpuClasses));
  return std::ranges::any_of(all, [&pci](const PciFunction& other) {
    return child_of(*other.element, "gpu") != nullptr && pci.has("device") &&
           other.element->attribute("device") == pci.attribute("device");
  });
}

/// Names of network interfaces that sockets use; others are devices of RDMA.
bool is_interface(std::string_view name) {
  return name.starts_with("eth") || name.starts_with("en") || name.starts_with("ib") ||
         name.starts_with("bond") || name == "lo";
}

NodeNic nic_of(const XmlElement& net, const SourceFile& file) {
  NodeNic nic;
  nic.name = std::string(net.attribute("name"));
  nic.gbps = std::max(0.0, number_of(net.attribute("speed")).value_or(0)) / kMegabitsPerGigabit;
  nic.gpu_direct = net.attribute("gdr") != "0";
  nic.rdma = net.attribute("gdr") == "1" || !is_interface(nic.name);
  const std::string_view guid = net.attribute("guid");
  if (guid != "0x0" && guid != "0") nic.card = std::string(guid);
  nic.place = {file.path(), net.line};
  return nic;
}

void collect_nets(const XmlElement& element, const SourceFile& file, std::vector<NodeNic>& nics) {
  if (element.name == "net") nics.push_back(nic_of(element, file));
  for (const XmlElement& child : element.children) collect_nets(child, file, nics);
}

bool contains(const XmlElement& element, std::string_view name) {
  return element.name == name || std::ranges::any_of(element.children, [name](const XmlElement& child) {
           return contains(child, name);
         });
}

std::vector<NodeNic> hinted_nics(const std::vector<PciFunction>& functions, const SourceFile& file) {
  const std::string_view wanted = first_class(functions, kNicClasses);
  std::vector<NodeNic> nics;
  for (const PciFunction& f : functions)
    if (!wanted.empty() && !is_bridge(*f.element) && f.element->attribute("class").starts_with(wanted))
      nics.push_back(
          {std::string(f.element->attribute("busid")), "", 0, true, true, {file.path(), f.element->line}});
  return nics;
}

}  // namespace

bool is_hint(const XmlElement& system) { return !contains(system, "gpu") && !contains(system, "net"); }

NodeParts nccl_node(const XmlElement& system, const SourceFile& file) {
  const std::vector<PciFunction> functions = functions_of(system);
  const bool hint = is_hint(system);
  NodeParts node;
  for (const PciFunction& function : functions)
    if (is_gpu(function, functions, hint)) node.gpus.push_back(gpu_of(function, file));
  if (hint)
    node.nics = hinted_nics(functions, file);
  else
    collect_nets(system, file, node.nics);
  return node;
}

std::size_t nameless_functions(const XmlElement& system) {
  return static_cast<std::size_t>(std::ranges::count_if(functions_of(system), [](const PciFunction& f) {
    return !is_bridge(*f.element) && f.element->attribute("class").empty() && f.element->children.empty();
  }));
}

}  // namespace orrery::importers::machines
