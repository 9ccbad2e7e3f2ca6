// Kernel against kernel by position. A forward pass is cut into layers at its attention kernels; within a layer, a
// kernel's place is its operation and its absolute position, pooled over all passes; the places of both sides, by name
// of operation and position, are the pairs. What comes before the first attention kernel of a pass is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/wafer/trace.h"

namespace tracedb::wafer {

struct PairSide {
  std::uint32_t name = kNoName;  // the most frequent at this place, the first seen of equals; position in Trace::names
  std::uint32_t count = 0;
  std::int64_t total = 0;
};

struct KernelPair {
  std::uint32_t position = 0;
  std::uint32_t op = 0;  // position in Alignment::ops
  PairSide first, second;
};

struct AlignedLayer {
  std::int64_t first_total = 0, second_total = 0;
  std::vector<KernelPair> pairs;
};

// Of the first trace only, as that tool has it.
struct PassCounts {
  std::size_t all = 0, prefill = 0, decode = 0;
};

struct Alignment {
  std::vector<std::string> ops;  // by alphabet
  std::vector<AlignedLayer> layers;
  PassCounts passes;
};

// No layers where a side has no kernels in passes.
Alignment align(const Trace& first, const Trace& second);

enum class NoteKind { kNone, kHasFusedKernel, kOneSided, kCountRatio };
std::string_view to_string(NoteKind kind);

// What the counts at a place say of fusion: kHasFusedKernel: this side has "A+B" alone; kOneSided: the other side has
// a kernel that this one may have fused; kCountRatio: this side has fewer, by the ratio.
struct FusionNote {
  NoteKind kind = NoteKind::kNone;
  Side fused_by = Side::kFirst;
  double ratio = 0;
};

FusionNote fusion_note(const KernelPair& pair, const std::string& op);

// "QKV", "O", "FFN_up", "FFN_down" by parts of a GEMM's names (lower-cased); else "".
std::string_view operation_detail(const std::string& op, const std::string& first_name, const std::string& second_name);

// Both sides are there under the same full name.
bool is_same_kernel(const KernelPair& pair, const Trace& first, const Trace& second);

struct SameKernel {
  std::size_t layer = 0;
  KernelPair pair;
};

struct SameKernels {
  std::vector<SameKernel> kernels;  // by layer, then as the pairs are
  double average_ratio = 1;         // of the averages of each, first / second, without weights; 1: there are none
  std::int64_t first_faster = 0, second_faster = 0;
};

SameKernels find_same_kernels(const Alignment& alignment, const Trace& first, const Trace& second);

// Of averages; infinite where the second is 0.
double ratio_of(const KernelPair& pair);

}  // namespace tracedb::wafer
