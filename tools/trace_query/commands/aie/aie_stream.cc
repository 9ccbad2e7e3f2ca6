#include "trace_query/commands/aie/aie_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "aie/stream/reports.h"
#include "base/error.h"
#include "base/text/decimal.h"
#include "trace_query/python_arguments.h"

namespace tracedb {
namespace {

constexpr std::string_view kProgram = "postprocess_aie_trace.py";

stream::Options read_options(std::span<const std::string> args) {
  using Type = PythonOption::Type;
  static const std::vector<PythonOption> kOptions = {
      {"--M", Type::kInt},     {"--K", Type::kInt},      {"--N", Type::kInt},         {"--m", Type::kInt},
      {"--k", Type::kInt},     {"--n", Type::kInt},      {"--row", Type::kInt},       {"--col", Type::kInt},
      {"--hwid", Type::kText}, {"--warmup", Type::kInt}, {"--iterations", Type::kInt}};
  const std::map<std::string, std::string> values = parse_python_arguments(kProgram, kOptions, args);
  const auto number = [&](const std::string& name) {
    constexpr std::int64_t kLimit = std::int64_t{1} << 31U;  // products of two fit
    const auto value = parse_int64(values.at(name));
    if (value && *value > -kLimit && *value < kLimit) return *value;
    throw Error(ErrorCode::kInput,
                fmt::format("{} {}: --compat stream has no numbers of more than 31 bits", name, values.at(name)));
  };
  stream::Options out;
  out.work = {number("--M"),
              number("--K"),
              number("--N"),
              number("--row"),
              number("--col"),
              std::max<std::int64_t>(0, number("--warmup")),
              std::max<std::int64_t>(0, number("--iterations"))};
  out.block_m = number("--m");
  out.block_k = number("--k");
  out.block_n = number("--n");
  out.hardware = values.at("--hwid");
  return out;
}

}  // namespace

int run_aie_stream(std::span<const std::string> args) {
  return run_python_program([&] { stream::postprocess(read_options(args), std::cout); });
}

}  // namespace tracedb
