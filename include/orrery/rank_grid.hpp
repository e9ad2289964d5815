// Gives the position of each rank in the parallel dimensions of a plan: a grid with a named axis for each.
// Used by workloads/ to form communicators and by reports to name ranks; it knows no dimension in particular.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "orrery/plan.hpp"

namespace orrery {

/// A place on each axis, from 0.
class RankCoordinates {
 public:
  RankCoordinates() = default;
  /// 0 on the axes that are not named.
  RankCoordinates(std::initializer_list<std::pair<Axis, std::int64_t>> places) {
    for (const auto& [axis, place] : places) (*this)[axis] = place;
  }
  [[nodiscard]] std::int64_t& operator[](Axis axis) { return places_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t operator[](Axis axis) const { return places_[static_cast<std::size_t>(axis)]; }

  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;

 private:
  std::array<std::int64_t, kAxisCount> places_{};
};

/// Maps ranks to coordinates and back. The first axis of a plan's rank_order is innermost.
class RankGrid {
 public:
  /// Folded axes have a single place.
  explicit RankGrid(const Plan& plan) : RankGrid(sizes_of(plan), plan.rank_order) {}

  /// Returns the grid of the same ranks as experts are spread over them. In each stage, the tensor axis has
  /// the ranks that share the matrices of an expert, the expert axis those that share the experts, and the
  /// data axis all that hold the same experts.
  [[nodiscard]] static RankGrid of_experts(const Plan& plan) {
    Sizes sizes{};
    sizes.fill(1);
    sizes[index(Axis::tensor)] = plan.expert_tensor_parallel;
    sizes[index(Axis::expert)] = plan.expert_parallel;
    sizes[index(Axis::data)] = plan.expert_copies() / plan.model_copies();
    sizes[index(Axis::pipeline)] = plan.pipeline_parallel;
    return RankGrid(sizes, plan.rank_order);
  }

  [[nodiscard]] std::int64_t size(Axis axis) const { return size_[index(axis)]; }
  /// Returns the difference between the numbers of neighbouring ranks on an axis.
  [[nodiscard]] std::int64_t stride(Axis axis) const { return stride_[index(axis)]; }
  /// Ranks from the first to the last of a group along an axis.
  [[nodiscard]] std::int64_t span(Axis axis) const { return stride(axis) * size(axis); }
  [[nodiscard]] std::uint32_t ranks() const {
    std::int64_t product = 1;
    for (const std::int64_t size : size_) product *= size;
    return static_cast<std::uint32_t>(product);
  }

  [[nodiscard]] std::int64_t place(std::uint32_t rank, Axis axis) const {
    return static_cast<std::int64_t>(rank) / stride(axis) % size(axis);
  }
  [[nodiscard]] RankCoordinates coordinates(std::uint32_t rank) const {
    RankCoordinates at;
    for (std::size_t a = 0; a < kAxisCount; ++a) at[static_cast<Axis>(a)] = place(rank, static_cast<Axis>(a));
    return at;
  }
  [[nodiscard]] std::uint32_t rank(const RankCoordinates& at) const {
    std::int64_t rank = 0;
    for (std::size_t a = 0; a < kAxisCount; ++a) rank += at[static_cast<Axis>(a)] * stride_[a];
    return static_cast<std::uint32_t>(rank);
  }

  /// Calls `visit(at)` for every place that is 0 on all of `axes`, so once per group along them. Those next
  /// to each other on an axis that stands earlier in Axis come first.
  template <class Visit>
  void for_each_group(std::initializer_list<Axis> axes, Visit visit) const {
    visit_places(AxisSet(axes, false), {}, visit);
  }
  /// Calls `visit(rank)` for the members of the group along `axes` that `at` is in, in the same order.
  template <class Visit>
  void for_each_member(RankCoordinates at, std::initializer_list<Axis> axes, Visit visit) const {
    visit_places(AxisSet(axes, true), at, [&](const RankCoordinates& member) { visit(rank(member)); });
  }

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(size_, stride_);
  }
  friend bool operator==(const RankGrid&, const RankGrid&) = default;

 private:
  using Sizes = std::array<std::int64_t, kAxisCount>;

  RankGrid(const Sizes& sizes, std::string_view rank_order) : size_(sizes) {
    std::int64_t stride = 1;
    for (std::string_view rest = rank_order; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find('-'));
      rest.remove_prefix(name.size() == rest.size() ? name.size() : name.size() + 1);
      for (std::size_t a = 0; a < kAxisCount; ++a) {
        if (name != kAxes[a].name) continue;
        stride_[a] = stride;
        stride *= size_[a];
      }
    }
  }

  [[nodiscard]] static constexpr std::size_t index(Axis axis) { return static_cast<std::size_t>(axis); }
  [[nodiscard]] static Sizes sizes_of(const Plan& plan) {
    Sizes sizes{};
    for (std::size_t a = 0; a < kAxisCount; ++a)
      sizes[a] = kAxes[a].folded ? 1 : plan.degree(static_cast<Axis>(a));
    return sizes;
  }

  /// The axes to move along.
  struct AxisSet {
    AxisSet(std::initializer_list<Axis> axes, bool those) {
      has.fill(!those);
      for (const Axis axis : axes) has[static_cast<std::size_t>(axis)] = those;
    }
    std::array<bool, kAxisCount> has{};
  };

  /// Counts through the places on the axes of `set` like an odometer; `at` keeps its others.
  template <class Visit>
  void visit_places(const AxisSet& set, RankCoordinates at, Visit visit) const {
    for (std::size_t a = 0; a < kAxisCount; ++a) {
      if (set.has[a]) at[static_cast<Axis>(a)] = 0;
    }
    for (std::size_t a = 0; a < kAxisCount;) {
      visit(std::as_const(at));
      for (a = 0; a < kAxisCount; ++a) {
        if (!set.has[a]) continue;
        if (++at[static_cast<Axis>(a)] < size_[a]) break;
        at[static_cast<Axis>(a)] = 0;
      }
    }
  }

  Sizes size_{};
  Sizes stride_{1, 1, 1, 1, 1};
};

}  // namespace orrery
