#include <fmt/format.h>

#include <iostream>

#include "ascend/msmodeling/op_comparison.h"
#include "base/error.h"
#include "base/failure.h"
#include "trace_query/command.h"
#include "trace_query/options.h"

namespace tracedb {
namespace {

int run_msmodeling(const CommandLine& line) {
  msmodeling::Options options;
  options.trace_dir = line.text("trace-dir").value_or(options.trace_dir);
  options.data_dir = line.text("data-dir").value_or(options.data_dir);
  options.output = line.text("output").value_or(options.output);
  const auto error = failure_of([&] { msmodeling::run(options, std::cout, std::cerr); });
  std::cout.flush();
  if (!error) return 0;
  if (error->code() != ErrorCode::kAnswerIsNo) throw *error;
  std::cerr << error->what() << '\n';
  return static_cast<int>(error->code());
}

int run(std::span<const std::string> args) {
  CommandLine line(kModelCommand, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  line.add("compat", OptionKind::kValue,
           "msmodeling: what generate_op_comparison.py of msmodeling prints and writes, byte for byte, its faults "
           "included; with its own options:");
  line.add("trace-dir", OptionKind::kValue, "folder of the profiles");
  line.add("data-dir", OptionKind::kValue, "folder of op_mapping.yaml");
  if (!line.parse(args)) return 0;
  if (const auto compat = line.text("compat")) {
    if (*compat == "msmodeling") return run_msmodeling(line);
    throw Error(ErrorCode::kUsage, fmt::format("--compat {}: there is msmodeling", *compat));
  }
  return 0;
}

}  // namespace

const Command kModelCommand = {"model", "a performance model against a profile: operators modelled, missed, wrong",
                               "model [options] MODEL PROFILE",
                               "  trace-query model model.json kernel_details.csv --op-map op_mapping.yaml", run};

}  // namespace tracedb
