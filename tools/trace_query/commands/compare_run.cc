#include "trace_query/commands/compare_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "present/baseline_file.h"
#include "present/cells.h"
#include "present/gate.h"
#include "present/join.h"
#include "present/sections.h"
#include "trace_query/inputs.h"
#include "trace_query/open.h"
#include "trace_query/output.h"
#include "trace_query/workload.h"

namespace tracedb {
namespace {

struct Request {
  CompareOptions options;
  LedgerBy ledger_by = LedgerBy::kOp;
  std::vector<const Section*> sections;
  std::optional<Gate> gate;
};

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : compare_sections()) names.emplace_back(section.name);
  return names;
}

std::vector<const Section*> requested_sections(const CommandLine& line) {
  const auto all = compare_sections();
  const std::vector<std::string> names = line.names("section");
  const bool everything = std::find(names.begin(), names.end(), "all") != names.end();
  std::vector<const Section*> sections;
  for (const Section& section : all) {
    if (everything || (names.empty() && section.always)) sections.push_back(&section);
  }
  for (const std::string& name : everything ? std::vector<std::string>() : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == name; });
    if (found == all.end()) {
      throw Error(ErrorCode::kUsage, fmt::format("--section {}: no such section{}; 'compare --help' lists them", name,
                                                 did_you_mean(name, section_names())));
    }
    sections.push_back(&*found);
  }
  return sections;
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
  if (text == "op" || text == "class") return LedgerBy::kOp;
  if (text == "layer") return LedgerBy::kLayer;
  if (text == "layer,op") return LedgerBy::kLayerOp;
  if (text == "kernel") return LedgerBy::kKernel;
  return std::nullopt;
}

// nullopt: the worse of period and span.
std::optional<StepMetric> gate_metric(const CommandLine& line) {
  const auto text = line.text("gate-metric");
  if (!text || *text == "worse") return std::nullopt;
  if (const auto metric = step_metric_from(*text)) return metric;
  throw Error(ErrorCode::kUsage, fmt::format("--gate-metric {}: use worse, span, busy, period and kernel_time", *text));
}

Request parse_request(const CommandLine& line) {
  Request out;
  if (line.knows("section")) {
    out.sections = requested_sections(line);
  } else {
    const auto all = compare_sections();
    const std::string_view only = line.command().name == "align" ? "alignment" : line.command().name;
    out.sections = {&*std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.name == only; })};
  }
  out.options.normalise = chosen(line, "normalise", Normalise::kStep, normalise_from, "step, token and none");
  out.options.phase = line.text("phase");
  out.ledger_by = chosen(line, "by", LedgerBy::kOp, ledger_by_from, "op, class, layer, 'layer,op' and kernel");
  out.options.plain_classes = line.text("by") == "class";
  if (const auto text = line.text("min-confidence")) {
    const std::optional<double> percent = parse_double(*text);
    if (!percent || *percent < 0 || *percent > 100) {
      throw Error(ErrorCode::kUsage, fmt::format("--min-confidence {}: give percent, 0 to 100", *text));
    }
    out.options.least_confidence = *percent / 100;
  }
  if (const auto text = line.text("gate")) {
    const auto percent = parse_double(*text);
    if (!percent || *percent < 0) throw Error(ErrorCode::kUsage, fmt::format("--gate {}: give percent", *text));
    out.gate = {*percent, gate_metric(line)};
    out.options.rule.least_change = *percent / 100;
  } else if (line.knows("gate-metric") && line.has("gate-metric")) {
    throw Error(ErrorCode::kUsage, "--gate-metric needs --gate");
  }
  const bool arranged = line.has("sort") || line.has("columns");
  if (arranged && out.sections.size() != 1) {
    throw Error(ErrorCode::kUsage, "--sort and --columns are about one table: name it with --section");
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

ComparedTraces load(const std::vector<OpenedTrace>& opened, std::span<const std::string> inputs,
                    const CommandLine& line, const ActiveRules& rules) {
  const std::vector<std::string> labels = labels_of(inputs);
  std::vector<TraceSource> sources;
  for (std::size_t i = 0; i < opened.size(); ++i) sources.push_back({opened[i].index, labels[i]});
  return load_traces(sources, {line.text("step-regex")}, rules.get());
}

// Names the row that sums those a limit cuts off.
void label_others(Report& report) {
  const auto text = std::find_if(report.columns.begin(), report.columns.end(),
                                 [](const Column& column) { return column.unit == Unit::kText; });
  if (text != report.columns.end()) text->others = OthersAggregate::kLabel;
}

// For people: a table for each phase, named in its title; `arranged`: by columns they named, which then are there.
void print_by_phase(Report report, const ReportHead& head, bool arranged, Output& output) {
  if (report.columns.front().key != "phase" || report.rows.empty()) {
    output.separate(head.section + (report.rows.empty() ? ": nothing" : ""));
    if (!report.rows.empty()) output.print(std::move(report), head, {});
    return;
  }
  std::vector<std::string> phases;
  const auto phase_of = [](const Row& row) { return std::get<std::string>(row.front()); };
  for (const Row& row : report.rows) {
    if (std::find(phases.begin(), phases.end(), phase_of(row)) == phases.end()) phases.push_back(phase_of(row));
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
    if (!arranged) drop_inconclusive_columns(part);
    label_others(part);
    output.separate(fmt::format("{}: {}", head.section, phase));
    output.print(std::move(part), head, {});
  }
}

// Prints sections as the format wants them: one document, or a table each.
class Printer {
 public:
  Printer(const CommandLine& line, Output& output)
      : output_(output),
        human_readable_(line.renderer().audience == Audience::kHuman),
        arranged_(line.has("sort") || line.has("columns")),
        document_(line.renderer().tables == Tables::kOneDocument ? output.renderer() : nullptr) {}

  void print(Report report, const ReportHead& head) {
    if (document_) {
      output_.print_section(std::move(report), head, *document_);
    } else if (human_readable_) {
      print_by_phase(std::move(report), head, arranged_, output_);
    } else {
      output_.separate(head.section);
      output_.print(std::move(report), head, {});
    }
  }
  void finish(const std::vector<std::string>& warnings) {
    if (document_) document_->end(warnings);
    output_.finish();
  }
  [[nodiscard]] bool human_readable() const { return human_readable_; }

 private:
  Output& output_;
  bool human_readable_;
  bool arranged_;
  std::unique_ptr<TableRenderer> document_;
};

void print_sections(const Request& request, const ComparedTraces& loaded, const std::vector<Comparison>& comparisons,
                    std::span<const std::string> inputs, Printer& printer) {
  std::vector<std::string> names(inputs.begin(), inputs.end());
  for (const Section* section : request.sections) {
    std::vector<Report> reports;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
      const SectionInput input{comparisons[i], loaded.traces[0],  loaded.traces[i + 1],    loaded.kernel_names,
                               loaded.configs, request.ledger_by, printer.human_readable()};
      reports.push_back(section->make(input));
    }
    const std::string name(section->name);
    if (reports.size() == 1) {
      printer.print(std::move(reports[0]), {"compare", names, name});
    } else if (section->joins) {
      printer.print(join_candidates(reports), {"compare", names, name});
    } else {
      for (std::size_t i = 0; i < reports.size(); ++i) {
        printer.print(
            std::move(reports[i]),
            {"compare", names, fmt::format("{} {} ({})", name, i + 1, loaded.traces[i + 1].description.label)});
      }
    }
  }
}

// Findings that a table leaves out are not left out in silence.
void note_uncertain_fusions(const Request& request, const std::vector<Comparison>& comparisons, const Output& output) {
  const bool shown = std::any_of(request.sections.begin(), request.sections.end(),
                                 [](const Section* section) { return section->name == "fusion"; });
  for (const Comparison& comparison : comparisons) {
    for (const GroupComparison& group : comparison.groups) {
      if (!shown || group.uncertain_fusions == 0) continue;
      output.note(fmt::format("fusion: {}: findings of less than {:g} % confidence: {} (--min-confidence 0 shows them)",
                              group.group.label, 100 * request.options.least_confidence, group.uncertain_fusions));
    }
  }
}

Report samples_report(const SampleComparison& comparison, bool human_readable) {
  const Fields<MeasuredChange>& fields = measured_change_fields();
  Report out{columns_of(fields), {}};
  for (const SampleChange& item : comparison.changes) {
    out.rows.push_back(row_of(fields, {item.kind, item.measure, item.change, human_readable}));
  }
  return out;
}

StepSamples of_phase(StepSamples samples, const CompareOptions& options) {
  std::erase_if(samples.kinds, [&](const KindSamples& kind) { return !wanted_phase(options, kind.kind); });
  return samples;
}

// A baseline file has figures of steps alone: options that need the other trace's kernels are refused.
void check_file_options(const CommandLine& line) {
  for (const char* option : {"section", "by", "normalise"}) {
    if (!line.has(option)) continue;
    throw Error(ErrorCode::kUsage,
                fmt::format("compare: --{} needs both traces: a baseline file has only figures of steps", option));
  }
  for (const char* option : {"gate", "phase"}) {
    if (!line.has(option) || line.has("baseline-file")) continue;
    throw Error(ErrorCode::kUsage, fmt::format("compare: --{} has no effect with --save-baseline alone", option));
  }
}

// One trace against the figures of --baseline-file, or into those of --save-baseline.
int compare_with_file(const CommandLine& line) {
  check_file_options(line);
  const Request request = parse_request(line);
  const ActiveRules rules = requested_rules(line);
  if (line.inputs().size() != 1) {
    throw Error(ErrorCode::kUsage, "compare: --baseline-file and --save-baseline go with one trace");
  }
  std::vector<OpenedTrace> traces;
  traces.push_back(open_trace(line.inputs()[0], line));
  const ComparedTraces loaded = load(traces, line.inputs(), line, rules);
  const StepSamples own = step_samples(loaded.traces[0], loaded.kernel_names);
  if (const auto path = line.text("save-baseline")) {
    OutputFile file(*path);
    file.stream() << to_json(own);
    file.finish();
    if (!line.has("baseline-file")) return 0;
  }
  const std::string path = line.text("baseline-file").value();
  const StepSamples baseline = read_baseline_file(traces[0].index.database(), path);
  const SampleComparison comparison =
      compare_samples(of_phase(baseline, request.options), of_phase(own, request.options), request.options.rule);
  Output output(line);
  for (const std::string& note : traces[0].notes) output.note(note);
  const auto tell = [&](const std::string& text) { output.note(text); };
  const bool failed = request.gate && samples_beyond_gate(*request.gate, comparison, tell);
  Printer printer(line, output);
  printer.print(samples_report(comparison, printer.human_readable()), {"compare", {path, line.inputs()[0]}, "steps"});
  for (const std::string& note : comparison.notes) output.note(note);
  printer.finish(comparison.notes);
  return failed ? 1 : 0;
}

struct OpenedInputs {
  std::vector<OpenedTrace> traces;
  std::vector<std::string> inputs;  // what they were opened from
};

// Those that can be read; without the baseline nothing is compared.
OpenedInputs open_inputs(const CommandLine& line, InputLoop& loop, const Output& output) {
  OpenedInputs out;
  for (const std::string& input : line.inputs()) {
    const auto open = [&] { out.traces.push_back(open_trace(input, line)); };
    if (out.traces.empty()) {
      open();
    } else if (!loop.attempt(input, open)) {
      continue;
    }
    out.inputs.push_back(input);
    for (const std::string& note : out.traces.back().notes) output.note(fmt::format("{}: {}", input, note));
  }
  return out;
}

}  // namespace

int run_comparison(const CommandLine& line) {
  if (line.knows("baseline-file") && (line.has("baseline-file") || line.has("save-baseline"))) {
    return compare_with_file(line);
  }
  const Request request = parse_request(line);
  const ActiveRules rules = requested_rules(line);
  if (line.inputs().size() < 2) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: give a baseline and at least one candidate: trace-query {}",
                                               line.command().name, line.command().usage));
  }
  Output output(line);
  InputLoop loop(line.inputs());
  const auto [traces, inputs] = open_inputs(line, loop, output);
  if (inputs.size() < 2) return loop.exit_code();
  const ComparedTraces loaded = load(traces, inputs, line, rules);
  std::vector<Comparison> comparisons;
  std::vector<std::string> notes;
  bool gate_failed = false;
  for (std::size_t i = 1; i < loaded.traces.size(); ++i) {
    comparisons.push_back(compare_traces(loaded.traces[0], loaded.traces[i], loaded.kernel_names, request.options));
    for (const CompareWarning& warning : comparisons.back().warnings) {
      notes.push_back(fmt::format("{}: {}", warning.code, warning.text));
      // Sections without a row do not say why.
      if (comparisons.back().groups.empty() && warning.severity == "warning") output.note(warning.text);
    }
    if (request.gate && comparisons.back().groups.empty()) {
      output.note(fmt::format("gate: {}: nothing was compared", inputs[i]));
    }
    for (const GroupComparison& group : comparisons.back().groups) {
      if (!request.gate) continue;
      const auto note = [&](const std::string& text) { output.note(text); };
      gate_failed = group_beyond_gate(*request.gate, group, note) || gate_failed;
    }
  }
  note_uncertain_fusions(request, comparisons, output);
  Printer printer(line, output);
  print_sections(request, loaded, comparisons, inputs, printer);
  printer.finish(notes);
  return gate_failed ? 1 : loop.exit_code();
}

}  // namespace tracedb
