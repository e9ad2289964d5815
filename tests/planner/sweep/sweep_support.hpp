// A small space, and a folder for files of its results.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "planner/sweep/results_table.hpp"
#include "planner/sweep/sweep.hpp"

namespace orrery {

inline constexpr const char* kSweptExperiment =
    R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
    "plan": {"tensor_parallel": 2, "global_batch_size": 32}})";

/// 3 x 2 x 2 points. 3 divides neither the heads nor the GPUs; the order of ranks changes nothing where there
/// are no pipelines.
inline constexpr const char* kSweptSpace = R"({"plan.tensor_parallel": [1, 2, 3],
    "plan.pipeline_parallel": [1, 2], "plan.rank_order": ["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"]})";

inline Space swept_space(const std::string& description = kSweptSpace,
                         const std::string& experiment = kSweptExperiment) {
  return {
      read_space(description, "space.json"), {"experiment.json", experiment}, Catalog::embedded(), menus()};
}

class ResultsFolder {
 public:
  ResultsFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-sweep-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ResultsFolder() { std::filesystem::remove_all(path_); }
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name = "r.db") const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline SweepOptions swept_into(const std::string& file) {
  SweepOptions options;
  options.file = file;
  return options;
}

inline std::string exported(const std::string& file, ExportFormat format) {
  std::string text;
  export_results(ResultsTable(file, 0), format, {}, [&text](std::string_view part) { text += part; });
  return text;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace orrery
