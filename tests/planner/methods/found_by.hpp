#pragma once

#include "planner/methods/search.hpp"

namespace orrery::test {

/// The result of a search by that method, on two threads.
inline SearchResult found_by(const char* method, const Space& space) {
  SearchRequest request;
  request.method = method;
  request.threads = 2;
  return search(space, request);
}

}  // namespace orrery::test
