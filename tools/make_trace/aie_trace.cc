#include "make_trace/aie_trace.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "make_trace/random.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

// Slots of the trace unit, by tid.
enum Slot { kStart, kEnd, kStall, kVector };
constexpr std::string_view kNewNames[] = {"INSTR_EVENT_0", "INSTR_EVENT_1", "LOCK_STALL", "INSTR_VECTOR"};
constexpr std::string_view kOldNames[] = {"Event0", "Event1", "LockStall", "VectorInstr"};

class Writer {
 public:
  Writer(const AieOptions& options, TextOutput& out) : options_(options), out_(out) {}

  std::string write() {
    out_.text("[");
    for (int tile = 0; tile < options_.tiles; ++tile) name_tile(tile);
    std::string truth;
    for (int tile = 0; tile < options_.tiles; ++tile) truth += (tile == 0 ? "\n    " : ",\n    ") + write_tile(tile);
    out_.text("]\n");
    return fmt::format("{{\n  \"schema\": \"tracedb.make_trace_aie/1\",\n  \"tiles\": [{}\n  ]\n}}\n", truth);
  }

 private:
  [[nodiscard]] std::string name_of(int tile) const {
    constexpr int kColumns = 4;
    const int shown = options_.same_name ? 0 : tile;
    return fmt::format("tile{},{}", 2 + shown / kColumns, shown % kColumns);
  }

  [[nodiscard]] std::string_view name_of(Slot slot) const { return (options_.old_names ? kOldNames : kNewNames)[slot]; }

  void separate() {
    out_.text(any_ ? ",\n" : "");
    any_ = true;
  }

  void name_tile(int tile) {
    separate();
    out_.text(
        fmt::format(R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": "core_trace for {}"}}}})",
                    tile, name_of(tile)));
    for (const Slot slot : {kStart, kEnd, kStall, kVector}) {
      separate();
      out_.text(fmt::format(R"({{"name": "thread_name", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})",
                            tile, static_cast<int>(slot), name_of(slot)));
    }
  }

  void edge(int tile, Slot slot, char phase, std::int64_t time) {
    separate();
    out_.text(fmt::format(R"({{"name": "{}", "ts": {}, "ph": "{}", "pid": {}, "tid": {}, "args": {{}}}})",
                          name_of(slot), time, phase, tile, static_cast<int>(slot)));
  }

  void pulse(int tile, Slot slot, std::int64_t begin, std::int64_t end) {
    edge(tile, slot, 'B', begin);
    edge(tile, slot, 'E', end);
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

  std::string write_tile(int tile) {
    const auto salt = static_cast<std::uint64_t>(tile) * 8;
    std::int64_t time = 100 + tile * 7;
    Found found;
    const int all = options_.iterations * options_.kernels;
    for (int iteration = 0; iteration < options_.iterations; ++iteration) {
      if (iteration > 0 || options_.leading_stall) {
        const bool lost = iteration > 0 && planted(iteration - 1, options_.lost_stall_ends, options_.iterations, salt);
        edge(tile, kStall, 'B', time);
        if (!lost) edge(tile, kStall, 'E', time + options_.stall_cycles);
        time += options_.stall_cycles + 3;
      }
      for (int i = 0; i < options_.kernels; ++i) {
        const int number = iteration * options_.kernels + i;
        const bool second = options_.second_kernel_cycles > 0 && number % 2 == 1;
        const std::int64_t cycles = second ? options_.second_kernel_cycles : options_.kernel_cycles;
        write_kernel(tile, number, all, time, cycles, found);
        time += cycles + options_.gap_cycles;
      }
    }
    return fmt::format(
        "{{\"pid\": {}, \"tile\": \"{}\", \"kernels\": {}, \"min\": {}, \"max\": {}, \"total\": {}, \"lost_starts\": "
        "{}, "
        "\"lost_ends\": {}, \"doubled\": {}, \"iterations\": {}, \"end\": {}}}",
        tile, name_of(tile), found.whole, found.shortest, found.longest, found.total, found.lost_starts,
        found.lost_ends, found.doubled, options_.iterations, time);
  }

  void write_kernel(int tile, int number, int all, std::int64_t time, std::int64_t cycles, Found& found) {
    const auto salt = static_cast<std::uint64_t>(tile) * 8;
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

po::options_description describe(AieOptions& options) {
  po::options_description all("options of 'make-trace aie'");
  const auto number = [&](const char* name, int& value, const char* help) {
    all.add_options()(name, po::value<int>(&value)->default_value(value), help);
  };
  const auto cycles = [&](const char* name, std::int64_t& value, const char* help) {
    all.add_options()(name, po::value<std::int64_t>(&value)->default_value(value), help);
  };
  all.add_options()("help,h", "show this text");
  all.add_options()("output,o", po::value<std::string>(), "trace to write (also positional)");
  all.add_options()("truth", po::value<std::string>(), "ground truth (default OUTPUT.truth.json)");
  all.add_options()("seed", po::value<std::uint64_t>(&options.seed)->default_value(1), "where faults are planted");
  number("tiles", options.tiles, "cores");
  number("iterations", options.iterations, "of each tile, with a long stall between two");
  number("kernels", options.kernels, "of a tile in one iteration");
  cycles("kernel-cycles", options.kernel_cycles, "length of a kernel");
  cycles("second-kernel-cycles", options.second_kernel_cycles, "length of every other kernel; 0: the same");
  cycles("gap-cycles", options.gap_cycles, "between two kernels; 0: back to back");
  cycles("stall-cycles", options.stall_cycles, "between two iterations");
  number("lose-starts", options.lost_starts, "kernels of each tile whose start is lost");
  number("lose-ends", options.lost_ends, "kernels of each tile whose end is lost");
  number("double-starts", options.doubled_starts, "kernels of each tile whose start comes twice");
  number("lose-stall-ends", options.lost_stall_ends, "long stalls of each tile whose end is lost");
  all.add_options()("leading-stall", po::bool_switch(&options.leading_stall), "a long stall before the first kernel");
  all.add_options()("same-name", po::bool_switch(&options.same_name), "all tiles are called the same");
  all.add_options()("old-names", po::bool_switch(&options.old_names), "Event0, LockStall, ...");
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

std::string write_aie_trace(const AieOptions& options, TextOutput& out) { return Writer(options, out).write(); }

void make_aie_trace(int argc, char** argv) {
  AieOptions options;
  const po::options_description all = describe(options);
  po::positional_options_description positional;
  positional.add("output", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), values);
  po::notify(values);
  if (values.count("help") != 0) {
    fmt::print("{}\nexample:\n  make-trace aie --tiles 4 --lose-ends 2 trace.json\n", fmt::streamed(all));
    return;
  }
  if (values.count("output") == 0) throw Error(ErrorCode::kUsage, "no OUTPUT given; see make-trace aie --help");
  check(options);
  const auto path = values["output"].as<std::string>();
  TextOutput out(path);
  const std::string truth = write_aie_trace(options, out);
  out.close();
  TextOutput answers(values.count("truth") != 0 ? values["truth"].as<std::string>() : path + ".truth.json");
  answers.text(truth);
  answers.close();
}

}  // namespace tracedb
