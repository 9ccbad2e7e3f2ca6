#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "compare/comparison.h"
#include "compare/runs/run_sets.h"
#include "present/baseline_file.h"
#include "present/page_text.h"
#include "report_page/report_page.h"
#include "shared/option_parsing.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/open.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// ---- what is asked

struct SetsRequest {
  SetOptions options;
  std::optional<Gate> gate;
  std::vector<const SetSection*> sections;
  bool page = false;  // for people; else sections
  std::optional<std::string> pair_by;
  bool paired = false;
  CompareOptions phases;  // --phase
};

void read_gate(const CommandLine& line, SetsRequest& out) {
  const auto percent = line.percent("gate", std::numeric_limits<double>::min(), 1e9, ", more than 0 for sets of runs");
  if (!percent) return line.refuse({"gate-metric", "gate-inconclusive", "gate-strict"}, "--{} needs --gate");
  out.gate = requested_gate(line, *percent);
  out.options.budget_pct = out.gate->percent;
  out.options.gate_strict = line.has("gate-strict");
  out.options.gate_metric =
      line.choice<GateMetric>("gate-metric",
                              {{"worse", out.options.gate_metric},
                               {"period", GateMetric::kPeriod},
                               {"period-at-equal-speed", GateMetric::kPeriodAtEqualSpeed}},
                              "sets of runs are judged by period, period-at-equal-speed, or the worse of them (worse)");
}

std::vector<const SetSection*> requested(const CommandLine& line, bool gated) {
  const auto all = set_sections();
  std::vector<std::string> names = line.names("section");
  if (names.empty() && line.has("runs")) names.emplace_back("runs");
  const bool everything = names.empty() || std::ranges::find(names, "all") != names.end();
  std::vector<std::string> known = {"all"};
  for (const SetSection& section : all) known.emplace_back(section.name);
  for (const std::string& name : names) require_known("section", name, known);
  std::vector<const SetSection*> out;
  for (const SetSection& section : all) {
    if (section.name == "sentences" && line.renderer().name != "json") continue;  // people have the page
    const bool named = std::ranges::find(names, section.name) != names.end();
    if (named && section.name == "gate" && !gated) throw usage_error("--section gate needs --gate");
    if (section.name == "gate" ? gated : everything || named) out.push_back(&section);
  }
  return out;
}

SetsRequest read_sets_request(const CommandLine& line) {
  line.refuse({"by", "normalise", "step", "min-confidence", "method"}, "compare: --{} does not go with sets of runs");
  SetsRequest out;
  read_gate(line, out);
  out.sections = requested(line, out.gate.has_value());
  const bool human = line.for_people();
  out.page = human && !line.has("section") && !line.has("runs") && !line.has("sort") && !line.has("columns");
  const auto tables =
      std::ranges::count_if(out.sections, [](const SetSection* section) { return section->name != "gate"; });
  if ((line.has("sort") || line.has("columns")) && tables > 1) {
    throw usage_error("--sort and --columns are about one table: name it with --section");
  }
  out.pair_by = line.text("pair-by");
  if (out.pair_by) require_known("pair-by", *out.pair_by, {"date", "night", "name"});
  out.paired = out.pair_by || line.has("paired");
  out.phases.phase = line.text("phase");
  refuse_unknown_phases(line);
  return out;
}

// Of one run a side.
void use_history(const SetsRequest& request, std::vector<NamedRun> history, const RunsOfSides& runs,
                 const RunSetOptions& options, SetsAnswer& out) {
  if (runs[0].size() != 1 || runs[1].size() != 1) {
    throw usage_error("compare: --history goes with one run a side: sets have a variance of their own");
  }
  RunsOfSides earlier;
  earlier[1] = runs[1];
  for (NamedRun& one : history) earlier[0].push_back(std::move(one.run));
  for (const RunPhase& phase : phases_of(earlier, options)) {
    const auto own =
        std::ranges::find_if(out.phases, [&](const PhaseAnswer& answer) { return answer.phase.label == phase.label; });
    if (own == out.phases.end()) continue;
    const SetComparison judged = compare_sets(phase.sums, request.options);
    judge_by_history(judged, request.options, own->comparison);
    out.warnings.push_back(
        own->comparison.period.range
            ? fmt::format("{}: one run a side: the variance is that of {} runs of the history", phase.label,
                          judged.period.baseline_runs)
            : fmt::format("{}: the history has {}, and 3 are needed to know its variance", phase.label,
                          counted(judged.period.baseline_runs, "run with such steps", "runs with such steps")));
  }
}

// Those that cannot be judged, unless they are asked for: the other steps of the kind are.
void leave_out_transitions(const SetsRequest& request, SetsAnswer& out) {
  std::erase_if(out.phases, [&](const PhaseAnswer& one) {
    const std::string& label = one.phase.label;
    const SetMetric& period = one.comparison.period;
    if (own_kind(label) == label || period.range || request.phases.phase == label) return false;
    out.warnings.push_back(fmt::format("{}: not judged: {}", label, period.reason));
    return true;
  });
}

SetsAnswer answer_of(const CommandLine& line, const SetsRequest& request, FoundSides sides,
                     std::vector<NamedRun> history, std::vector<std::string> warnings) {
  SetsAnswer out;
  out.warnings = std::move(warnings);
  out.options = request.options;
  out.gate = request.gate;
  if (request.paired) pair_runs(request.pair_by.value_or("date"), sides, out.warnings);
  RunsOfSides runs;
  for (std::size_t side = 0; side < 2; ++side) {
    for (NamedRun& one : sides[side]) {
      if (!one.source.left_out) runs[side].push_back(std::move(one.run));
      out.runs[side].push_back(std::move(one.source));
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if (runs[side].empty()) throw usage_error("compare: no run of the {} is left", kSideNames[side]);
  }
  out.paired = request.paired;
  const auto wanted = [&](std::string_view label, std::string_view kind) {
    return wanted_phase(request.phases, label) || wanted_phase(request.phases, kind);
  };
  const RunSetOptions options{request.paired, line.has("allow-different-work"), wanted};
  for (RunPhase& phase : phases_of(runs, options)) {
    SetComparison comparison = compare_sets(phase.sums, request.options);
    if (phase.runs < phase.of) {
      out.warnings.push_back(fmt::format("{}: {} of {} runs have such steps", phase.label, phase.runs, phase.of));
    }
    if (!phase.sums.no_speed.empty()) {
      out.warnings.push_back(fmt::format("{}: {}: its speed is part of the change", phase.label, phase.sums.no_speed));
    }
    out.phases.push_back({std::move(phase), std::move(comparison)});
  }
  if (out.phases.empty() && request.phases.phase) {
    std::string known;
    for (const RunPhase& phase : phases_of(runs, {})) known += (known.empty() ? "" : ", ") + phase.label;
    throw usage_error("compare: --phase {}: there are {}", *request.phases.phase, known);
  }
  if (line.has("history")) use_history(request, std::move(history), runs, options, out);
  leave_out_transitions(request, out);
  return out;
}

// ---- printing

void print(const CommandLine& line, const SetsRequest& request, const SetsAnswer& answer,
           const std::vector<std::string>& inputs, Output& output) {
  if (line.page()) return output.print_page(sets_report_page(answer, request.sections));
  const bool human = line.for_people();
  if (request.page) {
    const Page page = sets_page(answer, output.page_width());
    output.stream() << (line.renderer().name == "markdown" ? page_markdown(page)
                                                           : page_text(page, output.page_width()));
    return;
  }
  for (const std::string& warning : answer.warnings) output.note(warning);
  if (human && answer.gate) output.separate(gate_text(answer));
  for (const SetSection* section : request.sections) {
    if (human && section->name == "gate") continue;  // said
    const ReportHead head{"compare_sets", inputs, std::string(section->name), kSetsVersion, true};
    output.section(section->table_of(answer), head);
  }
  output.end_sections(answer.warnings);
}

void save_baseline(std::vector<NamedRun> runs, const std::string& path) {
  std::erase_if(runs, [](const NamedRun& one) { return one.source.left_out; });
  if (runs.empty()) throw usage_error("compare: no run of the baseline is left");
  OutputFile file(path);
  file.stream() << to_json(runs);
  file.finish();
}

int compare_given_sets(const CommandLine& line, const SetInputs& inputs, std::vector<std::string> warnings) {
  const SetsRequest request = read_sets_request(line);
  Output output(line);
  FoundSides sides;
  int exit_code = 0;
  read_runs(line, inputs, output, sides, warnings, exit_code);
  if (sides[0].empty() || (sides[1].empty() && !inputs[1].empty())) return exit_code;
  leave_out_runs(line, sides, warnings);
  if (!line.has("mixed")) refuse_mixed(sides);
  if (const auto path = line.text("save-baseline")) {
    save_baseline(sides[0], *path);
    if (sides[1].empty()) return exit_code;
  }
  std::vector<NamedRun> history;
  if (line.has("history")) history = read_history(line, output, sides, warnings, exit_code);
  const SetsAnswer answer = answer_of(line, request, std::move(sides), std::move(history), std::move(warnings));
  std::vector<std::string> all = inputs[0];
  all.insert(all.end(), inputs[1].begin(), inputs[1].end());
  print(line, request, answer, all, output);
  output.finish();
  return answer.gate && answer.gate_failed() ? 1 : exit_code;
}

// ---- from the command line

// "@FILE": one a line.
std::vector<std::string> listed(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::error_code error;
    if (!word.starts_with('@') || fs::exists(word, error)) {
      out.push_back(word);
      continue;
    }
    for (const fs::path& path : read_path_list(word.substr(1))) out.push_back(path.string());
  }
  return out;
}

SetInputs given_sets(const CommandLine& line) {
  // A file stands for the baseline, and to save one takes no candidate.
  const bool has_side[] = {
      line.has("baseline") || line.has("baseline-file"),
      line.has("candidate") || line.has("save-baseline") || (line.has("baseline-file") && !line.positional().empty())};
  for (std::size_t i = 0; i < 2; ++i) {
    const char* side = kSideNames[i];
    if (line.has(side) && line.words(side).empty()) {
      throw usage_error("compare: --{}: give its traces, or their folder", side);
    }
    if (has_side[i]) continue;
    throw usage_error("compare: sets of runs need --baseline X... and --candidate Y...; --{} is not given", side);
  }
  if (line.has("baseline") && line.has("baseline-file")) {
    throw usage_error("compare: --baseline-file is the baseline: there is no other");
  }
  const bool given_alone = line.has("baseline-file") && !line.has("candidate");
  if (given_alone) return {{{}, line.positional()}};
  if (!line.positional().empty()) {
    throw usage_error("compare: {}: with --baseline and --candidate there are no other traces",
                      printable_path(line.positional().front()));
  }
  return {{listed(line.words("baseline")), listed(line.words("candidate"))}};
}

bool names_folders(const CommandLine& line) {
  const std::vector<std::string>& given = line.positional();
  if (given.size() != 2 || line.has("files-from")) return false;
  return traces_of_folder(given[0]) > 1 || traces_of_folder(given[1]) > 1;
}

// Whether an option, or one of its words, is about sets alone: then one run a side is a set, too.
bool asks_for_sets(const CommandLine& line) {
  constexpr const char* kOptions[] = {"paired", "pair-by", "leave-out", "runs", "mixed", "gate-strict"};
  const std::vector<std::string> sections = line.names("section");
  const auto is_own = [](const std::string& name) { return name == "sets" || name == "runs"; };
  const bool has_own = std::ranges::any_of(kOptions, [&](const char* option) { return line.has(option); });
  return has_own || line.text("gate-metric") == "period-at-equal-speed" || std::ranges::any_of(sections, is_own);
}

// The options alone, without the words that name traces.
std::vector<std::string> options_of(const CommandLine& line, std::span<const std::string> args) {
  std::vector<std::string> out;
  std::multiset<std::string> traces(line.positional().begin(), line.positional().end());
  bool of_set = false;
  for (const std::string& word : args) {
    const bool is_option = word.size() > 1 && word.front() == '-';
    if (is_option)
      of_set = word.starts_with("--baseline=") || word.starts_with("--candidate=") || word == "--baseline" ||
               word == "--candidate";
    if (of_set) continue;
    if (const auto trace = traces.find(word); !is_option && trace != traces.end()) {
      traces.erase(trace);
    } else {
      out.push_back(word);
    }
  }
  return out;
}

}  // namespace

void add_set_options(CommandLine& line) {
  line.add("baseline", OptionKind::kWords,
           "sets of runs: those of the baseline, up to the next option: traces, indexes, folders, GLOBs in quotes, or "
           "@FILE with one a line; traces that are ranks of one job are one run");
  line.add("candidate", OptionKind::kWords, "sets of runs: those of the candidate");
  line.add("paired", OptionKind::kFlag,
           "sets of runs: compare pairs, the n-th of either side by date, made under equal conditions");
  line.add("pair-by", "pairs by date, by night (the same day), or by name (equal names)");
  line.add("leave-out", OptionKind::kList, "sets of runs: leave out the runs of this name or GLOB, which is told");
  line.add("runs", OptionKind::kFlag, "sets of runs: a table of the runs (--section runs)");
  line.add("mixed", OptionKind::kFlag,
           "sets of runs: also where the runs of one side differ in GPU, framework, world size or, with "
           "--allow-different-work, model");
  line.add("history", "one run a side: judge the change by how much the runs of this folder vary");
  line.add("gate-strict", OptionKind::kFlag, "sets of runs: --gate fails only where the whole interval is beyond it");
}

bool names_sets(const CommandLine& line) {
  const auto file = line.text("baseline-file");
  return line.has("baseline") || line.has("candidate") || line.has("history") || (file && is_baseline_set(*file)) ||
         names_folders(line);
}

std::vector<ReportShape> shapes_of_sets() {
  std::vector<ReportShape> out;
  for (const SetSection& section : set_sections()) {
    out.push_back({"compare", "compare_sets", std::string(section.name), true, declared_columns(section.columns),
                   section.summary, true});
  }
  return out;
}

void refuse_separator(const CommandLine& line, std::span<const std::string> args) {
  const auto separator = std::ranges::find(args, "--");
  if (separator == args.end()) return;
  const auto behind = static_cast<std::size_t>(args.end() - separator) - 1;
  const std::vector<std::string>& all = line.positional();
  if (behind == 0 || behind >= all.size()) return;
  std::vector<std::string> words;
  for (const std::string& word : all) words.push_back(shell_word(word));
  const auto middle = words.end() - static_cast<std::ptrdiff_t>(behind);
  throw usage_error("compare: -- does not divide sets of runs: trace-query compare --baseline {} --candidate {}",
                    fmt::join(words.begin(), middle, " "), fmt::join(middle, words.end(), " "));
}

int run_sets(const Command& command, const CommandLine& line, std::span<const std::string> args) {
  const bool by_options = line.has("baseline") || line.has("candidate") || line.has("baseline-file");
  if (!by_options && line.positional().size() != 2) {
    throw usage_error("compare: --history goes with a baseline and a candidate");
  }
  const SetInputs given = by_options ? given_sets(line) : SetInputs{{{line.positional()[0]}, {line.positional()[1]}}};
  std::vector<std::string> notes;
  const SetInputs inputs = {find_inputs(given[0], std::nullopt, &notes), find_inputs(given[1], std::nullopt, &notes)};
  if (line.has("history") || line.has("baseline-file") || line.has("save-baseline")) {
    return compare_given_sets(line, inputs, std::move(notes));
  }
  std::vector<std::string> words = options_of(line, args);
  if (inputs[0].size() == 1 && inputs[1].size() == 1 && !asks_for_sets(line)) {
    for (const std::string& one : notes) note(line, one);
    words.insert(words.end(), {inputs[0].front(), inputs[1].front()});
    return command.run(command, words);
  }
  const bool one_word = given[0].size() == 1 && given[1].size() == 1;
  if (!one_word || !is_job_each(line, inputs)) {
    return compare_given_sets(line, inputs, std::move(notes));
  }
  for (const std::string& one : notes) note(line, one);
  line.refuse({"normalise", "by", "save-baseline", "baseline-file", "min-confidence", "allow-different-work", "step"},
              "compare: --{} does not go with two folders of jobs, which are compared rank by rank");
  words.insert(words.end(), {"--baseline", given[0].front(), given[1].front()});
  const Command& ranks = *known_command("ranks");
  return ranks.run(ranks, words);
}

}  // namespace tracedb
