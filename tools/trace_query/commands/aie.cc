#include <fmt/format.h>

#include <algorithm>

#include "base/closest_name.h"
#include "base/error.h"
#include "trace_query/command.h"
#include "trace_query/commands/aie_stream.h"
#include "trace_query/options.h"
#include "trace_query/python_arguments.h"

namespace tracedb {
namespace {

int run(std::span<const std::string> args) {
  const auto asks_help = [](const std::string& arg) { return arg == "--help" || arg == "-h"; };
  const auto compat = compat_arguments(args);
  if (compat && std::none_of(compat->rest.begin(), compat->rest.end(), asks_help)) {
    const std::vector<std::string> known = {"stream"};
    if (compat->name == known.front()) return run_aie_stream(compat->rest);
    throw Error(ErrorCode::kUsage,
                fmt::format("--compat {}: there is stream{}", compat->name, did_you_mean(compat->name, known)));
  }
  CommandLine line(kAieCommand, {});
  line.add(
      "compat", OptionKind::kValue,
      "stream: do what postprocess_aie_trace.py of the stream project does, in the working directory, with its "
      "options --M --K --N --m --k --n --row --col --hwid --warmup --iterations; files and output are the same byte "
      "for byte");
  if (!line.parse(args)) return 0;
  throw Error(ErrorCode::kUsage, "aie needs --compat stream");
}

}  // namespace

const Command kAieCommand = {
    "aie", "iterations of the tiles of an AI Engine array, as the stream project finds them",
    "aie --compat stream --M M --K K --N N --m m --k k --n n --row R --col C --hwid ID --warmup W --iterations I",
    "  trace-query aie --compat stream --M 64 --K 64 --N 64 --m 32 --k 32 --n 32 --row 1 --col 1 --hwid npu1 \\\n"
    "    --warmup 1 --iterations 2\n",
    run};

}  // namespace tracedb
