// The heap of a process that simulates.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace orrery {

#ifdef __GLIBC__
inline constexpr std::uintptr_t kFirstHeap = 64 << 20;  ///< also the most of one that a thread begins with

/// The heap of this thread, from where it is empty to an address that follows from there, gets large pages.
template <class EndOf>
void use_large_pages(EndOf end_of) {
  constexpr std::size_t kBeyondInitial = 1 << 20;
  constexpr std::uintptr_t kPage = 4096;
  void* const first = std::malloc(kBeyondInitial);  // makes the heap grow
  const auto begin = (reinterpret_cast<std::uintptr_t>(first) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = end_of(begin);
  if (first != nullptr && begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(first);
}
#endif

/// Large arrays are made and dropped in turns: pages given back to the system each time cost a fifth of a
/// run. Getting small pages one by one costs a short run another fifth, so the first of the heap are large
/// ones.
inline void prepare_heap() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kFirstHeap);
  use_large_pages([](std::uintptr_t) { return reinterpret_cast<std::uintptr_t>(sbrk(0)); });
#endif
}

/// The same for a thread, which has a heap of its own that begins at a multiple of its size.
inline void prepare_heap_of_thread() {
#ifdef __GLIBC__
  use_large_pages([](std::uintptr_t begin) { return (begin / kFirstHeap + 1) * kFirstHeap; });
#endif
}

}  // namespace orrery
