#include "planner/methods/genome.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace orrery {
namespace {

constexpr double kNeighbourShare = 0.75;  ///< of mutations of numbers in a list
constexpr double kSmallestStep = 1e-4;    ///< of shares

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return number;
}

bool are_growing_numbers(const std::vector<std::string>& values) {
  std::optional<double> last;
  for (const std::string& value : values) {
    const std::optional<double> number = number_of(value);
    if (!number || (last && *number <= *last)) return false;
    last = number;
  }
  return true;
}

}  // namespace

Breeder::Breeder(const Space& space) : space_(space) {
  for (std::size_t k = 0; k < space.keys().size(); ++k) {
    const SpaceKey& key = space.keys()[k];
    numeric_.push_back(are_growing_numbers(key.values));
    if (key.interval || key.values.size() > 1) free_.push_back(k);
  }
}

Genome Breeder::random(SplitMix64& random) const {
  Genome genome;
  for (const SpaceKey& key : space_.keys())
    genome.push_back(key.interval ? random.uniform() : static_cast<double>(random.below(key.values.size())));
  return genome;
}

double Breeder::mutated(std::size_t key, double gene, SplitMix64& random) const {
  if (space_.keys()[key].interval) {
    const double step = std::pow(kSmallestStep, random.uniform());
    return std::clamp(gene + (2 * random.uniform() - 1) * step, 0.0, 1.0);
  }
  const auto last = static_cast<double>(space_.keys()[key].values.size() - 1);
  if (numeric_[key] && random.uniform() < kNeighbourShare) {
    if (gene == 0) return 1;
    if (gene == last) return last - 1;
    return random.below(2) == 0 ? gene - 1 : gene + 1;
  }
  const auto other = static_cast<double>(random.below(static_cast<std::uint64_t>(last)));
  return other < gene ? other : other + 1;
}

Genome Breeder::child(const Genome& a, const Genome& b, SplitMix64& random) const {
  Genome genome = a;
  for (const std::size_t k : free_)
    if (random.below(2) == 0) genome[k] = b[k];
  if (free_.empty()) return genome;
  const std::size_t certain = free_[static_cast<std::size_t>(random.below(free_.size()))];
  for (const std::size_t k : free_)
    if (k == certain || random.below(free_.size()) == 0) genome[k] = mutated(k, genome[k], random);
  return genome;
}

std::vector<std::string> Breeder::values(const Genome& genome) const {
  std::vector<std::string> values;
  for (std::size_t k = 0; k < genome.size(); ++k) {
    const SpaceKey& key = space_.keys()[k];
    values.push_back(key.interval ? key.interval->at(genome[k])
                                  : key.values[static_cast<std::size_t>(genome[k])]);
  }
  return values;
}

}  // namespace orrery
