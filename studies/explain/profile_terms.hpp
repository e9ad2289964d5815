// Sets the accounts of measured ranks against those of the simulated ones: terms, messages and findings. A
// part of explain().
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "studies/explain/account.hpp"
#include "studies/explain/explanation.hpp"

namespace orrery {

struct AccountPair {
  std::vector<RankAccount> measured;
  std::vector<RankAccount> simulated;  ///< of the same ranks, in the same order
  bool by_name = false;                ///< kernels of the measured run are known by their names alone
  bool lined_up = false;               ///< waits for other ranks are known
};

/// Sets steps, terms and messages.
void explain_terms(AccountPair accounts, Explanation& to);
/// Adds findings and simulates what mending each would gain.
void find_causes(const AccountPair& accounts, const Experiment& experiment, Explanation& to);
/// Counts classes of kernels that names do not tell apart as the classes that they look like.
void merge_classes(AccountPair& accounts);

}  // namespace orrery
