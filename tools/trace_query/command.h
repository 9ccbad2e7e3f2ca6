// One command of trace-query: its help and its function. The commands are defined in commands/ and listed in main.cc,
// in the order help shows them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tracedb {

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view usage;                         // one line, after "trace-query "
  std::string_view example;                       // one or more lines, shown by --help
  int (*run)(std::span<const std::string> args);  // the exit code; throws Error
};

extern const Command kInfoCommand;
extern const Command kCompareCommand;
extern const Command kAlignCommand;
extern const Command kFusionCommand;
extern const Command kKernelsCommand;
extern const Command kOpsCommand;
extern const Command kTimelineCommand;
extern const Command kGapsCommand;
extern const Command kLaunchesCommand;
extern const Command kCommsCommand;
extern const Command kPhasesCommand;
extern const Command kStepsCommand;
extern const Command kLayersCommand;
extern const Command kMemcpysCommand;
extern const Command kModelCommand;
extern const Command kStacksCommand;
extern const Command kSequencesCommand;
extern const Command kWarningsCommand;
extern const Command kIssuesCommand;
extern const Command kRulesCommand;
extern const Command kSqlCommand;
extern const Command kSchemaCommand;
extern const Command kVerifyCommand;
extern const Command kAieCommand;
extern const Command kRanksCommand;
extern const Command kLsCommand;
extern const Command kTrendCommand;
extern const Command kReportCommand;
extern const Command kExportCommand;

const Command* known_command(const std::string& name);  // null: there is none

}  // namespace tracedb
