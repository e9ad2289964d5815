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

/// Large arrays are made and dropped in turns: pages given back to the system each time cost a fifth of a
/// run. Getting small pages one by one costs a short run another fifth, so the first of the heap are large
/// ones.
inline void prepare_heap() {
#ifdef __GLIBC__
  constexpr int kFirstHeap = 64 << 20;
  constexpr int kUsualGrowth = 128 << 10;
  constexpr std::size_t kBeyondInitial = 1 << 20;
  constexpr std::uintptr_t kPage = 4096;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kFirstHeap);
  void* const first = std::malloc(kBeyondInitial);  // makes the heap grow
  const auto begin = (reinterpret_cast<std::uintptr_t>(first) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  if (first != nullptr && begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(first);
  mallopt(M_TOP_PAD, kUsualGrowth);
#endif
}

}  // namespace orrery
