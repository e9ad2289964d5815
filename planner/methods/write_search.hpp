// Writes the result of a search as text, as JSON and as a page.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/write.hpp"
#include "planner/methods/search.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

/// Returns text for a terminal: the best points, the counts of the others, and why the best one is better
/// than the next.
[[nodiscard]] std::string search_text(const SearchResult& result, const Space& space,
                                      const SearchRequest& request);

/// {"method", "objective", "optimal", "gap", "points", "evaluated", ..., "best": [result...], "pareto":
/// [...]}; each result as that of `orrery simulate --json`, with its values of the space's keys as "point".
[[nodiscard]] std::string search_json(const SearchResult& result, const Space& space,
                                      const SearchRequest& request);

/// Writes a page of HTML: the plans found, why the first is better than another, and the counts of the rest.
void write_search_page(const SearchResult& result, const Space& space, const SearchRequest& request,
                       const Sink& sink);

/// Charts of a search.
enum class SearchPicture : std::uint8_t {
  pareto,  ///< all simulated plans, the objective over the first figure it is weighed against
  search,  ///< the best value so far over the simulations
};
inline constexpr std::array<std::string_view, 2> kSearchPictureNames{"pareto", "search"};

/// `picture` is pareto only where the request weighs figures.
[[nodiscard]] ChartScene search_scene(const SearchResult& result, const Space& space,
                                      const SearchRequest& request, SearchPicture picture);

}  // namespace orrery
