#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <iostream>

#include "aie/stream/postprocess.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "present/aie_tables.h"
#include "shared/help_text.h"
#include "shared/option_parsing.h"
#include "trace_query/command.h"
#include "trace_query/help.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/output.h"

namespace tracedb {
namespace {

struct AieRequest {
  aie::Marks marks;
  aie::KernelOptions kernels;
  aie::Work work;
  std::int64_t least_tiles = 0;
  std::string tile = "*";
  std::vector<std::string> sections;
};

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view expected) {
  throw usage_error("--{} {}: {}", option, value, expected);
}

double positive(std::string_view option, std::string_view text) {
  const std::optional<double> value = parse_double(text);
  if (!value || *value <= 0) refuse(option, text, "expected a number above 0");
  return *value;
}

std::optional<double> positive(const CommandLine& line, const std::string& option) {
  const std::optional<std::string> text = line.text(option);
  return text ? std::optional(positive(option, *text)) : std::nullopt;
}

// "INSTR_EVENT_0:B"
aie::Mark parse_mark(const std::string& text, const std::string& whole) {
  const std::size_t colon = text.rfind(':');
  const std::string edge = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (colon == 0 || (edge != "B" && edge != "E")) refuse("kernel-events", whole, "expected START:B|E,END:B|E");
  return {text.substr(0, colon), edge == "E"};
}

aie::Marks parse_marks(const std::string& text) {
  const std::vector<std::string> parts = split_names(text);
  if (parts.size() != 2) refuse("kernel-events", text, "expected START:B|E,END:B|E");
  return {parse_mark(parts[0], text), parse_mark(parts[1], text)};
}

aie::Boundaries parse_boundaries(const std::string& text) {
  aie::Boundaries out;
  constexpr std::string_view kExpected = "expected stall, gap=CYCLES, count=KERNELS or none";
  if (text == "stall") return out;
  if (text == "none") {
    out.rule = aie::Boundaries::Rule::kNone;
    return out;
  }
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || (name != "gap" && name != "count")) refuse("boundaries", text, kExpected);
  const auto value = parse_int64(text.substr(equals + 1));
  if (!value || *value <= 0) refuse("boundaries", text, kExpected);
  out.rule = name == "gap" ? aie::Boundaries::Rule::kGap : aie::Boundaries::Rule::kCount;
  out.value = *value;
  return out;
}

void read_outliers(const std::string& text, aie::KernelOptions& options) {
  if (text == "none") return;
  const std::vector<std::string> parts = split_names(text);
  if (parts.size() != 2) refuse("outlier", text, "expected LOW,HIGH in medians, or none");
  options.window = {positive("outlier", parts[0]), positive("outlier", parts[1])};
  options.outliers = aie::Outliers::kDrop;
}

aie::Work read_work(const CommandLine& line) {
  aie::Work out;
  out.macs = positive(line, "work");
  out.clock_ghz = positive(line, "clock-ghz").value_or(out.clock_ghz);
  out.peak_macs = positive(line, "peak-macs").value_or(out.peak_macs);
  out.cores = line.number("cores");
  if (out.cores == 0) refuse("cores", "0", "expected a number above 0");
  const std::optional<std::string> gemm = line.text("gemm");
  if (!gemm) return out;
  if (out.macs) throw usage_error("--gemm and --work: give one of them");
  const std::vector<std::string> sizes = split_names(*gemm);
  if (sizes.size() != 3) refuse("gemm", *gemm, "expected M,K,N");
  out.macs = 1;
  for (const std::string& size : sizes) *out.macs *= positive("gemm", size);
  return out;
}

constexpr struct {
  const char* name;
  Report (*make)(const std::vector<AieTrace>& traces, const AieRequest& request);
} kAieSections[] = {
    {"tiles", [](const auto& traces, const auto& request) { return aie_tiles(traces, request.work); }},
    {"iterations", [](const auto& traces, const auto& request) { return aie_iterations(traces, request.work); }},
    {"system",
     [](const auto& traces, const auto& request) { return aie_system(traces, request.work, request.least_tiles); }}};

std::vector<std::string> read_sections(const CommandLine& line) {
  std::vector<std::string> known;
  for (const auto& section : kAieSections) known.emplace_back(section.name);
  std::vector<std::string> out = line.names("section");
  for (const std::string& section : out) require_known("section", section, known);
  return out.empty() ? known : out;
}

AieRequest read_request(const CommandLine& line) {
  AieRequest out;
  if (const auto text = line.text("kernel-events")) out.marks = parse_marks(*text);
  if (const auto text = line.text("boundaries")) out.kernels.boundaries = parse_boundaries(*text);
  if (const auto text = line.text("outlier")) read_outliers(*text, out.kernels);
  out.kernels.boundaries.stall_factor = positive(line, "stall-factor").value_or(20.0);
  if (const auto text = line.text("dup-gap")) out.kernels.duplicate_gap = *text == "0" ? 0 : positive("dup-gap", *text);
  if (line.has("keep-empty-iterations")) out.kernels.empty = aie::EmptyIterations::kKeep;
  out.kernels.warmup = line.number("warmup").value_or(0);
  out.kernels.measured = line.number("iterations");
  out.work = read_work(line);
  out.least_tiles = line.number("min-tiles").value_or(0);
  out.tile = line.text("tile").value_or("*");
  out.sections = read_sections(line);
  return out;
}

// Of the tiles only those that are called like `pattern`; whether that leaves any out. What is known of all stays so.
bool keep_tiles(AieTrace& trace, const std::string& pattern) {
  AieTrace kept;
  for (std::size_t i = 0; i < trace.tiles.size(); ++i) {
    if (::fnmatch(pattern.c_str(), trace.tiles[i].name.c_str(), 0) != 0) continue;
    kept.tiles.push_back(std::move(trace.tiles[i]));
    kept.kernels.push_back(std::move(trace.kernels[i]));
  }
  const bool fewer = kept.tiles.size() < trace.tiles.size();
  trace.tiles = std::move(kept.tiles);
  trace.kernels = std::move(kept.kernels);
  return fewer;
}

AieTrace read_trace(const Index& index, const AieRequest& request, std::vector<std::string>& warnings) {
  AieTrace out;
  if (index.meta("format") != "aie") {
    warnings.emplace_back("the trace is not of AI Engine tiles");
    return out;
  }
  out.tiles = aie::read_tiles(index, request.marks);
  if (out.tiles.empty()) warnings.emplace_back("the trace has no cores: no process is named core_trace");
  const bool any = !out.tiles.empty();
  for (const aie::Tile& tile : out.tiles) out.kernels.push_back(find_kernels(tile, request.kernels));
  out.most_iterations = number_iterations(out.kernels, request.kernels);
  out.cores = out.shown_cores = request.work.cores.value_or(tiles_with_kernels(out.kernels));
  out.window = aie::window_of(out.tiles);
  if (keep_tiles(out, request.tile)) out.shown_cores = tiles_with_kernels(out.kernels);
  if (any && out.tiles.empty()) warnings.push_back(fmt::format("no tile matches --tile {}", request.tile));
  for (std::string& warning : aie_warnings(out, request.kernels, request.work)) warnings.push_back(std::move(warning));
  return out;
}

void print(const CommandLine& line, const AieRequest& request, const std::vector<AieTrace>& traces,
           const std::vector<std::string>& warnings) {
  Output output(line);
  for (const std::string& wanted : request.sections) {
    for (const auto& [section, make] : kAieSections) {
      if (section == wanted) output.section(make(traces, request), {"aie", line.inputs(), section});
    }
  }
  output.end_sections(warnings);
  for (const std::string& warning : warnings) output.note(warning);
  output.finish();
}

void add_aie_options(CommandLine& line) {
  using Kind = OptionKind;
  line.add("tile", "only tiles of this name; * matches any text, ? one character");
  line.add("section", Kind::kList, "tiles, iterations, system (default: all)");
  line.add("gemm", "M,K,N: an iteration multiplies matrices of these sizes; gives rates and utilisation");
  line.add("work", "the multiply-accumulates of an iteration, instead of --gemm");
  line.add("cores", "cores that share the work (default: the traced ones that have kernels)");
  line.add("clock-ghz", "clock of the array (default: 1.25)");
  line.add("peak-macs", "multiply-accumulates a core can do in a cycle (default: 64)");
  line.add("warmup", "iterations that come before those that are measured (default: 0)");
  line.add("iterations", "iterations that are measured; later ones are extra (default: all)");
  line.add("boundaries",
           "what ends an iteration: stall (a long lock stall, the default), gap=CYCLES without a kernel, "
           "count=KERNELS, none");
  line.add("stall-factor", "a lock stall of this many median kernels ends an iteration (default: 20)");
  line.add("keep-empty-iterations", Kind::kFlag, "count iterations without kernels, as between two long stalls");
  line.add("kernel-events",
           "events and edges that mark kernels (default: INSTR_EVENT_0:B,INSTR_EVENT_1:E; with INSTR_EVENT_1:B as "
           "mlir-aie counts)");
  line.add("dup-gap",
           "a mark that repeats the last one within this part of a usual kernel is a duplicate (default: 0.25)");
  line.add(
      "outlier",
      "LOW,HIGH: leave out kernels outside this many medians (default: none; those outside 1/3 and 3 are counted)");
  line.add("min-tiles", "the system has iterations that so many tiles measured (default: all tiles)");
  line.add("compat",
           "stream: do what postprocess_aie_trace.py of the stream project does, in the working directory, with its "
           "options --M --K --N --m --k --n --row --col --hwid --warmup --iterations, and no others of these");
}

std::string required(const CommandLine& line, const std::string& option) {
  if (const auto value = line.text(option)) return *value;
  throw usage_error("--compat stream needs --{}", option);
}

stream::Options read_options(const CommandLine& line) {
  const auto number = [&](const std::string& option) {
    constexpr std::int64_t kLimit = (std::int64_t{1} << 31U) - 1;  // products of two fit
    return parse_whole("--" + option, required(line, option), -kLimit, kLimit);
  };
  const auto count = [&](const std::string& option) { return std::max<std::int64_t>(0, number(option)); };
  stream::Options out;
  out.work = {number("M"),   number("K"),     number("N"),        number("row"),
              number("col"), count("warmup"), count("iterations")};
  out.block_m = number("m");
  out.block_k = number("k");
  out.block_n = number("n");
  out.hardware = required(line, "hwid");
  return out;
}

// What postprocess_aie_trace.py of the stream project does with these arguments, in the working directory.
int run_aie_stream(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {});
  line.add("compat", "stream");
  for (const char* name : {"M", "K", "N", "m", "k", "n", "row", "col", "hwid", "warmup", "iterations"}) {
    line.add(name, "as postprocess_aie_trace.py has it");
  }
  line.find_inputs_later();
  if (!line.parse(args)) return 0;
  const std::string program = required(line, "compat");
  const std::vector<std::string> known = {"stream"};
  if (program != known.front()) {
    throw usage_error("--compat {}: there is stream{}", program, did_you_mean(program, known));
  }
  const stream::Options options = read_options(line);
  if (!line.positional().empty()) {
    throw usage_error("--compat stream: {} is no option of it", line.positional().front());
  }
  line.set_inputs({options.trace()});
  for (const stream::OutputText& output : postprocess(options)) {
    OutputFile file(output.path);
    file.stream() << output.text;
    file.finish();
    std::cout << "[write] " << output.path << '\n';
  }
  return 0;
}

int run_aie(const Command& command, std::span<const std::string> args) {
  const auto any = [&](auto is) { return std::ranges::any_of(args, is); };
  const bool compat = any([](const std::string& arg) { return arg == "--compat" || arg.starts_with("--compat="); });
  const bool asks =
      any([](const std::string& arg) { return arg == "--help" || arg == "-h" || arg == kCompleteOption; });
  if (compat && !asks) return run_aie_stream(command, args);
  CommandLine line(command, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  add_aie_options(line);
  if (!line.parse(args)) return 0;
  const AieRequest request = read_request(line);
  std::vector<AieTrace> traces;
  std::vector<std::string> warnings;
  const bool several = line.inputs().size() > 1;
  InputLoop loop(line.inputs());
  for (const std::string& input : line.inputs()) {
    std::vector<std::string> notes;
    const bool made = loop.attempt(input, [&] {
      const OpenedTrace opened = open_trace(input, line);
      notes = opened.notes;
      traces.push_back(read_trace(opened.index, request, notes));
    });
    if (!made) continue;
    if (names_inputs(line)) traces.back().name = input;
    for (const std::string& note : notes) warnings.push_back(several ? input + ": " + note : note);
  }
  if (loop.any_answered()) print(line, request, traces, warnings);
  return loop.exit_code();
}

}  // namespace

Command aie_command() {
  return {"aie",
          "kernels, stalls and iterations of the tiles of an AI Engine array",
          "aie [options] TRACE|INDEX...",
          "  trace-query aie trace_mm.json --gemm 256,768,768 --warmup 2 --iterations 8\n"
          "  trace-query aie before.json after.json --section system --gemm 256,768,768\n"
          "  trace-query aie --compat stream --M 256 --K 768 --N 768 --m 64 --k 64 --n 64 --row 1 --col 1 --hwid npu1 "
          "--warmup 1 --iterations 8",
          run_aie,
          {},
          [](std::string_view name) -> std::vector<ReportShape> {
            std::vector<ReportShape> out;
            for (const auto& [section, make] : kAieSections) {
              out.push_back({name, "aie", section, true, make({}, {}).columns});
            }
            return out;
          }};
}

}  // namespace tracedb
