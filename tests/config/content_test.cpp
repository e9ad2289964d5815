// Checks that every key of an experiment is part of its identity (members(), ==), so that no cache takes one
// experiment for another.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/schema/fields.hpp"
#include "orrery/content_hash.hpp"
#include "orrery/experiment.hpp"

using namespace orrery;

namespace {

template <class T, class V>
void change(T& object, V T::*member) {
  if constexpr (std::is_same_v<V, bool>) {
    object.*member = !(object.*member);
  } else if constexpr (std::is_arithmetic_v<V>) {
    object.*member += 1;
  } else {
    (object.*member).push_back({});
  }
}

/// Returns true if a changed value of the field makes a different object; fields without a target belong to
/// others.
template <class T>
bool tells_apart(const Field<T>& field) {
  bool apart = true;
  const auto check = [&](auto target) {
    using Target = decltype(target);
    if constexpr (std::is_member_object_pointer_v<Target>) {
      T changed;
      change(changed, target);
      apart = !(changed == T{}) && !(content_of(changed) == content_of(T{}));
    } else if constexpr (std::is_same_v<Target, void (*)(T&, std::size_t)>) {
      T first;
      T second;
      target(first, 0);
      target(second, 1);
      apart = !(first == second) && !(content_of(first) == content_of(second));
    }
  };
  std::visit(check, field.target);
  return apart;
}

template <class T>
void check_all(const std::vector<Field<T>>& fields) {
  REQUIRE(!fields.empty());
  for (const Field<T>& field : fields) {
    CAPTURE(field.name);
    CHECK(tells_apart(field));
  }
}

}  // namespace

TEST_CASE("a change of any key changes the content of its part of an experiment") {
  check_all(model_fields());
  check_all(layer_run_fields());
  check_all(gpu_fields());
  check_all(node_fields());
  check_all(fabric_fields());
  check_all(graph_link_fields());
  check_all(site_fields());
  check_all(site_link_fields());
  check_all(cluster_fields());
  check_all(plan_fields());
  check_all(recompute_fields());
  check_all(wire_precision_fields());
  check_all(sync_fields());
  check_all(compression_fields());
  check_all(simulation_fields());
  check_all(software_fields());
  check_all(training_fields());
  check_all(inference_fields());
  check_all(token_lengths_fields());
  check_all(speculation_fields());
  check_all(disaggregation_fields());
  check_all(accuracy_fields());
  check_all(problem_fields());
  check_all(worker_change_fields());
}
