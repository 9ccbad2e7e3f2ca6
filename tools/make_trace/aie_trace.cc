#include <algorithm>

#include "make_trace/option_table.h"
#include "make_trace/other_traces.h"
#include "make_trace/output.h"
#include "make_trace/random.h"

namespace tracedb {
namespace {

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

}  // namespace tracedb
