// Traces of NPUs: tiles of AI Engines, and Ascend.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/error.h"
#include "make_trace/options.h"
#include "make_trace/output.h"
#include "make_trace/random.h"

namespace tracedb {
namespace {

// ---- AI Engine tiles

struct AieOptions {
  std::optional<std::string> output, truth;
  std::uint64_t seed = 1;
  int tiles = 4, iterations = 6, kernels = 8;
  std::int64_t kernel_cycles = 120, gap_cycles = 40, stall_cycles = 6000, second_kernel_cycles = 0;
  bool leading_stall = false, same_name = false, old_names = false;
  int lost_starts = 0, lost_ends = 0, doubled_starts = 0, lost_stall_ends = 0;
};

// Slots of the trace unit, by tid.
enum Slot { kStart, kEnd, kStall, kVector };
constexpr std::string_view kNewNames[] = {"INSTR_EVENT_0", "INSTR_EVENT_1", "LOCK_STALL", "INSTR_VECTOR"};
constexpr std::string_view kOldNames[] = {"Event0", "Event1", "LockStall", "VectorInstr"};

class AieWriter {
 public:
  AieWriter(const AieOptions& options, TextOutput& out) : options_(options), out_(out) {}

  // Returns the ground truth.
  std::string write() {
    out_.put("[");
    std::vector<int> tiles;
    for (int tile = 0; tile < options_.tiles; ++tile) {
      tiles.push_back(tile);
      name_row("process_name", tile, "", "core_trace for " + name_of(tile));
      for (const Slot slot : {kStart, kEnd, kStall, kVector}) {
        name_row("thread_name", tile, fmt::format(", \"tid\": {}", int{slot}), name_of(slot));
      }
    }
    const std::string truth = json_items(
        tiles, [this](int tile) { return write_tile(tile); }, "\n    ");
    out_.put("]\n");
    return fmt::format("{{\n  \"schema\": \"tracedb.make_trace_aie/1\",\n  \"tiles\": [{}\n  ]\n}}\n", truth);
  }

 private:
  [[nodiscard]] std::string name_of(int tile) const {
    constexpr int kColumns = 4;
    const int shown = options_.same_name ? 0 : tile;
    return fmt::format("tile{},{}", 2 + shown / kColumns, shown % kColumns);
  }

  [[nodiscard]] std::string_view name_of(Slot slot) const { return (options_.old_names ? kOldNames : kNewNames)[slot]; }

  void begin_event(std::string_view name) {
    out_.put(any_ ? ",\n{\"name\": \"" : "{\"name\": \"", name);
    any_ = true;
  }

  void name_row(std::string_view what, int tile, std::string_view slot, std::string_view name) {
    begin_event(what);
    out_.put("\", \"ph\": \"M\", \"pid\": ", tile, slot, ", \"args\": {\"name\": \"", name, "\"}}");
  }

  void edge(int tile, Slot slot, std::string_view phase, std::int64_t time) {
    begin_event(name_of(slot));
    out_.put("\", \"ts\": ", time, ", \"ph\": \"", phase, "\", \"pid\": ", tile, ", \"tid\": ", int{slot},
             ", \"args\": {}}");
  }

  void pulse(int tile, Slot slot, std::int64_t begin, std::int64_t end) {
    edge(tile, slot, "B", begin);
    edge(tile, slot, "E", end);
  }

  // `count` different numbers below `all`, evenly spread behind one that the seed chooses.
  [[nodiscard]] bool planted(int number, int count, int all, std::uint64_t salt) const {
    if (count <= 0) return false;
    const auto shift = static_cast<int>(uniform(mix64(options_.seed, salt), all));
    const int at = (number + shift) % all;
    return at * count / all != (at + 1) * count / all;
  }

  struct Found {
    std::int64_t whole = 0, shortest = 0, longest = 0, total = 0, lost_starts = 0, lost_ends = 0, doubled = 0;
  };

  Json write_tile(int tile) {
    const auto salt = static_cast<std::uint64_t>(tile) * 8;
    std::int64_t time = 100 + tile * 7;
    Found found;
    for (int iteration = 0; iteration < options_.iterations; ++iteration) {
      if (iteration > 0 || options_.leading_stall) {
        const bool lost = iteration > 0 && planted(iteration - 1, options_.lost_stall_ends, options_.iterations, salt);
        edge(tile, kStall, "B", time);
        if (!lost) edge(tile, kStall, "E", time + options_.stall_cycles);
        time += options_.stall_cycles + 3;
      }
      for (int i = 0; i < options_.kernels; ++i) {
        const int number = iteration * options_.kernels + i;
        const bool second = options_.second_kernel_cycles > 0 && number % 2 == 1;
        const std::int64_t cycles = second ? options_.second_kernel_cycles : options_.kernel_cycles;
        write_kernel(tile, number, time, cycles, found);
        time += cycles + options_.gap_cycles;
      }
    }
    return json_object("pid", tile, "tile", name_of(tile), "kernels", found.whole, "min", found.shortest, "max",
                       found.longest, "total", found.total, "lost_starts", found.lost_starts, "lost_ends",
                       found.lost_ends, "doubled", found.doubled, "iterations", options_.iterations, "end", time);
  }

  void write_kernel(int tile, int number, std::int64_t time, std::int64_t cycles, Found& found) {
    const auto salt = static_cast<std::uint64_t>(tile) * 8;
    const int all = options_.iterations * options_.kernels;
    const bool no_end = planted(number, options_.lost_ends, all, salt + 2);
    // Without the end before it, its end would be taken for that of the kernel before.
    const bool merges = number > 0 && planted(number - 1, options_.lost_ends, all, salt + 2);
    const bool no_start = !no_end && !merges && planted(number, options_.lost_starts, all, salt + 1);
    const bool twice = !no_start && !no_end && planted(number, options_.doubled_starts, all, salt + 3);
    if (!no_start) pulse(tile, kStart, time, time + 1);
    if (twice) pulse(tile, kStart, time + 2, time + 3);
    pulse(tile, kVector, time + 4, time + cycles - 2);
    if (!no_end) pulse(tile, kEnd, time + cycles - 1, time + cycles);
    found.lost_starts += no_start ? 1 : 0;
    found.lost_ends += no_end ? 1 : 0;
    found.doubled += twice ? 1 : 0;
    if (no_start || no_end) return;
    found.shortest = found.whole == 0 ? cycles : std::min(found.shortest, cycles);
    found.longest = std::max(found.longest, cycles);
    found.total += cycles;
    ++found.whole;
  }

  const AieOptions& options_;
  TextOutput& out_;
  bool any_ = false;
};

OptionTable describe(AieOptions& options) {
  OptionTable all("options of 'make-trace aie'");
  all.help("help,h", "show this text");
  all.path("output,o", options.output, "trace to write (also positional)");
  all.path("truth", options.truth, "ground truth (default OUTPUT.truth.json)");
  all.number("seed", options.seed, "where faults are planted");
  all.number("tiles", options.tiles, "cores");
  all.number("iterations", options.iterations, "of each tile, with a long stall between two");
  all.number("kernels", options.kernels, "of a tile in one iteration");
  all.number("kernel-cycles", options.kernel_cycles, "length of a kernel");
  all.number("second-kernel-cycles", options.second_kernel_cycles, "length of every other kernel; 0: the same");
  all.number("gap-cycles", options.gap_cycles, "between two kernels; 0: back to back");
  all.number("stall-cycles", options.stall_cycles, "between two iterations");
  all.number("lose-starts", options.lost_starts, "kernels of each tile whose start is lost");
  all.number("lose-ends", options.lost_ends, "kernels of each tile whose end is lost");
  all.number("double-starts", options.doubled_starts, "kernels of each tile whose start comes twice");
  all.number("lose-stall-ends", options.lost_stall_ends, "long stalls of each tile whose end is lost");
  all.flag("leading-stall", options.leading_stall, "a long stall before the first kernel");
  all.flag("same-name", options.same_name, "all tiles are called the same");
  all.flag("old-names", options.old_names, "Event0, LockStall, ...");
  return all;
}

void check(const AieOptions& options) {
  constexpr std::int64_t kLeastCycles = 8, kMost = std::int64_t{1} << 40U;
  const auto fits = [](std::int64_t value) { return value >= kLeastCycles && value <= kMost; };
  const bool cycles = fits(options.kernel_cycles) && fits(options.stall_cycles) && options.gap_cycles >= 0 &&
                      options.gap_cycles <= kMost &&
                      (options.second_kernel_cycles == 0 || fits(options.second_kernel_cycles));
  const bool counts = options.tiles > 0 && options.iterations > 0 && options.kernels > 0;
  if (!cycles) throw Error(ErrorCode::kUsage, "kernels and stalls have 8 to 2^40 cycles, gaps at most 2^40");
  if (!counts) throw Error(ErrorCode::kUsage, "--tiles, --iterations and --kernels must be above 0");
}

// ---- Ascend

constexpr std::int64_t kStartOfRun = 1'736'413'971'558'972'912;  // ns since 1970
constexpr std::int64_t kMicrosecond = 1000;
constexpr std::string_view kAllReduce = "hcom_allReduce_";

enum class Plan {
  kHit,         // the model has measured the kernel
  kMiss,        // the mapping says which kernel it is
  kUnknown,     // neither says: the model has it under its own name
  kPartial,     // measured every other time
  kFree,        // costs nothing
  kComposite,   // several kernels, whose durations the model gives
  kEstimated,   // several kernels, and one duration
  kCollective,  // twice in the profile, around the end of a microsecond
  kTwins,       // two collectives within a microsecond, each twice in the profile
  kModelOnly,   // the profile has no such kernel
  kUnmodelled,  // the model has no such operator
  kAicpu,       // of the profile alone, to be left out
};

struct Planted {
  Plan plan;
  std::string_view op;
  std::string_view type;  // for several kernels the first of two
  std::string_view second = {};
};

constexpr std::array<Planted, 14> kPlanted = {{
    {Plan::kHit, "aten.mm.default", "MatMulV2"},
    {Plan::kHit, "tensor_cast.flash_attention.default", "FusedInferAttentionScore"},
    {Plan::kMiss, "aten.embedding.default", "GatherV2"},
    {Plan::kUnknown, "aten.topk.default", "TopKV2"},
    {Plan::kPartial, "tensor_cast.rms_norm.default", "RmsNorm"},
    {Plan::kFree, "aten.view.default", ""},
    {Plan::kComposite, "tensor_cast.multihead_latent_attention.default", "BatchMatMulV2", "TransposeBatchMatMul"},
    {Plan::kEstimated, "tensor_cast.quantize_linear.default", "DynamicQuant", "QuantBatchMatmulV3"},
    {Plan::kCollective, "tensor_cast.all_reduce.default", kAllReduce},
    {Plan::kTwins, "tensor_cast.all_gather.default", "hcom_allGather_"},
    {Plan::kModelOnly, "tensor_cast.fused_everything.default", "DispatchFFNCombine"},
    {Plan::kUnmodelled, "", "Transpose"},
    {Plan::kAicpu, "", "allgatherAicpuKernel"},
    {Plan::kHit, "aten.add.Tensor", "Add"},
}};

struct Total {
  std::int64_t model_ns = 0, model_count = 0, hits = 0, profile_ns = 0, profile_count = 0;
};

class AscendWriter {
 public:
  AscendWriter(std::uint64_t seed, int passes, const std::string& folder)
      : seed_(seed), passes_(passes), model_(folder + "/model.json"), profile_(folder + "/kernel_details.csv") {}

  void write(std::int64_t operators) {
    model_.put(
        "{\"traceEvents\": [\n"
        "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": {\"name\": \"analytic (PID: 0)\"}},\n"
        "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"profiling (PID: 1)\"}}");
    profile_.put(
        "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
        "Duration(us),Wait Time(us),Block Dim,Input Shapes\n");
    for (std::int64_t i = 0; i < operators; ++i) write_operator(i);
    model_.put("\n]}\n");
    model_.close();
    profile_.close();
  }

  [[nodiscard]] std::string truth() const {
    const auto row = [](const auto& entry) {
      const auto& [type, total] = entry;
      return json_object("kernel_type", type, "status", status_of(total), "model_time", total.model_ns, "model_count",
                         total.model_count, "hit_count", total.hits, "profile_time", total.profile_ns, "profile_count",
                         total.profile_count);
    };
    return fmt::format("{{{},\n \"rows\": {}}}\n",
                       json_members("passes", passes_, "kernels", kernels_, "duplicates", duplicates_, "duplicate_time",
                                    duplicate_ns_, "aicpu", aicpu_, "zero_cost_events", free_),
                       json_list(totals_, row, "\n  ").text);
  }

 private:
  static std::string in_us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / kMicrosecond, ns % kMicrosecond); }

  static std::string_view status_of(const Total& total) {
    if (total.model_count == 0) return "PROFILE_ONLY";
    if (total.profile_count == 0) return "MODEL_ONLY";
    if (total.hits == total.model_count) return "HIT";
    return total.hits == 0 ? "MISS" : "PARTIAL";
  }

  void write_operator(std::int64_t number) {
    const std::uint64_t noise = mix64(seed_, static_cast<std::uint64_t>(number));
    const auto& planted = kPlanted[static_cast<std::size_t>(number) % kPlanted.size()];
    const std::int64_t us = 1 + uniform(noise, 200);
    write_model(planted, number, us);
    for (int pass = 0; pass < passes_; ++pass) {
      write_profile(planted, number * passes_ + pass, us * kMicrosecond + uniform(mix64(noise), 5000));
    }
  }

  // ---- the model

  void write_model(const Planted& planted, std::int64_t number, std::int64_t us) {
    const std::int64_t ns = us * kMicrosecond;
    const auto& [plan, op, type, second] = planted;
    const std::string_view source = number % 3 == 0 ? "INTERPOLATED" : "MEASURED";
    const bool measured = number / static_cast<std::int64_t>(kPlanted.size()) % 2 == 0;  // every other time
    const std::string both = fmt::format("{},{}", type, second);
    switch (plan) {
      case Plan::kUnmodelled:
      case Plan::kAicpu:
        return;
      case Plan::kFree:
        ++free_;
        return event(op, us, "");
      case Plan::kUnknown:
        predict(op, ns, false);
        return event(op, us, "");
      case Plan::kComposite:
        predict(type, ns / 4, true);
        predict(second, ns / 2, true);  // a quarter of the operator is no kernel's
        return event(op, us,
                     json_members("kernel_type", both, "source", source, "composite", "True", "sub_kernel_durations",
                                  fmt::format("[('{}', {}), ('{}', {})]", type, in_us(ns / 4), second, in_us(ns / 2))));
      case Plan::kEstimated:
        predict(type, (ns + 1) / 2, true);
        predict(second, ns / 2, true);
        return event(op, us, json_members("kernel_type", both, "source", source));
      case Plan::kTwins:
        predict(type, ns, true);
        event(op, us, json_members("kernel_type", type, "source", source));
        break;  // and a second one
      default:
        if (plan != Plan::kMiss && (plan != Plan::kPartial || measured)) break;
        predict(type, ns, false);
        return event(op, us, "");
    }
    predict(type, ns, true);
    event(op, us, json_members("kernel_type", type, "source", source, "simulation_shapes", "[[16, 5120]]"));
  }

  void event(std::string_view op, std::int64_t us, const std::string& arguments) {
    const Json event = json_object("name", fmt::format("{}{}", model_us_ % 2 == 0 ? "torch.ops." : "", op), "ph", "X",
                                   "ts", model_us_, "dur", us, "pid", 1, "tid", 0, "args", Json{"{" + arguments + "}"});
    model_.put(",\n", event.text);
    model_us_ += us;
  }

  void predict(std::string_view type, std::int64_t ns, bool is_hit) {
    Total& total = totals_[type];
    total.model_ns += ns;
    ++total.model_count;
    total.hits += is_hit ? 1 : 0;
  }

  // ---- the profile

  void write_profile(const Planted& planted, std::int64_t number, std::int64_t ns) {
    const std::string_view type = planted.type;
    switch (planted.plan) {
      case Plan::kFree:
      case Plan::kModelOnly:
        return;
      case Plan::kComposite:
      case Plan::kEstimated:
        kernel(planted.second, ns);
        return kernel(type, ns / 2);
      case Plan::kAicpu:
        ++aicpu_;
        return row(type, type, "AI_CPU", "7", clock_ns_, ns);
      case Plan::kCollective:
        clock_ns_ += kMicrosecond - (clock_ns_ + 50) % kMicrosecond;  // 50 ns before the end of a microsecond
        collective(type, number, 1, clock_ns_, 100, ns);
        clock_ns_ += ns + kMicrosecond;
        return;
      case Plan::kTwins:
        clock_ns_ += kMicrosecond - clock_ns_ % kMicrosecond;
        collective(type, number, 1, clock_ns_, 0, 300);
        collective(type, number, 2, clock_ns_ + 400, 0, ns);
        clock_ns_ += ns + kMicrosecond;
        return;
      default:
        return kernel(type, ns);
    }
  }

  void kernel(std::string_view type, std::int64_t ns) {
    measure(type, ns);
    row(fmt::format("aclnn{}", type), type, "AI_CORE", "2", clock_ns_, ns);
    clock_ns_ += ns + kMicrosecond;
  }

  // On the host's stream, and a little later on one of the hardware.
  void collective(std::string_view type, std::int64_t number, int part, std::int64_t start, std::int64_t later,
                  std::int64_t ns) {
    const std::string name = fmt::format("{}_586_{}_{}", type, number, part);
    measure(type, ns);
    row(name, type, "HCCL", "N/A", start, ns);
    row(name, type, "HCCL", "46", start + later, ns - later);
    ++duplicates_;
    duplicate_ns_ += ns - later;
  }

  void measure(std::string_view type, std::int64_t ns) {
    Total& total = totals_[type];
    total.profile_ns += ns;
    ++total.profile_count;
  }

  void row(std::string_view name, std::string_view type, std::string_view core, std::string_view stream,
           std::int64_t start, std::int64_t ns) {
    profile_.put("1,0,4294967295,", kernels_, ",", stream, ",", name, ",", type, ",dynamic,", core, ",\"",
                 Thousandths{start}, "\t\",", Thousandths{ns}, ",0.5,24,",
                 core == "AI_CORE" ? "\"\"\"16,5120\"\"\"" : "N/A", "\n");
    ++kernels_;
  }

  std::uint64_t seed_;
  int passes_;
  TextOutput model_, profile_;
  std::map<std::string_view, Total> totals_;  // by kernel type
  std::int64_t model_us_ = 0;
  std::int64_t clock_ns_ = kStartOfRun;
  std::int64_t kernels_ = 0, duplicates_ = 0, duplicate_ns_ = 0, aicpu_ = 0, free_ = 0;
};

std::string mapping() {
  std::string out = "version: \"1\"\noperator_mappings:\n";
  for (const Planted& planted : kPlanted) {
    if (planted.plan == Plan::kFree) out += fmt::format("  {}:\n    zero_cost: true\n", planted.op);
    if (planted.plan == Plan::kMiss || planted.plan == Plan::kPartial) {
      out += fmt::format("  \"{}\":\n    kernel_type: {}\n    notes: >\n      folded\n      text\n", planted.op,
                         planted.type);
    }
  }
  return out;
}

}  // namespace

void make_aie_trace(int argc, char** argv) {
  AieOptions options;
  OptionTable all = describe(options);
  const std::string example = "\nexample:\n  make-trace aie --tiles 4 --lose-ends 2 trace.json\n";
  if (!all.parse(argc, argv, "make-trace aie", "OUTPUT", all.description() + example)) return;
  all.take();
  check(options);
  const std::string path = options.output.value();
  TextOutput out(path);
  const std::string truth = AieWriter(options, out).write();
  out.close();
  write_file(options.truth.value_or(path + ".truth.json"), truth);
}

void write_ascend(std::uint64_t seed, std::int64_t operators, int passes, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(ErrorCode::kResource, fmt::format("{}: {}", folder, error.message()));
  AscendWriter writer(seed, passes, folder);
  writer.write(operators);
  write_file(folder + "/op_mapping.yaml", mapping());
  write_file(folder + "/m6.json", fmt::format("{{\"n_forward_passes\": {}}}\n", passes));
  write_file(folder + "/truth.json", writer.truth());
}

}  // namespace tracedb
