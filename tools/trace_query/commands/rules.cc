#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text/amounts.h"
#include "base/text/closest_name.h"
#include "passes/classify/kernel_classes.h"
#include "trace_query/command.h"
#include "trace_query/open.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::string_view kRulesSuffix = ".rules";

int show(const CommandLine& line) {
  Parameters selection;
  if (const auto wanted = line.text("class")) selection["class"] = *wanted;
  const auto finish = [&](const CommandLine&, Workload&, TraceReport& result) {
    if (!result.report.rows.empty()) return;
    result.warnings = {selection.empty() ? "the trace has no kernels" : "no kernel has this class"};
  };
  return run_pass_reports(line, {"rules_show", {}, selection, finish});
}

int list(const CommandLine& line) {
  const ActiveRules active = requested_rules(line);
  const RuleSet& rules = active.get();
  Report report{declared_columns("rules_list"), {}};
  for (const Rule& rule : rules.rules) {
    std::string class_name = rule.class_name;
    if (!rule.parts.empty()) class_name += fmt::format("|{}", fmt::join(rule.parts, ","));
    report.rows.push_back({rule.name, class_name, to_text(rule.terms), rule.source});
  }
  Output output(line);
  output.print(std::move(report), {"rules_list", {}}, {});
  output.finish();
  return 0;
}

std::vector<std::string> names_of(const Index& index) {
  return index.database().query_texts("SELECT name FROM kernel_name ORDER BY id");
}

Report check_report(Classifier& classifier, const std::vector<RuleFinding>& findings) {
  Report report{declared_columns("rules_check"), {}};
  for (const RuleFinding& finding : findings) {
    if (finding.state == RuleState::kUsed) continue;
    report.rows.push_back({std::string(to_string(finding.state)), std::string(classifier.rule_name(finding.rule)),
                           finding.by == kNoRule ? std::string() : std::string(classifier.rule_name(finding.by)),
                           static_cast<std::int64_t>(finding.held), static_cast<std::int64_t>(finding.decided),
                           classifier.rules().rules[finding.rule].source});
  }
  return report;
}

// Checks the file of rules among the arguments; the kernel names come from its traces and indexes.
int check(const CommandLine& line, std::span<const std::string> inputs) {
  std::string what = line.setting("rules", "TRACEDB_RULES").value_or("default");
  std::vector<std::string> names;
  std::string platform = "unknown";
  std::vector<std::string> notes;
  for (const std::string& input : inputs) {
    if (std::filesystem::path(input).extension() == kRulesSuffix) {
      what = input;
      continue;
    }
    const OpenedTrace trace = open_trace(input, line);
    const std::vector<std::string> more = names_of(trace.index);
    names.insert(names.end(), more.begin(), more.end());
    platform = platform_of(trace.index);
    notes.insert(notes.end(), trace.notes.begin(), trace.notes.end());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  Classifier classifier(load_rules(what), platform);
  std::vector<RuleFinding> findings = check_rules(classifier, names);
  if (names.empty()) std::erase_if(findings, [](const auto& f) { return f.state != RuleState::kNeverReached; });
  const bool bad = std::ranges::any_of(findings, [](const auto& f) { return f.state == RuleState::kNeverReached; });
  notes.push_back(fmt::format("{}: {} checked with {}", what, counted(classifier.rules().rules.size(), "rule"),
                              counted(names.size(), "name")));
  Output output(line);
  output.print(check_report(classifier, findings), {"rules_check", {inputs.begin(), inputs.end()}}, notes);
  output.finish();
  return bad ? static_cast<int>(ErrorCode::kAnswerIsNo) : 0;
}

int explain(const CommandLine& line, std::span<const std::string> names) {
  Classifier classifier(requested_rules(line).get(), line.text("platform").value_or("unknown"));
  Report report{declared_columns("rules_explain"), {}};
  for (const std::string& name : names) {
    const Explanation why = classifier.explain(name);
    report.rows.push_back({classifier.class_name(why.result.class_id),
                           std::string(classifier.rule_name(why.result.rule_id)),
                           fmt::format("{}", fmt::join(why.evidence, " ")), why.label, why.path, why.readable});
  }
  Output output(line);
  output.print(std::move(report), {"rules_explain", {}}, {});
  output.finish();
  return 0;
}

int run_rules(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kNoIngest});
  line.add("rules", "default, wafer (the table of wafer 0.1.26), or a file of rules");
  line.add("class", "show: only names of this class");
  line.add("platform", "explain: the vendor to assume (amd, nvidia), for rules that depend on it");
  if (!line.parse(args)) return 0;
  const std::vector<std::string>& words = line.positional();
  const std::vector<std::string> actions = {"show", "list", "check", "explain"};
  if (words.empty()) throw usage_error("rules: say what to do: show, list, check or explain");
  const std::span<const std::string> rest = std::span(words).subspan(1);
  const bool needs_more = words[0] == "show" || words[0] == "explain";
  if (needs_more && rest.empty()) {
    throw usage_error("rules {}: give {}", words[0], words[0] == "show" ? "a trace or index" : "the name of a kernel");
  }
  if (words[0] == "show") {
    std::vector<std::string> notes;
    line.set_inputs(find_inputs(rest, std::nullopt, &notes));
    for (const std::string& one : notes) note(line, one);
    return show(line);
  }
  if (words[0] == "list") return list(line);
  if (words[0] == "check") return check(line, rest);
  if (words[0] == "explain") return explain(line, rest);
  throw usage_error("rules {}: there are show, list, check and explain{}", words[0], did_you_mean(words[0], actions));
}

}  // namespace

Command rules_command() {
  return {"rules",
          "the class of each kernel name and the rule that chose it; check and list rules",
          "rules show|check|list|explain [options] [TRACE|INDEX|FILE.rules|NAME...]",
          "  trace-query rules show trace.json.gz --class other\n"
          "  trace-query rules explain 'void vllm::rms_norm_kernel<c10::Half>(c10::Half*)'\n"
          "  trace-query rules check mine.rules trace.json.gz\n"
          "End your own file with 'include default' to put its rules before the built-in ones.",
          run_rules,
          {{"", "rules_show"}},
          nullptr,
          "rules_show"};
}

}  // namespace tracedb
