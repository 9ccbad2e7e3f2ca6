#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/closest_name.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/parallel.h"
#include "compare/load_side.h"
#include "compare_join.h"
#include "compare_sections.h"
#include "query_command.h"
#include "query_open.h"
#include "query_output.h"
#include "query_rules.h"

namespace tracedb {
namespace {

struct Request {
  CompareOptions options;
  LedgerBy ledger_by = LedgerBy::kOp;
  std::vector<const Section*> sections;
  std::optional<double> gate;  // percent
  StepMetric gate_metric = StepMetric::kSpan;
};

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : compare_sections()) names.emplace_back(section.name);
  return names;
}

std::vector<const Section*> sections_asked(const CommandLine& line) {
  std::vector<const Section*> asked;
  const auto text = line.text("section");
  for (const Section& section : compare_sections()) {
    if (!text ? section.always : *text == "all") asked.push_back(&section);
  }
  if (!text || *text == "all") return asked;
  for (std::size_t begin = 0; begin <= text->size();) {
    const std::size_t end = std::min(text->find(',', begin), text->size());
    const std::string name = text->substr(begin, end - begin);
    const auto all = compare_sections();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == name; });
    if (found == all.end()) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("--section {}: there is no such section{}; 'compare --help' lists them", name,
                              did_you_mean(name, section_names())));
    }
    asked.push_back(&*found);
    begin = end + 1;
  }
  return asked;
}

template <class Value>
Value chosen(const CommandLine& line, const char* option, Value otherwise,
             std::optional<Value> (*from)(std::string_view), const char* choices) {
  const auto text = line.text(option);
  if (!text) return otherwise;
  if (const auto value = from(*text)) return *value;
  throw Error(ErrorCode::kUsage, fmt::format("--{} {}: there are {}", option, *text, choices));
}

std::optional<LedgerBy> ledger_by_from(std::string_view text) {
  if (text == "op") return LedgerBy::kOp;
  if (text == "layer") return LedgerBy::kLayer;
  if (text == "layer,op") return LedgerBy::kLayerOp;
  if (text == "kernel") return LedgerBy::kKernel;
  return std::nullopt;
}

Request request(const CommandLine& line) {
  Request out;
  if (line.knows("section")) {
    out.sections = sections_asked(line);
  } else {
    const auto all = compare_sections();
    const std::string_view only = line.command().name == "align" ? "alignment" : line.command().name;
    out.sections = {&*std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == only; })};
  }
  out.options.normalise = chosen(line, "normalise", Normalise::kStep, normalise_from, "step, token and none");
  out.options.phase = line.text("phase");
  out.ledger_by = chosen(line, "by", LedgerBy::kOp, ledger_by_from, "op, layer, 'layer,op' and kernel");
  out.gate_metric =
      chosen(line, "gate-metric", StepMetric::kSpan, step_metric_from, "span, busy, period and kernel_time");
  if (const auto text = line.text("gate")) {
    out.gate = parse_double(*text);
    if (!out.gate || *out.gate < 0) throw Error(ErrorCode::kUsage, fmt::format("--gate {}: give percent", *text));
  }
  return out;
}

// Labels that tell the inputs apart: file names, or as much of the paths as differs.
std::vector<std::string> labels_of(std::span<const std::string> inputs) {
  std::vector<std::string> labels;
  for (const std::string& input : inputs) labels.push_back(std::filesystem::path(input).filename().string());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::count(labels.begin(), labels.end(), labels[i]) > 1) return {inputs.begin(), inputs.end()};
  }
  return labels;
}

// All sides with one numbering of names and configurations.
struct LoadedSides {
  Vocabulary vocabulary;
  ConfigNumbers configs;
  std::vector<Side> sides;
};

LoadedSides load_sides(const std::vector<OpenedTrace>& traces, const CommandLine& line, const RulesInForce& rules) {
  const StepOptions options{line.text("step-regex")};
  std::vector<std::optional<Side>> loaded(traces.size());
  const auto load = [&](std::size_t i) {
    rules.apply(traces[i].index);
    loaded[i].emplace(load_side(traces[i].index, options));
  };
  // Two at a time: more would need more memory than they save time.
  for (std::size_t i = 0; i < traces.size(); i += 2) {
    if (i + 1 == traces.size()) {
      load(i);
    } else {
      run_both([&, i] { load(i); }, [&, i] { load(i + 1); });
    }
  }
  LoadedSides out;
  const std::vector<std::string> labels = labels_of(line.inputs());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    out.sides.push_back(std::move(*loaded[i]));
    out.sides.back().facts.label = labels[i];
    name_side(out.sides.back(), traces[i].index, out.vocabulary, out.configs);
  }
  return out;
}

bool beyond_gate(const Comparison& comparison, const Request& asked, const Output& output) {
  bool failed = false;
  for (const GroupComparison& group : comparison.groups) {
    const Change& change = group.metrics[static_cast<std::size_t>(asked.gate_metric)];
    if (change.baseline.median <= 0) continue;
    const double percent = 100 * change.difference() / change.baseline.median;
    const std::string what = fmt::format("{}, {}: {:+.2f} %", group.group.label, to_string(asked.gate_metric), percent);
    if (change.verdict == Verdict::kInconclusive && percent > *asked.gate) {
      output.note(fmt::format("gate: {} would exceed {} %, but is inconclusive", what, *asked.gate));
    } else if (change.interval.low > 0 && percent > *asked.gate) {
      output.note(fmt::format("gate: {} exceeds {} %", what, *asked.gate));
      failed = true;
    }
  }
  return failed;
}

// For people: a table for each phase, named in its title.
void print_by_phase(Report report, const ReportHead& head, Output& output) {
  if (report.columns.front().key != "phase" || report.rows.empty()) {
    output.separate(head.section + (report.rows.empty() ? ": nothing" : ""));
    if (!report.rows.empty()) output.print(std::move(report), head, {});
    return;
  }
  std::vector<std::string> phases;
  const auto phase_of = [](const Row& row) { return std::get<std::string>(row.front()); };
  for (const Row& row : report.rows) {
    if (phases.empty() || phases.back() != phase_of(row)) phases.push_back(phase_of(row));
  }
  for (const std::string& phase : phases) {
    Report part{{report.columns.begin() + 1, report.columns.end()}, {}};
    const auto take = [&](const std::vector<Row>& from, std::vector<Row>& to) {
      for (const Row& row : from) {
        if (phase_of(row) == phase) to.emplace_back(row.begin() + 1, row.end());
      }
    };
    take(report.rows, part.rows);
    take(report.footer, part.footer);
    output.separate(fmt::format("{}: {}", head.section, phase));
    output.print(std::move(part), head, {});
  }
}

// Prints sections as the format wants them: one document, or a table each.
class Printer {
 public:
  Printer(const CommandLine& line, Output& output)
      : output_(output),
        people_(line.renderer().audience == Audience::kPeople),
        document_(line.renderer().tables == Tables::kOneDocument ? output.renderer() : nullptr) {}

  void print(Report report, const ReportHead& head) {
    if (document_) {
      output_.print_section(std::move(report), head, *document_);
    } else if (people_) {
      print_by_phase(std::move(report), head, output_);
    } else {
      output_.separate(head.section);
      output_.print(std::move(report), head, {});
    }
  }
  void finish(const std::vector<std::string>& warnings) {
    if (document_) document_->end(warnings);
    output_.finish();
  }
  [[nodiscard]] bool people() const { return people_; }

 private:
  Output& output_;
  bool people_;
  std::unique_ptr<TableRenderer> document_;
};

void print_sections(const Request& asked, const LoadedSides& loaded, const std::vector<Comparison>& comparisons,
                    std::span<const std::string> inputs, Printer& printer) {
  std::vector<std::string> names(inputs.begin(), inputs.end());
  for (const Section* section : asked.sections) {
    std::vector<Report> reports;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
      const SectionInput input{comparisons[i], loaded.sides[0], loaded.sides[i + 1], loaded.vocabulary,
                               loaded.configs, asked.ledger_by, printer.people()};
      reports.push_back(section->make(input));
    }
    const std::string name(section->name);
    if (reports.size() == 1) {
      printer.print(std::move(reports[0]), {"compare", names, name});
    } else if (section->joins) {
      printer.print(join_candidates(reports), {"compare", names, name});
    } else {
      for (std::size_t i = 0; i < reports.size(); ++i) {
        printer.print(std::move(reports[i]),
                      {"compare", names, fmt::format("{} {} ({})", name, i + 1, loaded.sides[i + 1].facts.label)});
      }
    }
  }
}

int compare(const CommandLine& line) {
  const Request asked = request(line);
  const RulesInForce rules(line);
  const auto inputs = line.inputs();
  if (inputs.size() < 2) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: give a baseline and at least one candidate: trace-query {}",
                                               line.command().name, line.command().usage));
  }
  Output output(line);
  std::vector<OpenedTrace> traces;
  for (const std::string& input : inputs) {
    traces.push_back(open_trace(input, line));
    for (const std::string& note : traces.back().notes) output.note(fmt::format("{}: {}", input, note));
  }
  const LoadedSides loaded = load_sides(traces, line, rules);
  std::vector<Comparison> comparisons;
  std::vector<std::string> notes;
  bool gate_failed = false;
  for (std::size_t i = 1; i < loaded.sides.size(); ++i) {
    comparisons.push_back(compare_sides(loaded.sides[0], loaded.sides[i], loaded.vocabulary, asked.options));
    for (const CompareWarning& warning : comparisons.back().warnings) {
      notes.push_back(fmt::format("{}: {}", warning.code, warning.text));
    }
    if (asked.gate) gate_failed = beyond_gate(comparisons.back(), asked, output) || gate_failed;
  }
  Printer printer(line, output);
  print_sections(asked, loaded, comparisons, inputs, printer);
  printer.finish(notes);
  return gate_failed ? 1 : 0;
}

void add_choices(CommandLine& line) {
  line.add("normalise", OptionKind::kValue, "figures per step (default), token or none");
  line.add("phase", OptionKind::kValue,
           "only steps of this kind, a GLOB: prefill, decode, mixed, train, other, unknown");
}

int run_section(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput,
                             OptionGroup::kInput});
  add_choices(line);
  return line.parse(args) ? compare(line) : 0;
}

int run(std::span<const std::string> args) {
  CommandLine line(kCompareCommand, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput,
                                     OptionGroup::kInput});
  std::string sections = "only these sections, separated by commas, or all:";
  for (const Section& section : compare_sections()) sections += fmt::format("\n{}: {}", section.name, section.summary);
  line.add("section", OptionKind::kValue, sections.c_str());
  add_choices(line);
  line.add("by", OptionKind::kValue, "rows of the ledger: op (default), layer, layer,op or kernel");
  line.add("gate", OptionKind::kValue,
           "exit 1 if the candidate is significantly slower by more than this many percent");
  line.add("gate-metric", OptionKind::kValue,
           "what --gate is about: span (default), busy, period or kernel_time of a step");
  return line.parse(args) ? compare(line) : 0;
}

}  // namespace

const Command kCompareCommand = {
    "compare", "two traces: operations, layers, kernels, fusion, an account of the change, a verdict",
    "compare [options] BASELINE CANDIDATE [CANDIDATE...]",
    "  trace-query compare mi300x.json.gz h100.json.gz\n"
    "  trace-query compare last-week.json.gz tonight.json.gz --section summary --gate 5\n"
    "  trace-query compare a.json.gz b.json.gz --section fusion,alignment --phase decode --markdown",
    run};

const Command kAlignCommand = {"align", "which kernel of one trace does the work of which of another",
                               "align [options] BASELINE CANDIDATE [CANDIDATE...]",
                               "  trace-query align mi300x.json.gz h100.json.gz --phase decode --limit 0",
                               [](std::span<const std::string> args) { return run_section(kAlignCommand, args); }};

const Command kFusionCommand = {"fusion", "what one trace does in one kernel and another in several",
                                "fusion [options] BASELINE CANDIDATE [CANDIDATE...]",
                                "  trace-query fusion mi300x.json.gz h100.json.gz --json",
                                [](std::span<const std::string> args) { return run_section(kFusionCommand, args); }};

}  // namespace tracedb
