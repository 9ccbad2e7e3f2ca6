// Arrays with one element per event of a trace, on huge pages where the system has them: page faults are a large part
// of the cost of a pass over a million kernels.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace tracedb {

// Not initialised; for std::free(). Throws std::bad_alloc.
inline void* large_memory(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  const bool large = bytes >= kHugePage;
  const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = large ? std::aligned_alloc(kHugePage, rounded) : std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  if (large) ::madvise(memory, rounded, MADV_HUGEPAGE);  // advice: no harm where it is not taken
  return memory;
}

template <class T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class Other>
  LargeAllocator(const LargeAllocator<Other>&) {}  // NOLINT(google-explicit-constructor): containers convert

  T* allocate(std::size_t count) { return static_cast<T*>(large_memory(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { std::free(memory); }  // NOLINT

  bool operator==(const LargeAllocator&) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace tracedb
