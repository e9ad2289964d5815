#include "importers/machines/smi_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/text_lines.hpp"
#include "importers/machines/node_parts.hpp"

namespace orrery::importers::machines {
namespace {

// More links than any GPU has: a row whose links add up to more counts one bundle to a switch again and
// again.
constexpr int kMostLinks = 18;
constexpr std::size_t kBytesOfMatrix = 65536;

struct Matrix {
  std::vector<std::string> columns;
  std::map<std::string, std::vector<std::string>> rows;
  int line = 0;  ///< of the header
};

/// Terminals underline the header.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0) ++i;
      continue;
    }
    plain += line[i];
  }
  return plain;
}

bool is_gpu_name(std::string_view word) {
  return word.size() > 3 && word.size() < 7 && word.starts_with("GPU") &&
         integer_of(word.substr(3)).has_value();
}

/// Devices beside GPUs, by the prefixes of their names.
bool is_nic_name(std::string_view word) {
  return word.starts_with("NIC") || word.starts_with("mlx") || word.starts_with("rdma") ||
         word.starts_with("bnxt") || word.starts_with("irdma") || word.starts_with("efa");
}

std::vector<std::string> header_of(std::string_view line) {
  std::vector<std::string> columns;
  for (const std::string_view word : words_of(line)) {
    if (!is_gpu_name(word) && !is_nic_name(word)) break;
    columns.emplace_back(word);
  }
  const bool header = !columns.empty() && columns.front() == "GPU0" &&
                      (columns.size() > 1 || line.find("Affinity") != std::string_view::npos);
  return header ? columns : std::vector<std::string>{};
}

bool is_entry(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWays{"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
  return std::ranges::find(kWays, word) != kWays.end() || word == "PIX*" || word == "SOC" || word == "PSB" ||
         (word.starts_with("NV") && integer_of(word.substr(2)).has_value());
}

bool is_smi_matrix(const SourceFile& file) {
  const std::size_t first = file.text().find("GPU0");
  if (first == std::string_view::npos) return false;
  const SourceFile head = head_of(file, first + kBytesOfMatrix);
  const std::vector<TextLine> lines = lines_of(head);
  const auto header = std::ranges::find_if(
      lines, [](const TextLine& l) { return !header_of(without_escapes(l.text)).empty(); });
  return header != lines.end() && std::any_of(header, lines.end(), [](const TextLine& line) {
           const std::string plain = without_escapes(line.text);
           const auto words = words_of(plain);
           return words.size() > 1 && words[0] == "GPU0" && words[1] == "X";
         });
}

/// Adds words of a line to the row that is being read; rows that a paste has broken go on in the next line.
void add_words(const std::vector<std::string_view>& words, Matrix& matrix, std::string& row) {
  for (const std::string_view word : words) {
    if (!row.empty() && is_entry(word) && matrix.rows[row].size() < matrix.columns.size()) {
      matrix.rows[row].emplace_back(word);
    } else if (std::ranges::find(matrix.columns, word) != matrix.columns.end()) {
      row = std::string(word);
      if (!matrix.rows[row].empty()) row.clear();
    } else {
      row.clear();
      return;
    }
  }
}

Matrix matrix_of(const SourceFile& file) {
  Matrix matrix;
  std::string row;
  for (const TextLine& line : lines_of(file)) {
    const std::string plain = without_escapes(line.text);
    if (matrix.columns.empty()) {
      matrix.columns = header_of(plain);
      matrix.line = line.number;
    } else {
      add_words(words_of(plain), matrix, row);
    }
  }
  return matrix;
}

std::string_view entry(const Matrix& matrix, const std::string& row, std::size_t column) {
  const auto found = matrix.rows.find(row);
  return found == matrix.rows.end() || column >= found->second.size()
             ? std::string_view{}
             : std::string_view(found->second[column]);
}

int links_in(std::string_view entry) {
  return entry.starts_with("NV")
             ? static_cast<int>(std::clamp<std::int64_t>(integer_of(entry.substr(2)).value_or(0), 0, 1000))
             : 0;
}

std::vector<NodeLink> links_of_row(const Matrix& matrix, const std::string& row, const FilePlace& place) {
  std::vector<NodeLink> links;
  int sum = 0;
  for (std::size_t i = 0; i < matrix.columns.size(); ++i)
    if (const int count = links_in(entry(matrix, row, i)); count > 0) {
      links.push_back({matrix.columns[i], count, false, place});
      sum += count;
    }
  if (sum <= kMostLinks) return links;
  return {{"switch", links.front().count, true, place}};
}

/// Returns true if the NIC shares a PCIe switch with a GPU.
bool is_near(const Matrix& matrix, std::size_t nic) {
  return std::ranges::any_of(matrix.rows, [&matrix, nic](const auto& row) {
    const std::string_view way = entry(matrix, row.first, nic);
    return is_gpu_name(row.first) && (way == "PIX" || way == "PXB");
  });
}

std::vector<NodeNic> nics_of(const Matrix& matrix, const FilePlace& place, Draft& draft) {
  std::vector<NodeNic> near, far;
  for (std::size_t i = 0; i < matrix.columns.size(); ++i)
    if (!is_gpu_name(matrix.columns[i]))
      (is_near(matrix, i) ? near : far).push_back({matrix.columns[i], "", 0, true, true, place});
  if (near.empty()) return far;
  for (const NodeNic& nic : far)
    draft.ignore({nic.name, nullptr, place}, "shares no PCIe switch with a GPU, as others do");
  return near;
}

void read_smi_matrix(const ImportContext& context, Draft& draft) {
  const Matrix matrix = matrix_of(context.file);
  const FilePlace place{context.file.path(), matrix.line};
  NodeParts node;
  for (const std::string& name : matrix.columns)
    if (is_gpu_name(name)) {
      NodeGpu gpu;
      gpu.id = name;
      gpu.place = place;
      gpu.links = links_of_row(matrix, name, place);
      node.gpus.push_back(std::move(gpu));
    }
  node.nics = nics_of(matrix, place, draft);
  map_node(node, context, draft);
}

}  // namespace

const Importer kSmiMatrix{
    {"nvidia-smi-topo", "Matrix of nvidia-smi topo -m"}, is_smi_matrix, read_smi_matrix};

}  // namespace orrery::importers::machines
