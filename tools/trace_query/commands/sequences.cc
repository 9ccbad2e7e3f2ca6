#include "passes/stacks/sequences.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "passes/columns/event_columns.h"
#include "passes/columns/group_stats.h"
#include "report/escape.h"
#include "sql/temp_table.h"
#include "trace_query/command.h"
#include "trace_query/rules.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"

namespace tracedb {
namespace {

constexpr std::int64_t kUsualLength = 3, kLongest = 64;
constexpr std::size_t kReadable = 40;  // letters of one kernel's name, for people

struct Question {
  Selection selection;
  std::size_t length = 0;
  std::int64_t least = 2;
  bool by_class = false;
  bool shortened = false;
};

Question question_of(const CommandLine& line) {
  Question question{selection_of(line), 0, line.number("least").value_or(2), false, false};
  const std::int64_t length = line.number("length").value_or(kUsualLength);
  if (length < 2 || length > kLongest) {
    throw Error(ErrorCode::kUsage, fmt::format("--length {}: give 2 to {}", length, kLongest));
  }
  question.length = static_cast<std::size_t>(length);
  const std::string by = line.text("by").value_or("name");
  if (by != "name" && by != "op") throw Error(ErrorCode::kUsage, fmt::format("--by {}: there are name and op", by));
  question.by_class = by == "op";
  question.shortened = line.renderer().audience == Audience::kHuman && !line.has("wide");
  return question;
}

// The texts of the labels; a kernel's name id is its label, replaced by that of its class where that is asked for.
struct Labels {
  std::vector<std::uint32_t> of_name;  // by name id
  std::vector<std::string> texts;      // by label
};

Labels labels_of(const Index& index, bool by_class) {
  Labels labels;
  std::vector<std::string> seen;
  Statement rows(index.database(), by_class ? "SELECT name_id, class FROM temp.kernel_class ORDER BY class, name_id"
                                            : "SELECT id, short_name FROM kernel_name ORDER BY short_name, id");
  while (rows.step()) {
    const std::size_t id = rows.id(0);
    if (labels.texts.empty() || labels.texts.back() != rows.text(1)) labels.texts.emplace_back(rows.text(1));
    if (id >= labels.of_name.size()) labels.of_name.resize(id + 1, kNoLabel);
    labels.of_name[id] = static_cast<std::uint32_t>(labels.texts.size() - 1);
  }
  return labels;
}

// Returns the time of all kernels of the selection.
std::int64_t make_sequence_table(const Index& index, const Question& question) {
  const EventColumns kernels(index, "kernel", {"ts", "dur", "name_id", "stream_id", "step_id"});
  const EventFilter filter(index, question.selection);
  const Labels labels = labels_of(index, question.by_class);
  const auto ts = kernels.int64s("ts");
  const auto dur = kernels.int64s("dur");
  const auto name = kernels.ids("name_id");
  const auto stream = kernels.ids("stream_id");
  const auto step = kernels.ids("step_id");
  LargeVector<std::uint32_t> label(kernels.size(), kNoLabel);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (!filter.keeps(ts[i], name[i], stream[i], step[i]) || name[i] >= labels.of_name.size()) continue;
    label[i] = labels.of_name[name[i]];
    all = bounded_add(all, std::max<std::int64_t>(dur[i], 0));
  }
  TempTable table(index.database(), "kernel_sequence",
                  "place INTEGER PRIMARY KEY, n INTEGER, total INTEGER, min INTEGER, max INTEGER, sequence TEXT", 6);
  std::int64_t place = 0;
  for (const SequenceStats& found : find_sequences({dur, stream, label}, question.length, question.least)) {
    std::string text;
    for (const std::uint32_t one : found.labels) {
      const std::string& text_of_one = labels.texts[one];
      text += (text.empty() ? "" : " > ") + (question.shortened ? shorten_middle(text_of_one, kReadable) : text_of_one);
    }
    table.insert().bind(1, ++place).bind(2, found.count).bind(3, found.total).bind(4, found.min).bind(5, found.max);
    table.insert().bind(6, std::string_view(text)).run();
  }
  return all;
}

int run(std::span<const std::string> args) {
  CommandLine line(kSequencesCommand, {OptionGroup::kSelection, OptionGroup::kRules, OptionGroup::kRows,
                                       OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  line.add("length", OptionKind::kValue, "kernels in a sequence: 2 to 64 (default 3)");
  line.add("by", OptionKind::kValue, "name: by short name (default); op: by operation class");
  line.add("least", OptionKind::kValue, "only sequences seen at least this often (default 2)");
  if (!line.parse(args)) return 0;
  const Question question = question_of(line);
  const RulesInForce rules(line);
  const bool classes = question.by_class || question.selection.op;
  Provenance provenance{
      "reports/sequences",
      {fmt::format("temp.kernel_sequence: every {} kernels of the selection that follow each other on a stream, "
                   "from columns dur, name_id and stream_id of table kernel (src/passes/stacks/sequences.h)",
                   question.length)}};
  if (classes) provenance.tables.push_back(rules.provenance());
  const auto make = [&](const Index& index) {
    if (classes) rules.apply(index);
    const std::int64_t all = make_sequence_table(index, question);
    TraceReport result{run_report(index.database(), "sequences", {{"all", all}}), {}};
    if (result.report.rows.empty()) result.warnings.emplace_back("no sequence of kernels repeats");
    return result;
  };
  return run_trace_reports(line, "sequences", make, provenance);
}

}  // namespace

const Command kSequencesCommand = {"sequences", "sequences of kernels that repeat",
                                   "sequences [options] TRACE|INDEX...",
                                   "  trace-query sequences trace.json.gz --length 4\n"
                                   "  trace-query sequences trace.json.gz --by op --phase decode",
                                   run};

}  // namespace tracedb
