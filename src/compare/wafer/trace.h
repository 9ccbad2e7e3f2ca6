// One trace as the tool wafer 0.1.28 sees it. compare/wafer reproduces that tool, including its known errors, for
// cross-checking our own comparison (trace-query compare); nothing else uses it.
//
// Plain values without a database: the reader below makes them from an index, everything else takes and returns values
// and throws nothing of its own. Times are integer ns where that tool has us or ms as doubles.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unknown.h"
#include "index/index.h"

namespace tracedb::wafer {

// Whatever is not AMD's counts as NVIDIA's.
enum class Platform { kAmd, kNvidia };

// The first trace is taken for the AMD one in alignment and fusion, the second for the NVIDIA one, whatever they are.
enum class Side { kFirst, kSecond };
constexpr Side other(Side side) { return side == Side::kFirst ? Side::kSecond : Side::kFirst; }

enum class Phase : std::uint8_t { kPrefill, kDecode };

inline constexpr std::uint32_t kNoName = std::numeric_limits<std::uint32_t>::max();

struct Device {
  std::string name;
  std::string compute_capability = "0.0";
  double total_memory_gb = 0;
  std::int64_t sm_count = 0;
  std::int64_t warp_size = 32;
  std::int64_t max_threads_per_block = 0;
  double shared_mem_per_block_kb = 0;
};

// A distinct kernel name and what follows from it.
struct KernelName {
  std::string text;
  std::string lower;    // ASCII letters only
  std::string op;       // by the rules of the trace's own platform
  std::string pattern;  // label of the rule
  std::string side_op;  // by the rules of the platform the side is taken for
  std::string cpu_op;   // "": none; that of the first kernel of the name holds for all
};

struct Kernel {
  std::int64_t ts = 0;
  std::int64_t dur = 0;  // 0 where the trace gives none
  std::int64_t correlation = kUnknownValue;
  std::uint32_t name = 0;  // position in Trace::names
  Phase phase = Phase::kDecode;
};

// A forward pass: an annotation of the engine. Both ends belong to it.
struct Pass {
  std::int64_t begin = 0, end = 0;
  Phase phase = Phase::kDecode;
};

struct Trace {
  Platform platform = Platform::kNvidia;
  Device device;
  std::vector<KernelName> names;
  std::vector<Kernel> kernels;  // by time, of all devices and streams
  std::vector<Pass> passes;     // by begin
  bool has_python = false;      // calls of python functions were recorded
};

inline double mean(std::int64_t total, std::int64_t count) {
  return count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count);
}

// From an index to the values the comparison works on. Errors are those of reading an index (sql/file/column_scan.h).
//
// Kernels with equal starts are in the order of the file, as in that tool. Annotations with equal starts are not: the
// longer one comes first. Correlations that are no 64-bit integers count as none, negative durations as 0. Python
// stacks are not looked up: a kernel without an operator of its external id has none.
Trace read_trace(const Index& index, Side side);

// The platform and the device are read from what the trace lists first under deviceProperties, whatever device was
// used.

// AMD with a roctracer version, or warps of 64.
Platform platform_of(const Index& index);
// Whether its devices may be of either platform. Others, such as TPUs and AI Engines, whose times are cycles, are not.
bool is_comparable(const Index& index);

Device read_device(const Index& index);

// Layers of the operation and layer tables. Each marker kernel (an attention kernel of prefill, or a scan of an SSM)
// begins a layer that lasts until the next one; layers count through the whole trace. Kept by correlation: all kernels
// of a graph launch are of the layer of its last one, kernels without a correlation of none.
//
// Without any layer, each correlation with at least 70 kernels, attention and GEMM among them, is one.

// By correlation. As many as it holds are what that tool reports as the number of layers.
using LayerMap = std::unordered_map<std::int64_t, std::uint32_t>;
LayerMap find_layers(const Trace& trace);

// The kind of model, by parts of kernel names anywhere in a trace: one kernel is enough.
enum class Architecture { kUnknown, kTransformer, kSsm, kHybrid };

Architecture architecture_of(const Trace& trace);
Architecture architecture_of(const Trace& first, const Trace& second);  // of the names of both together

std::string_view to_string(Architecture architecture);

// Prefill and decode by the names of annotations: "execute_context_1(4096)_generation_0(0)" is a prefill.

// Of all annotations on the CPU, these are forward passes.
inline constexpr std::string_view kPassPrefix = "execute_context";

// The number in parentheses in the part behind "context", parts being what underscores separate; else 0.
std::int64_t token_count(std::string_view annotation);

// Prefill: there are tokens, and "generation_0" is in the name (as it is in "generation_01"). All else is decode.
Phase phase_of(std::string_view annotation);

// Each kernel's phase by its own start on the device: that of the last pass that begins at or before it, if the kernel
// starts within; else decode.
void assign_phases(Trace& trace);

// Nothing: both phases.
using PhaseFilter = std::optional<Phase>;
inline bool passes(PhaseFilter filter, const Kernel& kernel) { return !filter || *filter == kernel.phase; }

std::string_view to_string(Phase phase);

}  // namespace tracedb::wafer
