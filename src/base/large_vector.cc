#include "base/large_vector.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace tracedb {

void* large_memory(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  const bool large = bytes >= kHugePage;
  const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = large ? std::aligned_alloc(kHugePage, rounded) : std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  if (large) ::madvise(memory, rounded, MADV_HUGEPAGE);  // advice: no harm where it is not taken
  return memory;
}

}  // namespace tracedb
