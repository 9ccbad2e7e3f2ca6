// Arrays with one element per event of a trace, on huge pages where the system has them: page faults are a large part
// of the cost of a pass over a million kernels.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace tracedb {

void* large_memory(std::size_t bytes);  // not initialised; for std::free(); throws std::bad_alloc

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
