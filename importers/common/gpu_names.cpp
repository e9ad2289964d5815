#include "importers/common/gpu_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "importers/common/text_lines.hpp"

namespace orrery::importers {
namespace {

/// A PCI function (pci-ids.ucw.cz). `catalog` is "" for GPUs that the catalog lacks.
struct PciName {
  std::string_view id;
  std::string_view words;
  std::string_view catalog;
};

constexpr std::array kPciNames{
    PciName{"10de:1db1", "V100 SXM2 16 GB", "v100-16gb"},
    PciName{"10de:1db4", "V100 PCIe 16 GB", "v100-16gb"},
    PciName{"10de:1db5", "V100 SXM2 32 GB", "v100"},
    PciName{"10de:1db6", "V100 PCIe 32 GB", "v100"},
    PciName{"10de:1db7", "V100 32 GB", "v100"},
    PciName{"10de:1db8", "V100 SXM3 32 GB", "v100"},
    PciName{"10de:1eb8", "T4", "t4"},
    PciName{"10de:20b0", "A100 SXM4 40 GB", "a100-40gb"},
    PciName{"10de:20b2", "A100 SXM4 80 GB", "a100-80gb"},
    PciName{"10de:20b5", "A100 PCIe 80 GB", "a100-80gb"},
    PciName{"10de:20f1", "A100 PCIe 40 GB", "a100-40gb"},
    PciName{"10de:20bd", "A800 SXM4 40 GB", ""},
    PciName{"10de:20f3", "A800 SXM4 80 GB", ""},
    PciName{"10de:20f5", "A800 PCIe 80 GB", ""},
    PciName{"10de:2204", "GeForce RTX 3090", "rtx3090"},
    PciName{"10de:2230", "RTX A6000", "rtx-a6000"},
    PciName{"10de:2235", "A40", "a40"},
    PciName{"10de:2236", "A10", "a10"},
    PciName{"10de:2237", "A10G", ""},
    PciName{"10de:2322", "H800 PCIe", ""},
    PciName{"10de:2324", "H800", "h800"},
    PciName{"10de:2329", "H20", "h20"},
    PciName{"10de:2330", "H100 SXM5 80 GB", "h100"},
    PciName{"10de:2331", "H100 PCIe", ""},
    PciName{"10de:2321", "H100 NVL", ""},
    PciName{"10de:2335", "H200 SXM", "h200"},
    PciName{"10de:233b", "H200 NVL", ""},
    PciName{"10de:2342", "GH200", ""},
    PciName{"10de:2684", "GeForce RTX 4090", "rtx4090"},
    PciName{"10de:26b5", "L40", ""},
    PciName{"10de:26b9", "L40S", "l40s"},
    PciName{"10de:27b8", "L4", "l4"},
    PciName{"10de:2901", "B200", "b200"},
    PciName{"10de:2941", "GB200", "gb200"},
    PciName{"10de:2b85", "GeForce RTX 5090", "rtx5090"},
    PciName{"10de:2bb1", "RTX PRO 6000 Blackwell", "rtx-pro-6000"},
    PciName{"10de:2bb5", "RTX PRO 6000 Blackwell", "rtx-pro-6000"},
    PciName{"10de:3182", "B300", "b300"},
    PciName{"10de:31c2", "GB300", "gb300"},
    PciName{"1002:66a0", "MI50 or MI60", ""},
    PciName{"1002:66a1", "MI50 or MI60", ""},
    PciName{"1002:738c", "MI100", ""},
    PciName{"1002:7408", "MI250X", ""},
    PciName{"1002:740c", "MI250 or MI250X", ""},
    PciName{"1002:740f", "MI210", ""},
    PciName{"1002:74a0", "MI300A", ""},
    PciName{"1002:74a1", "MI300X", "mi300x"},
    PciName{"1002:74a5", "MI325X", "mi325x"},
    PciName{"1002:75a3", "MI355X", "mi355x"},
};

/// Words that programs print, small and without blanks or hyphens; the first that is found counts.
struct WordsName {
  std::string_view part;
  std::string_view words;
  std::string_view catalog;
  std::string_view doubt = {};
};

constexpr std::array kWordsNames{
    WordsName{"a10080gb", "A100 80 GB", "a100-80gb"},
    WordsName{"a100sxm480gb", "A100 SXM4 80 GB", "a100-80gb"},
    WordsName{"a100sxm80gb", "A100 SXM4 80 GB", "a100-80gb"},
    WordsName{"a100pcie80gb", "A100 PCIe 80 GB", "a100-80gb"},
    WordsName{"a100sxm440gb", "A100 SXM4 40 GB", "a100-40gb"},
    WordsName{"a100sxm40gb", "A100 SXM4 40 GB", "a100-40gb"},
    WordsName{"a100pcie40gb", "A100 PCIe 40 GB", "a100-40gb"},
    WordsName{"a10040gb", "A100 40 GB", "a100-40gb"},
    WordsName{"a100", "A100", "a100-80gb", "A100s have 40 or 80 GB, and this does not say which"},
    WordsName{"a800", "A800", ""},
    WordsName{"a10g", "A10G", ""},
    WordsName{"a6000", "RTX A6000", "rtx-a6000"},
    WordsName{"a40", "A40", "a40"},
    WordsName{"a10", "A10", "a10"},
    WordsName{"h100pcie", "H100 PCIe", ""},
    WordsName{"h100nvl", "H100 NVL", ""},
    WordsName{"gh200", "GH200", ""},
    WordsName{"h200nvl", "H200 NVL", ""},
    WordsName{"h100", "H100", "h100"},
    WordsName{"h200", "H200", "h200"},
    WordsName{"h800", "H800", "h800"},
    WordsName{"h20", "H20", "h20"},
    WordsName{"gb200", "GB200", "gb200"},
    WordsName{"gb300", "GB300", "gb300"},
    WordsName{"b200", "B200", "b200"},
    WordsName{"b300", "B300", "b300"},
    WordsName{"v100sxm216gb", "V100 16 GB", "v100-16gb"},
    WordsName{"v100pcie16gb", "V100 16 GB", "v100-16gb"},
    WordsName{"v100", "V100", "v100", "V100s have 16 or 32 GB, and this does not say which"},
    WordsName{"3090", "GeForce RTX 3090", "rtx3090"},
    WordsName{"4090", "GeForce RTX 4090", "rtx4090"},
    WordsName{"5090", "GeForce RTX 5090", "rtx5090"},
    WordsName{"rtxpro6000", "RTX PRO 6000", "rtx-pro-6000"},
    WordsName{"l40s", "L40S", "l40s"},
    WordsName{"l40", "L40", ""},
    WordsName{"l4", "L4", "l4"},
    WordsName{"t4", "T4", "t4"},
    WordsName{"mi300x", "MI300X", "mi300x"},
    WordsName{"mi325x", "MI325X", "mi325x"},
    WordsName{"mi355x", "MI355X", "mi355x"},
    WordsName{"mi250", "MI250", ""},
    WordsName{"mi210", "MI210", ""},
    WordsName{"mi100", "MI100", ""},
};

GpuGuess guess_of(const WordsName& name) {
  return {std::string(name.words), std::string(name.catalog), std::string(name.doubt)};
}

std::string without_prefix(std::string_view hexadecimal) {
  const std::string digits = small(hexadecimal);
  return digits.starts_with("0x") ? digits.substr(2) : digits;
}

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Returns true if `part` is a word of `text`, or the beginning of one that goes on with a letter.
bool begins_word(const std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool digit_follows = end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0;
    if (!digit_follows && (at == 0 || text[at - 1] == ' ')) return true;
  }
  return false;
}

}  // namespace

GpuGuess gpu_of_pci(std::string_view vendor, std::string_view device) {
  const std::string id = without_prefix(vendor) + ":" + without_prefix(device);
  const auto found = std::ranges::find(kPciNames, id, &PciName::id);
  if (found == kPciNames.end()) return {};
  return {std::string(found->words), std::string(found->catalog), ""};
}

GpuGuess gpu_of_capability(int capability, bool arm) {
  switch (capability) {
    case 60:
      return {"P100", "", ""};
    case 70:
      return {"V100", "v100", "V100s have 16 or 32 GB, and sm 70 does not say which"};
    case 75:
      return {"T4", "t4", "sm 75 is the T4 and other GPUs of that generation"};
    case 80:
      return {"A100", "a100-80gb", "A100s have 40 or 80 GB, and sm 80 does not say which"};
    case 90:
      return {"H100", "h100", "sm 90 is the H100, H200, H800 and H20"};
    case 100:
      return arm ? GpuGuess{"GB200", "gb200", ""} : GpuGuess{"B200", "b200", ""};
    case 103:
      return arm ? GpuGuess{"GB300", "gb300", ""} : GpuGuess{"B300", "b300", ""};
    default:
      return {"compute capability " + std::to_string(capability), "", ""};
  }
}

GpuGuess gpu_of_gcn(std::string_view gcn, int compute_units) {
  const std::string name = small(gcn);
  const auto is = [&name](std::string_view part) { return name.find(part) != std::string::npos; };
  if (is("942") && compute_units == 228) return {"MI300A", "", ""};
  if (is("940") || is("941") || is("942"))
    return {"MI300X", "mi300x", "its architecture is that of the MI300X and of the MI325X"};
  if (is("950")) return {"MI355X", "mi355x", "its architecture is that of the MI350X and of the MI355X"};
  if (is("90a") || is("910")) return {"MI210 or MI250", "", ""};
  if (is("908")) return {"MI100", "", ""};
  if (is("906")) return {"MI50 or MI60", "", ""};
  return {"architecture " + std::string(gcn), "", ""};
}

GpuGuess gpu_of_words(std::string_view text) {
  std::string plain;
  for (const char c : small(text))
    if (is_letter_or_digit(c)) plain += c;
  std::string spaced = small(text);
  std::ranges::replace_if(
      spaced, [](char c) { return !is_letter_or_digit(c); }, ' ');
  for (const WordsName& name : kWordsNames)
    if (name.part.size() < 4 ? begins_word(spaced, name.part) : plain.find(name.part) != std::string::npos)
      return guess_of(name);
  return {};
}

double nvlink_gb_per_s(std::string_view gpu) {
  if (gpu == "v100" || gpu == "v100-16gb" || gpu.starts_with("a100") || gpu.starts_with("h")) return 25;
  if (gpu == "b200" || gpu == "b300" || gpu == "gb200" || gpu == "gb300") return 50;
  return 0;
}

double nvlink_gb_per_s(int capability) {
  if (capability >= 70 && capability < 100 && capability % 10 == 0) return 25;
  return capability >= 100 && capability < 110 ? 50 : capability == 60 ? 20 : 0;
}

}  // namespace orrery::importers
