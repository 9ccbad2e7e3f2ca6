#include "trace_query/commands/aie/aie_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "aie/stream/reports.h"
#include "base/error.h"
#include "base/text/closest_name.h"
#include "shared/option_parsing.h"
#include "trace_query/options.h"
#include "trace_query/output_file.h"

namespace tracedb {
namespace {

std::string required(const CommandLine& line, const std::string& option) {
  if (const auto value = line.text(option)) return *value;
  throw Error(ErrorCode::kUsage, fmt::format("--compat stream needs --{}", option));
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

}  // namespace

int run_aie_stream(std::span<const std::string> args) {
  CommandLine line(kAieCommand, {});
  line.add("compat", OptionKind::kValue, "stream");
  for (const char* name : {"M", "K", "N", "m", "k", "n", "row", "col", "hwid", "warmup", "iterations"}) {
    line.add(name, OptionKind::kValue, "as postprocess_aie_trace.py has it");
  }
  line.find_inputs_later();
  if (!line.parse(args)) return 0;
  const std::string program = required(line, "compat");
  const std::vector<std::string> known = {"stream"};
  if (program != known.front()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("--compat {}: there is stream{}", program, did_you_mean(program, known)));
  }
  const stream::Options options = read_options(line);
  if (!line.positional().empty()) {
    throw Error(ErrorCode::kUsage, fmt::format("--compat stream: {} is no option of it", line.positional().front()));
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

}  // namespace tracedb
