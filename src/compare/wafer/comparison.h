// The whole comparison of wafer 0.1.28, in one call. The caller decides which trace is the first one (the AMD one, if
// any): is_swapped().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/wafer/trace.h"

namespace tracedb::wafer {

// The table of operations: those both traces have, and RMSNorm of one against RMSNorm+GEMM of the other.

// Of the first trace against the second. The one-sided ones are of layers.
enum class Status { kSimilar, kSlower, kFaster, kFirstOnly, kSecondOnly };
std::string_view to_string(Status status);

struct NameTotal {
  std::uint32_t name = 0;  // position in Trace::names
  std::int64_t count = 0, total = 0;
};

struct OperationSide {
  std::int64_t count = 0, total = 0;
  bool prefill = false, decode = false;  // phases its kernels are in
  std::string pattern = "unknown";       // one of decode, else of prefill, whatever the filter: the first by alphabet
  std::string cpu_op;                    // the most frequent one; "": none
  std::vector<NameTotal> kernels;        // largest total first; equal ones by alphabet
};

struct OperationRecord {
  std::string operation;
  OperationSide first, second;
  double ratio = 1;      // of averages; 1 where the second is 0
  std::int64_t gap = 0;  // of totals: first - second
  Status status = Status::kSimilar;
};

// Largest gap first.
std::vector<OperationRecord> compare_operations(const Trace& first, const Trace& second, PhaseFilter filter);

// The table of layers, one-sided ones first.
struct LayerSide {
  std::int64_t kernels = 0, total = 0;
};

struct LayerRecord {
  std::uint32_t layer = 0;
  LayerSide first, second;
  double ratio = 0;      // of totals; 1 where the second is 0, 0 where only one side has the layer
  std::int64_t gap = 0;  // first - second
  Status status = Status::kSimilar;
  bool in_both = false;
};

std::vector<LayerRecord> compare_layers(const Trace& first, const LayerMap& first_layers, const Trace& second,
                                        const LayerMap& second_layers, PhaseFilter filter);

// Kernel against kernel by position. A forward pass is cut into layers at its attention kernels; within a layer, a
// kernel's place is its operation and its absolute position, pooled over all passes; the places of both sides, by name
// of operation and position, are the pairs. What comes before the first attention kernel of a pass is left out.

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

// Three detectors of fusion, over all kernels of both traces whatever their phase. Findings come in the order of the
// detectors; of several with the same fused type only the first of B and C counts, and all of A.
//
//   A explicit   an operation "X+Y" that one side has alone: that side fuses X and Y
//   B sequence   an operation that one side has alone, five times or more, behind one and the same other operation X in
//                more than 80 % of its calls, X on both sides: the other side fuses it into X
//   C imbalance  an operation on both sides, 50 calls or more in all, 1.5 times or more of them on one side: the side
//                with fewer fuses
//
// The call before is the one that starts before, on whatever stream. "Other" is never the subject of B and C. Within a
// detector: operations by alphabet, in A and B those of the first trace before those of the second.

struct Fusion {
  std::string type;  // operation that is fused into, or shows the fusion
  Side fused_by = Side::kFirst;
  std::string fused_kernel;               // A: the first kernel's name; else the type
  std::vector<std::string> unfused;       // operations of the other side
  std::int64_t count = 0;                 // A, B: calls; C: by how many calls they differ
  double confidence = 1;                  // B: share of calls behind X; C: difference / larger
  std::vector<std::string> kernel_names;  // A: up to three
};

std::vector<Fusion> find_fusions(const Trace& first, const Trace& second);

struct Warning {
  std::string_view code;
  std::string_view severity;  // warning, info
  std::string_view message;   // in our words
};

std::vector<Warning> warnings_of(const Trace& trace, const LayerMap& layers);

// Both lists, without repeated codes: the first of each code is kept, so the side is lost.
std::vector<Warning> join(std::vector<Warning> first, const std::vector<Warning>& second);

// Sums of one side, after the filter by phase.
struct TraceSums {
  std::int64_t kernels = 0, total = 0;
  std::size_t layers = 0;  // size of its LayerMap, whatever the filter
};

struct Comparison {
  TraceSums first, second;
  Architecture architecture = Architecture::kUnknown;
  std::vector<OperationRecord> operations;
  std::vector<LayerRecord> layers;
  Alignment alignment;  // this and what follows: of all phases
  std::vector<Fusion> fusions;
  SameKernels same_kernels;
  std::vector<Warning> warnings;
};

Comparison compare(const Trace& first, const Trace& second, PhaseFilter filter);

// Traces are swapped if only the second is AMD's.
constexpr bool is_swapped(Platform first, Platform second) {
  return first != Platform::kAmd && second == Platform::kAmd;
}

}  // namespace tracedb::wafer
