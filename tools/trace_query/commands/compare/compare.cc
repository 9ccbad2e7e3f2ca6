#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "present/baseline_file.h"
#include "present/cells.h"
#include "present/words.h"
#include "report_page/report_page.h"
#include "trace_query/command.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/open.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

// Labels that tell the inputs apart: file names, or as much of the paths as differs.
std::vector<std::string> labels_of(std::span<const std::string> inputs, const CommandLine& line) {
  if (const auto step = requested_step(line)) return {"the usual step", fmt::format("step {}", *step)};
  std::vector<std::string> labels;
  for (const std::string& input : inputs) labels.push_back(std::filesystem::path(input).filename().string());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::ranges::count(labels, labels[i]) > 1) return {inputs.begin(), inputs.end()};
  }
  return labels;
}

ComparedTraces load(const std::vector<OpenedTrace>& opened, std::span<const std::string> inputs,
                    const CommandLine& line, const ActiveRules& rules) {
  const std::vector<std::string> labels = labels_of(inputs, line);
  std::vector<TraceSource> sources;
  for (std::size_t i = 0; i < opened.size(); ++i) sources.push_back({opened[i].index, labels[i]});
  return load_traces(sources, {line.text("step-regex")}, rules.get());
}

// Names the row that sums those a limit cuts off.
void label_others(Report& report) {
  const auto text =
      std::ranges::find_if(report.columns, [](const Column& column) { return column.unit == Unit::kText; });
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
    if (std::ranges::find(phases, phase_of(row)) == phases.end()) phases.push_back(phase_of(row));
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

// A section as the format wants it: a part of one document, or tables of their own.
void print_tables(Report report, const ReportHead& head, const CommandLine& line, Output& output) {
  if (!line.for_people()) return output.section(std::move(report), head);
  print_by_phase(std::move(report), head, line.has("sort") || line.has("columns"), output);
}

// Candidates against the baseline, and what --gate says of each.
struct Results {
  const std::vector<OpenedTrace>& opened;
  const ComparedTraces& loaded;
  std::vector<Comparison> comparisons;
  std::vector<GateResult> gates;  // as many, or none
  std::vector<std::string> inputs;
  std::vector<std::vector<MemoryChange>> memory = {};    // of each candidate
  std::vector<std::vector<ShapeChange>> shapes = {};     // of each candidate
  std::vector<std::vector<TraceFinding>> findings = {};  // of each input, where they are told

  [[nodiscard]] SectionInput input(std::size_t i, LedgerBy by, bool human_readable) const {
    return {comparisons[i],
            loaded.traces[0],
            loaded.traces[i + 1],
            opened[0].index,
            opened[i + 1].index,
            loaded.kernel_names,
            loaded.configs,
            by,
            human_readable,
            gates.empty() ? nullptr : &gates[i],
            memory.empty() ? nullptr : &memory[i],
            shapes.empty() ? nullptr : &shapes[i],
            findings.empty() ? nullptr : &findings[0],
            findings.empty() ? nullptr : &findings[i + 1]};
  }
};

Report stacked(std::vector<Report> reports) {
  for (std::size_t i = 1; i < reports.size(); ++i) {
    std::move(reports[i].rows.begin(), reports[i].rows.end(), std::back_inserter(reports[0].rows));
  }
  return std::move(reports[0]);
}

void print_section(const Section& section, std::vector<Report> reports, const Results& results, const CommandLine& line,
                   Output& output) {
  const std::string name(section.name);
  const ReportHead head{"compare", results.inputs, name, kCompareVersion, section.member};
  const auto print = [&](Report report, const ReportHead& own) { print_tables(std::move(report), own, line, output); };
  if (reports.size() == 1) return print(std::move(reports[0]), head);
  if (section.candidates == Section::Candidates::kStacked) return print(stacked(std::move(reports)), head);
  if (section.candidates == Section::Candidates::kJoined) return print(join_candidates(reports), head);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    ReportHead own = head;
    own.section = fmt::format("{} {} ({})", name, i + 1, results.loaded.traces[i + 1].description.label);
    print(std::move(reports[i]), own);
  }
}

void print_sections(const CompareRequest& request, const Results& results, const CommandLine& line, Output& output) {
  const bool human = line.for_people();
  for (const Section* section : request.sections) {
    if (section->name == "gate" && human) continue;  // said in a line
    std::vector<Report> reports;
    for (std::size_t i = 0; i < results.comparisons.size(); ++i) {
      reports.push_back(section->table_of(results.input(i, request.ledger_by, human)));
      if (human && results.comparisons.size() == 1) drop_column(reports.back(), "trace");
      if (human && CycleWords::active()) name_cycles(reports.back());
    }
    print_section(*section, std::move(reports), results, line, output);
  }
}

void print_pages(const Results& results, const CommandLine& line, Output& output) {
  const bool markdown = line.renderer().name == "markdown";
  for (std::size_t i = 0; i < results.comparisons.size(); ++i) {
    const SectionInput in = results.input(i, LedgerBy::kOp, true);
    const auto reasons = find_reasons(in.comparison, in.sources());
    const Page page = compare_page({in, reasons, results.inputs[0], results.inputs[i + 1]}, output.page_width());
    output.separate("");
    output.stream() << (markdown ? page_markdown(page) : page_text(page, output.page_width()));
  }
}

// The page of HTML: all sections, or those that were named.
void print_html(const CompareRequest& request, const Results& results, Output& output) {
  if (results.comparisons.size() != 1) throw usage_error("compare: a page (HTML) has one candidate");
  const SectionInput in = results.input(0, request.ledger_by, true);
  output.print_page(comparison_page({in, results.inputs[0], results.inputs[1], request.sections}));
}

// Findings that a table leaves out are not left out in silence.
void note_uncertain_fusions(const CompareRequest& request, const std::vector<Comparison>& comparisons,
                            const Output& output) {
  const bool shown =
      std::ranges::any_of(request.sections, [](const Section* section) { return section->name == "fusion"; });
  for (const Comparison& comparison : comparisons) {
    for (const GroupComparison& group : comparison.groups) {
      if (!shown || group.uncertain_fusions == 0) continue;
      output.note(fmt::format("fusion: {}: findings of less than {:g} % confidence: {} (--min-confidence 0 shows them)",
                              group.group.label, 100 * request.options.least_confidence, group.uncertain_fusions));
    }
  }
}

bool any_failed(const std::vector<GateResult>& gates) {
  return std::ranges::any_of(gates, [](const GateResult& gate) { return gate.failed(); });
}

// Of one candidate; `comparison`: of two traces or of a trace and a file.
template <class Compared>
GateResult judge(const Gate& gate, const Compared& comparison, const std::string& input, const Output& output) {
  GateResult out = judge_by_gate(gate, comparison, [&](const std::string& text) { output.note(text); });
  if (!out.compared()) {
    output.note(fmt::format("gate: {}: {}{}", input,
                            out.findings.empty() ? "nothing was compared" : "nothing can be judged",
                            out.failed() ? ": it fails, unless --gate-inconclusive pass is given" : ""));
  }
  return out;
}

// For people, in a line before the tables.
void print_gates(const std::vector<GateResult>& gates, const CommandLine& line, Output& output) {
  for (const GateResult& gate : gates) {
    if (line.for_people()) output.separate(to_string(gate));
  }
}

Report samples_report(const SampleComparison& comparison, bool human_readable) {
  Report out{declared_columns("compare_steps"), {}};
  for (const SampleChange& item : comparison.changes) {
    add_measure(item.kind, item.measure, item.change, human_readable, out);
  }
  return out;
}

StepSamples of_phase(StepSamples samples, const CompareOptions& options) {
  std::erase_if(samples.kinds, [&](const KindSamples& kind) { return !wanted_phase(options, kind.kind); });
  return samples;
}

// A baseline file has figures of steps alone: options that need the other trace's kernels are refused.
void check_file_options(const CommandLine& line) {
  line.refuse({"section", "by", "normalise"},
              "compare: --{} needs both traces: a baseline file has only figures of steps");
  if (line.page()) throw usage_error("compare: a page (HTML) needs both traces, not figures of a file");
  if (!line.has("baseline-file")) {
    line.refuse({"gate", "phase"}, "compare: --{} has no effect with --save-baseline alone");
  }
}

// One trace against the figures of --baseline-file, or into those of --save-baseline.
int compare_with_file(const CommandLine& line) {
  check_file_options(line);
  const CompareRequest request = parse_compare_request(line);
  const ActiveRules rules = requested_rules(line);
  if (line.inputs().size() != 1) throw usage_error("compare: --baseline-file and --save-baseline go with one trace");
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
  const SampleComparison comparison = compare_samples(of_phase(baseline, request.options),
                                                      of_phase(own, request.options), request.options.least_change);
  Output output(line);
  for (const std::string& note : traces[0].notes) output.note(note);
  std::vector<GateResult> gates;
  if (request.gate) gates.push_back(judge(*request.gate, comparison, line.inputs()[0], output));
  print_gates(gates, line, output);
  ReportHead head{"compare", {path, line.inputs()[0]}, "gate", kCompareVersion, true};
  if (!gates.empty() && !line.for_people()) output.section(gate_report(gates[0], own.trace), head);
  head.section = "steps";
  head.member = false;
  print_tables(samples_report(comparison, line.for_people()), head, line, output);
  for (const std::string& note : comparison.notes) output.note(note);
  output.end_sections(comparison.notes);
  output.finish();
  return any_failed(gates) ? 1 : 0;
}

// Fills in what each candidate is to the baseline; returns warnings for the end of a document.
std::vector<std::string> compare_all(const CompareRequest& request, Results& results, const Output& output) {
  std::vector<std::string> notes;
  const ComparedTraces& loaded = results.loaded;
  for (std::size_t i = 1; i < loaded.traces.size(); ++i) {
    const Comparison& own = results.comparisons.emplace_back(
        compare_traces(loaded.traces[0], loaded.traces[i], loaded.kernel_names, request.options));
    for (const CompareWarning& warning : own.warnings) {
      notes.push_back(fmt::format("{}: {}", warning.code, warning.text));
      // Sections without a row do not say why.
      if (own.groups.empty() && warning.severity == "warning" && !own.step) output.note(warning.text);
    }
    if (!request.gate) continue;
    for (const GroupComparison& group : own.groups) {
      if (group.other_work.text.empty()) continue;
      throw usage_error("compare: --gate: {} does other work than {}: {}: {} (--allow-different-work judges it)",
                        printable_path(results.inputs[i]), printable_path(results.inputs[0]), group.group.label,
                        group.other_work.text);
    }
    results.gates.push_back(judge(*request.gate, own, results.inputs[i], output));
  }
  return notes;
}

// Of a step that cannot be compared with the others.
std::string why_no_step(const Results& results, std::uint32_t step) {
  const ComparedTrace& trace = results.loaded.traces.front();
  const std::size_t steps = trace.steps.steps.size();
  for (const CompareWarning& warning : results.comparisons.front().warnings) {
    if (warning.code == "steps") return warning.text;  // of --phase
  }
  if (steps == 0) return "the trace has no steps";
  if (step >= steps) return fmt::format("no such step: the trace has {}, counted from 0", counted(steps, "step"));
  const bool works = std::ranges::any_of(trace.work.steps, [&](const DeviceStep& one) { return one.step == step + 1; });
  return works ? "no other step of its kind and batch runs anything on a device" : "it runs nothing on a device";
}

// Candidates that are the baseline once more, under this or another name.
void note_same_trace(std::span<const OpenedTrace> traces, std::span<const std::string> inputs, const Output& output) {
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const auto hash = traces[i].index.meta("source_hash");
    if (!hash || hash != traces[0].index.meta("source_hash")) continue;
    output.note(inputs[i] == inputs[0] ? fmt::format("baseline and candidate are one file: {}", inputs[i])
                                       : fmt::format("{} and {} have one content: the trace is compared with itself",
                                                     inputs[0], inputs[i]));
  }
}

struct OpenedInputs {
  std::vector<OpenedTrace> traces;
  std::vector<std::string> inputs;  // what they were opened from
};

// Those that can be read; without the baseline nothing is compared.
OpenedInputs open_inputs(const CommandLine& line, InputLoop& loop, const Output& output) {
  OpenedInputs out;
  std::vector<std::string> inputs = line.inputs();
  if (requested_step(line)) inputs.push_back(inputs.front());  // the trace is both sides
  for (const std::string& input : inputs) {
    const auto open = [&] { out.traces.push_back(open_trace(input, line)); };
    if (out.traces.empty()) {
      open();
    } else if (!loop.attempt(input, open)) {
      continue;
    }
    out.inputs.push_back(input);
    if (out.inputs.size() == 2 && requested_step(line)) continue;  // said already
    for (const std::string& note : out.traces.back().notes) output.note(fmt::format("{}: {}", input, note));
  }
  return out;
}

// Memory, findings (of all steps: not where --phase chooses some) and operators by shape. They take time to read: only
// for those who are told of them.
void read_host_parts(const CompareRequest& request, const CommandLine& line, const ActiveRules& rules,
                     Results& results) {
  const std::vector<OpenedTrace>& traces = results.opened;
  const auto asks = [&](std::string_view section) {
    return std::ranges::any_of(request.sections, [&](const Section* own) { return own->name == section; });
  };
  const bool in_words = request.page || line.page() || asks("sentences");
  const auto device = [&](std::size_t i) { return results.loaded.traces[i].description.devices; };
  const bool others = std::ranges::any_of(
      results.loaded.traces, [&](const ComparedTrace& trace) { return trace.description.devices != device(0); });
  const bool tells_shapes = asks("roofline") || (in_words && others);
  std::vector<std::vector<MemoryPeak>> peaks;
  std::vector<ShapeSides> shapes;
  for (std::size_t i = 0; i < traces.size() && (tells_shapes || in_words || asks("memory")); ++i) {
    Database& database = traces[i].index.database();
    Workload workload(traces[i].index, rules,
                      {.steps = {line.text("step-regex")}, .events = &results.loaded.traces[i].events});
    for (const auto* table :
         {"memory_events", "step_breakdown", "steps_as_one", "kernel_launches", "kernel_classes", "operator_work"})
      add_pass_table(workload, table);
    peaks.push_back(memory_peaks(database));
    if (in_words && !request.options.phase) results.findings.push_back(findings_of(database, true));
    if (tells_shapes) shapes.push_back(shape_sides(database));
    if (i == 0) continue;
    results.memory.push_back(memory_changes(peaks[0], peaks[i]));
    const bool tells = asks("roofline") || (tells_shapes && device(0) != device(i));
    results.shapes.push_back(tells ? shape_changes(shapes[0], shapes[i]) : std::vector<ShapeChange>());
  }
}

// Opens and loads the traces, prints the requested sections. The exit code: 1 beyond --gate.
int run_comparison(const CommandLine& line) {
  if (line.has("baseline-file") || line.has("save-baseline")) return compare_with_file(line);
  const CompareRequest request = parse_compare_request(line);
  const ActiveRules rules = requested_rules(line);
  const std::size_t first = line.positional().size() < 2 ? 0 : traces_of_folder(line.positional().front());
  if (first > 1) {
    throw usage_error(
        "{}: {} is a folder of {} traces, and one trace is the baseline (sets of runs, or two jobs: trace-query "
        "compare FOLDER OTHER_FOLDER)",
        line.command().name, printable_path(line.positional().front()), first);
  }
  if (line.inputs().size() < 2 && !requested_step(line)) {
    throw usage_error("{}: give a baseline and at least one candidate: trace-query {}", line.command().name,
                      line.command().usage);
  }
  Output output(line);
  InputLoop loop(line.inputs());
  const auto [traces, inputs] = open_inputs(line, loop, output);
  if (inputs.size() < 2) return loop.exit_code();
  if (!request.options.step) note_same_trace(traces, inputs, output);
  const ComparedTraces loaded = load(traces, inputs, line, rules);
  Results results{traces, loaded, {}, {}, inputs};
  std::vector<std::string> notes = compare_all(request, results, output);
  read_host_parts(request, line, rules, results);
  if (const auto step = request.options.step; step && results.comparisons.front().groups.empty()) {
    throw usage_error("--step {}: {}", *step, why_no_step(results, *step));
  }
  const CycleWords cycles(
      std::ranges::all_of(loaded.traces, [](const ComparedTrace& trace) { return trace.description.cycles; }));
  note_uncertain_fusions(request, results.comparisons, output);
  if (line.page()) {
    print_html(request, results, output);
  } else if (request.page) {
    print_pages(results, line, output);
  } else {
    print_gates(results.gates, line, output);
    print_sections(request, results, line, output);
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const std::string& lost : traces[i].index.database().take_notes()) {
      notes.push_back(fmt::format("{}: {}", inputs[i], lost));
      output.note(notes.back());
    }
  }
  if (CycleWords::active()) notes.emplace_back(kCyclesNote);
  output.end_sections(notes);
  output.finish();
  return any_failed(results.gates) ? 1 : loop.exit_code();
}

void add_choices(CommandLine& line) {
  line.add("normalise", "figures per step (default), token or none; not of sets of runs");
  line.add("phase",
           "only steps of these kinds, names or GLOBs: prefill, decode, mixed, train, other, unknown, unit; several: "
           "decode,mixed");
  line.add("min-confidence", "only fusions found with at least this confidence, in percent (default 30)");
}

int run_section(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput,
                             OptionGroup::kInput});
  add_choices(line);
  return line.parse(args) ? run_comparison(line) : 0;
}

int run_compare(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kPage, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                             OptionGroup::kOutput, OptionGroup::kInput});
  std::string sections = "instead of one page, these sections, separated by commas, or all:";
  for (const Section& section : compare_sections()) sections += fmt::format("\n{}: {}", section.name, section.summary);
  sections += "\nof sets of runs: sets, verdict, reasons, ledger, runs, gate";
  line.add("section", OptionKind::kList, sections.c_str());
  add_choices(line);
  line.add(
      "by",
      "rows of the ledger: op (default), role, layer, layer,op, layer,role or kernel; with role also section roles;\n"
      "class: operations and ledger by the plain classes, also where the two traces name one operation differently; "
      "not of sets of runs");
  line.add("step", "of one trace: why this step takes longer or less long than the others of its kind and batch");
  add_gate_options(line);
  line.add("allow-different-work", OptionKind::kFlag,
           "compare models, or shapes, that are known to differ as if they did the same work");
  line.add("save-baseline", OptionKind::kOutputFile,
           "write the figures of one trace's steps, or of the runs of --baseline, to this file (JSON)");
  line.add("baseline-file", "compare one trace, or the runs of --candidate, with the figures of such a file");
  line.add("method", "sequence (default), or wafer: reproduces wafer 0.1.28, for cross-checking");
  add_set_options(line);
  if (!line.parse(args)) return 0;
  refuse_separator(line, args);
  if (names_sets(line)) return run_sets(command, line, args);
  if (line.choice<bool>("method", {{"sequence", false}, {"wafer", true}}, "there are sequence and wafer")) {
    line.refuse({"normalise", "by", "gate", "gate-metric", "gate-inconclusive", "save-baseline", "baseline-file",
                 "min-confidence", "allow-different-work", "step"},
                "compare: --{} does not go with --method wafer");
    if (line.page()) throw usage_error("compare: a page (HTML) does not go with --method wafer");
    return run_wafer_comparison(line);
  }
  line.refuse({"paired", "pair-by", "leave-out", "runs", "mixed", "gate-strict"},
              "compare: --{} is about sets of runs");
  return run_comparison(line);
}

std::vector<ReportShape> shapes_of_sections(std::string_view command) {
  std::vector<ReportShape> shapes;
  for (const Section& section : compare_sections()) {
    const std::string_view only = section.name == "alignment" ? "align" : section.name;
    if (command == "compare" || command == only) {
      shapes.push_back({command, "compare", std::string(section.name), true, declared_columns(section.columns),
                        section.summary, section.member});
    }
  }
  if (command != "compare") return shapes;
  for (ReportShape& shape : shapes_of_sets()) shapes.push_back(std::move(shape));
  return shapes;
}

}  // namespace

std::vector<Command> compare_commands() {
  return {{"compare",
           "compare two traces: operations, layers, kernels, fusions, a ledger of the change, a verdict",
           "compare [options] BASELINE CANDIDATE [CANDIDATE...]",
           "  trace-query compare mi300x.json.gz h100.json.gz\n"
           "  trace-query compare last-week.json.gz tonight.json.gz --section summary --gate 5\n"
           "  trace-query compare tonight.json.gz --baseline-file baseline.json --gate 5\n"
           "  trace-query compare mi300x.json.gz h100.json.gz -o why.html\n"
           "  trace-query compare tonight.json.gz --step 7\n"
           "  trace-query compare yesterday/ today/\n"
           "  trace-query compare --baseline base/*.json.gz --candidate new/*.json.gz --gate 2\n"
           "  trace-query compare a.json.gz b.json.gz --method wafer\n"
           "  trace-query compare a.json.gz b.json.gz --section fusion,alignment --phase decode --markdown",
           run_compare,
           {},
           shapes_of_sections},
          {"align",
           "pairs of kernels that do the same work in two traces",
           "align [options] BASELINE CANDIDATE [CANDIDATE...]",
           "  trace-query align mi300x.json.gz h100.json.gz --phase decode --limit 0",
           run_section,
           {},
           shapes_of_sections},
          {"fusion",
           "work that one trace does in one kernel and another in several",
           "fusion [options] BASELINE CANDIDATE [CANDIDATE...]",
           "  trace-query fusion mi300x.json.gz h100.json.gz --json",
           run_section,
           {},
           shapes_of_sections}};
}

}  // namespace tracedb
