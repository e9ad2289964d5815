// Prepares the heap of a process that simulates.
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
inline constexpr int kUsualGrowth = 128 << 10;

/// Makes the heap of this thread grow by `bytes` at a time, and gives it large pages from its empty part up
/// to an address that `end_of` computes from there.
template <class EndOf>
void grow_in_large_pages(int bytes, EndOf end_of) {
  constexpr std::size_t kBeyondInitial = 1 << 20;
  constexpr std::uintptr_t kPage = 4096;
  mallopt(M_TOP_PAD, bytes);
  void* const first = std::malloc(kBeyondInitial);
  mallopt(M_TOP_PAD, kUsualGrowth);
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
  grow_in_large_pages(64 << 20, [](std::uintptr_t) { return reinterpret_cast<std::uintptr_t>(sbrk(0)); });
#endif
}

/// Prepares the heap of a thread; it must be the first call in the thread. The thread's heap is its own, and
/// ends before a multiple of 64 MB.
inline void prepare_heap_of_thread() {
#ifdef __GLIBC__
  constexpr std::uintptr_t kMost = 64 << 20;
  grow_in_large_pages(32 << 20, [](std::uintptr_t begin) { return (begin / kMost + 1) * kMost; });
#endif
}

/// Prepares the heap of a process that has other things to do, too: it sets the threshold that the C library
/// would reach by itself if the growth of threads' heaps were not set. Memory beyond that goes back to the
/// system.
inline void prepare_heap_as_guest() {
#ifdef __GLIBC__
  constexpr int kMostOfLibrary = 32 << 20;  // DEFAULT_MMAP_THRESHOLD_MAX of glibc's malloc/malloc.c, 64 bits
  mallopt(M_MMAP_THRESHOLD, kMostOfLibrary);
  mallopt(M_TRIM_THRESHOLD, 2 * kMostOfLibrary);
#endif
}

}  // namespace orrery
