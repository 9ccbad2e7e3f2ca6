// What kind of trace to make: plain values, checked and parsed from their text forms here. Fractions and factors are
// integers in parts per million, so that every time in a trace comes from integer arithmetic alone.
// Errors: Error{kUsage} naming the option.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class Vendor { kAmd, kNvidia };
enum class Dialect { kNew, kOld };
enum class StepKind { kPrefill, kDecode, kMixed, kTrain, kOther };
enum class ModelKind { kServe, kTrain, kVisionText, kEncoderDecoder, kDiffusion };

std::string_view to_text(Vendor vendor);
std::string_view to_text(Dialect dialect);
std::string_view to_text(StepKind kind);
std::string_view to_text(ModelKind kind);

constexpr std::int64_t kMillion = 1'000'000;

// "CLASS", "CLASS@LAYER" or "ROLE@LAYER", with a factor where the option takes one.
struct LayerTarget {
  std::string name;          // an op class or a kernel role
  std::optional<int> layer;  // all layers when empty
  std::int64_t factor_ppm = kMillion;
};

struct TraceOptions {
  std::uint64_t seed = 1;
  Vendor vendor = Vendor::kAmd;
  Dialect dialect = Dialect::kNew;
  ModelKind model = ModelKind::kServe;
  int layers = 24;
  int second_layers = 0;  // of the second stack of the models that have two
  int passes = 4;         // of diffusion, in one step
  int steps = 12;
  std::vector<StepKind> mix;  // repeated cyclically; empty: from the two fractions
  std::int64_t prefill_ppm = 200'000;
  std::int64_t mixed_ppm = 0;
  int batch = 32;
  int prompt_tokens = 1024;
  bool graphs = true;
  int streams = 2;
  int tensor_parallel = 1;
  int rank = 0;
  bool python_stacks = true;
  bool moe = false;
  bool quantised = true;
  bool qk_norm = true;
  bool shapes = false;
  bool annotations = true;
  std::set<std::string> fusions;
  std::set<std::string> spellings;  // kernels under the names that another library gives them
  std::vector<LayerTarget> inserts;
  std::vector<LayerTarget> slow;
  std::int64_t clock_ppm = kMillion;
  std::int64_t idle_ns = 0;
  std::int64_t jitter_ppm = 30'000;
  int orphans = 0;  // kernels at the start of the trace whose launch call is missing
  std::int64_t step_gap_ns = 0;
  int gap_calls = 0;      // recorded by the profiler in every gap between steps
  std::string gap_frame;  // python function in which the host is meanwhile; "": in none of its own
  bool jittered_streams = false;
  bool correlation = true;  // off: device events have none, and External ids of a numbering of their own
  int shift_names = 0;      // places by which names are out of step in a part of every graph replay
  std::int64_t collective_wait_ns = 0;
  std::uint64_t target_size = 0;
};

ModelKind parse_model(std::string_view text);

StepKind step_kind(const TraceOptions& options, std::int64_t step);

// nullopt: not a whole number.
std::optional<std::int64_t> parse_integer(std::string_view text);
// "1.25" -> 1250000. At most six fraction digits count.
std::int64_t parse_ppm(std::string_view option, std::string_view text);
// "512K", "200M", "1G" (powers of 1000), or bytes.
std::uint64_t parse_size(std::string_view option, std::string_view text);
bool parse_switch(std::string_view option, std::string_view text);
std::vector<std::string> split_list(std::string_view text);
// "P,D*8,M": prefill, eight decodes, mixed.
std::vector<StepKind> parse_mix(std::string_view text);
LayerTarget parse_target(std::string_view option, std::string_view text, bool with_factor);

}  // namespace tracedb
