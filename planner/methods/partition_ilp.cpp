#include "planner/methods/partition_ilp.hpp"

#include "orrery/error.hpp"

#ifdef ORRERY_HAS_CBC

#include <Cbc_C_Interface.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

namespace orrery {
namespace {

/// A stage that may be taken.
struct Column {
  std::size_t stage = 0;
  std::size_t kind = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  StageOption option;
};

/// The best known partition costs this in the units of the solver, whose tolerances are absolute; units are
/// at most a picosecond.
constexpr double kScale = 1e6;

std::vector<Column> list_columns(const PartitionProblem& problem, Int128 most) {
  std::vector<Column> columns;
  for (std::size_t stage = 0; stage < problem.stages; ++stage) {
    const std::int64_t last_start = stage == 0 ? 0 : problem.layers;
    for (std::int64_t from = 0; from <= last_start; ++from) {
      const std::int64_t first_end = stage + 1 == problem.stages ? problem.layers : from;
      for (std::int64_t to = first_end; to <= problem.layers; ++to) {
        for (std::size_t kind = 0; kind < problem.kinds.size(); ++kind) {
          const auto option = problem.option(stage, kind, from, to);
          if (!option || costs_more(problem, *option, most)) continue;
          columns.push_back({stage, kind, from, to, *option});
        }
      }
    }
  }
  return columns;
}

class IntegerProgram {
 public:
  IntegerProgram(const PartitionProblem& problem, const Partition& known)
      : problem_(problem),
        known_(known),
        model_(Cbc_newModel(), &Cbc_deleteModel),
        columns_(list_columns(problem, known.empty() ? kUnlimited : cost_of(problem, known))),
        unit_(known.empty() ? 1 : std::max(1.0, static_cast<double>(cost_of(problem, known)) / kScale)) {
    Cbc_setLogLevel(model_.get(), 0);
    add_columns();
    add_bounds_of_stages();
    add_chain();
    add_kinds();
  }

  IlpPartition solve(double seconds) {
    start_from_known();
    Cbc_setMaximumSeconds(model_.get(), seconds);
    Cbc_setAllowableGap(model_.get(), 0);
    Cbc_setAllowableFractionGap(model_.get(), 1e-9);
    Cbc_solve(model_.get());
    IlpPartition result;
    result.optimal = Cbc_isProvenOptimal(model_.get()) != 0 || Cbc_isProvenInfeasible(model_.get()) != 0;
    result.bound = Cbc_getBestPossibleObjValue(model_.get()) * unit_;
    const double* const solution = Cbc_bestSolution(model_.get());
    result.partition = solution == nullptr ? known_ : read(solution);
    if (result.optimal) result.bound = static_cast<double>(cost_of(problem_, result.partition));
    return result;
  }

 private:
  static constexpr Int128 kUnlimited = Int128{1} << 120;

  [[nodiscard]] double scaled(Picoseconds time) const { return static_cast<double>(time) / unit_; }
  [[nodiscard]] int slowest() const { return static_cast<int>(columns_.size()); }
  [[nodiscard]] int reduction() const { return slowest() + 1; }

  void add_columns() {
    for (const Column& column : columns_)
      Cbc_addCol(model_.get(), "", 0, 1, scaled(column.option.pass_ps), 1, 0, nullptr, nullptr);
    const double most = std::numeric_limits<double>::max();
    const auto others = static_cast<double>(problem_.micro_batches - 1);
    Cbc_addCol(model_.get(), "", 0, most, others, 0, 0, nullptr, nullptr);
    Cbc_addCol(model_.get(), "", 0, most, 1, 0, 0, nullptr, nullptr);
  }

  /// sum of factor(column) * column [+ factor * other] `sense` right, over columns that are `taken`.
  template <class Factor>
  void add_row(Factor factor, int other, double other_factor, char sense, double right) {
    std::vector<int> places;
    std::vector<double> factors;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const double of_column = factor(columns_[c]);
      if (of_column == 0) continue;
      places.push_back(static_cast<int>(c));
      factors.push_back(of_column);
    }
    if (other_factor != 0) {
      places.push_back(other);
      factors.push_back(other_factor);
    }
    Cbc_addRow(model_.get(), "", static_cast<int>(places.size()), places.data(), factors.data(), sense,
               right);
  }

  void add_bounds_of_stages() {
    for (std::size_t stage = 0; stage < problem_.stages; ++stage) {
      const auto bound = [&](int variable, Picoseconds StageOption::*time) {
        add_row([&](const Column& c) { return c.stage == stage ? scaled(c.option.*time) : 0; }, variable, -1,
                'L', 0);
      };
      bound(slowest(), &StageOption::pass_ps);
      bound(reduction(), &StageOption::reduction_ps);
      add_row([&](const Column& c) { return c.stage == stage ? 1.0 : 0.0; }, 0, 0, 'E', 1);
    }
  }

  /// Where a stage ends the next one begins.
  void add_chain() {
    for (std::size_t stage = 1; stage < problem_.stages; ++stage) {
      for (std::int64_t layer = 0; layer <= problem_.layers; ++layer) {
        const auto sign = [&](const Column& c) {
          if (c.stage + 1 == stage && c.to == layer) return 1.0;
          return c.stage == stage && c.from == layer ? -1.0 : 0.0;
        };
        add_row(sign, 0, 0, 'E', 0);
      }
    }
  }

  void add_kinds() {
    if (problem_.kinds.size() == 1) return;
    for (std::size_t kind = 0; kind < problem_.kinds.size(); ++kind)
      add_row([&](const Column& c) { return c.kind == kind ? 1.0 : 0.0; }, 0, 0, 'E',
              static_cast<double>(problem_.kinds[kind]));
  }

  /// Starts from the known partition, which bounds the cost from above.
  void start_from_known() {
    if (known_.empty()) return;
    std::vector<int> places;
    std::int64_t from = 0;
    for (std::size_t stage = 0; stage < known_.size(); ++stage) {
      const std::int64_t to = from + known_[stage].layers;
      const auto is_taken = [&](const Column& c) {
        return c.stage == stage && c.kind == known_[stage].kind && c.from == from && c.to == to;
      };
      places.push_back(static_cast<int>(std::ranges::find_if(columns_, is_taken) - columns_.begin()));
      from = to;
    }
    const std::vector<double> ones(places.size(), 1);
    Cbc_setMIPStartI(model_.get(), static_cast<int>(places.size()), places.data(), ones.data());
  }

  [[nodiscard]] Partition read(const double* solution) const {
    Partition partition(problem_.stages);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (solution[c] > 0.5) partition[column.stage] = {column.kind, column.to - column.from, column.option};
    }
    return partition;
  }

  const PartitionProblem& problem_;
  const Partition& known_;
  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model_;
  std::vector<Column> columns_;
  double unit_;  ///< picoseconds
};

}  // namespace

bool has_integer_solver() { return true; }

IlpPartition partition_by_ilp(const PartitionProblem& problem, double seconds) {
  const Partition known = balanced_partition(problem);
  return IntegerProgram(problem, known).solve(seconds);
}

}  // namespace orrery

#else

namespace orrery {

bool has_integer_solver() { return false; }

IlpPartition partition_by_ilp(const PartitionProblem& /*problem*/, double /*seconds*/) {
  throw InputError(
      {Diagnostic{"command line", 0, 0, "",
                  "--search: found \"ilp\", allowed where Orrery was built with CBC (coinor-libcbc-dev)"}});
}

}  // namespace orrery

#endif
