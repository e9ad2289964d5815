#include "reports/explorer_writers.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <variant>

#include "orrery/printable.hpp"
#include "reports/text/csv_field.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

using Cell = std::variant<std::string_view, std::int64_t, double, bool>;
using A = ExplorerAnswer;

struct ExplorerColumn {
  std::string_view name;
  Cell (*value)(const ExplorerAnswer& answer) = nullptr;
  int csv_decimals = 2;  ///< of a double
};

double gibibytes(double bytes) { return bytes / (1 << 30); }

Cell sharding(const A& a) {
  return kExplorerShardings[static_cast<std::size_t>(a.experiment.plan.zero_stage)];
}

Cell sub_sequence(const A& a) { return a.experiment.model.seq_length / a.experiment.plan.context_parallel; }

/// The explorer's, in its order; then ours.
constexpr ExplorerColumn kColumns[] = {
    {"name", [](const A& a) -> Cell { return a.experiment.name; }},
    {"ngpus", [](const A& a) -> Cell { return a.experiment.plan.gpus(); }},
    {"TP", [](const A& a) -> Cell { return a.experiment.plan.tensor_parallel; }},
    {"PP", [](const A& a) -> Cell { return a.experiment.plan.pipeline_parallel; }},
    {"EP", [](const A& a) -> Cell { return a.experiment.plan.expert_parallel; }},
    {"CP", [](const A& a) -> Cell { return a.experiment.plan.context_parallel; }},
    {"DP", [](const A& a) -> Cell { return a.experiment.plan.data_parallel; }},
    {"sub_seq_length", sub_sequence},
    {"micro_batch_size", [](const A& a) -> Cell { return a.experiment.plan.micro_batch_size; }},
    {"num_of_micro_batches",
     [](const A& a) -> Cell { return static_cast<double>(a.experiment.plan.micro_batches()); }, 1},
    {"data_parallel_sharding_strategy", sharding},
    {"total_memory_gb", [](const A& a) -> Cell { return gibibytes(a.memory.total_bytes()); }},
    {"model_and_optimizer_states_memory_gb",
     [](const A& a) -> Cell { return gibibytes(a.memory.states_bytes); }},
    {"activations_memory_gb", [](const A& a) -> Cell { return gibibytes(a.memory.activations_bytes); }},
    {"pipeline_bubble", [](const A& a) -> Cell { return a.memory.pipeline_bubble; }, 4},
    {"token_imbalance", [](const A& a) -> Cell { return a.memory.token_imbalance; }, 4},
    {"dense_parameters", [](const A& a) -> Cell { return a.memory.dense_parameters; }},
    {"expert_parameters", [](const A& a) -> Cell { return a.memory.expert_parameters; }},
    {"capacity_gib", [](const A& a) -> Cell { return gibibytes(static_cast<double>(a.gpu_memory)); }},
    {"feasible", [](const A& a) -> Cell { return a.feasible(); }},
};

std::string csv_cell(const Cell& cell, int decimals) {
  if (const auto* text = std::get_if<std::string_view>(&cell)) return csv_field(*text);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.{}f}", *number, decimals);
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, cell);
}

std::string memory_line(std::string_view name, double bytes) {
  return fmt::format("  {:<27}{:>12.2f}\n", name, gibibytes(bytes));
}

std::string plan_line(const ExplorerAnswer& answer) {
  const Plan& p = answer.experiment.plan;
  return fmt::format("tp {} x cp {} x ep {} x pp {} x dp {}, {} micro-batches of {}, {}\n", p.tensor_parallel,
                     p.context_parallel, p.expert_parallel, p.pipeline_parallel, p.data_parallel,
                     p.micro_batches(), p.micro_batch_size, std::get<std::string_view>(sharding(answer)));
}

}  // namespace

void write_explorer_csv(const ExplorerAnswer& answer, const Sink& sink) {
  std::string header;
  std::string row;
  for (const ExplorerColumn& column : kColumns) {
    const std::string_view comma = header.empty() ? "" : ",";
    header.append(comma).append(column.name);
    row.append(comma).append(csv_cell(column.value(answer), column.csv_decimals));
  }
  sink(header + "\n" + row + "\n");
}

void write_explorer_json(const ExplorerAnswer& answer, int indent, const Sink& sink) {
  JsonText text(indent);
  text.begin('{');
  for (const ExplorerColumn& column : kColumns) {
    text.key(column.name);
    std::visit([&text](const auto& value) { text.value(value); }, column.value(answer));
  }
  text.end('}');
  sink(text.take());
}

void write_explorer_summary(const ExplorerAnswer& answer, const Sink& sink) {
  const ExplorerMemory& memory = answer.memory;
  const double capacity = gibibytes(static_cast<double>(answer.gpu_memory));
  std::string text =
      fmt::format("{}  {}\n{} GPUs\n", one_line(answer.experiment.name),
                  answer.feasible() ? "feasible" : "INFEASIBLE", answer.experiment.plan.gpus());
  text += plan_line(answer);
  text += fmt::format("\nMemory per GPU as the explorer counts it  GiB of {:.2f}\n", capacity);
  text += memory_line("model and optimizer states", memory.states_bytes);
  text += memory_line("activations", memory.activations_bytes);
  text += memory_line("total", memory.total_bytes());
  text += fmt::format("\npipeline bubble {:.4f}, token imbalance {:.4f}\n", memory.pipeline_bubble,
                      memory.token_imbalance);
  sink(text);
}

}  // namespace orrery
