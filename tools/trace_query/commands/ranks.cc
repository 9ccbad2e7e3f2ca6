#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/amounts.h"
#include "present/cells.h"
#include "present/page_text.h"
#include "present/ranks_tables.h"
#include "ranks/waits.h"
#include "report/sql_report.h"
#include "report_page/html/safe_text.h"
#include "trace_query/command.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/help.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostRanks = 512, kMostColumns = 400;

// Exposed waiting of the others in a step.
struct StepWaiting {
  std::vector<std::int64_t> caused;  // by the rank that was late
  std::int64_t all = 0;              // whoever was
};

// By step; 0: in none.
std::map<std::uint32_t, StepWaiting> waiting_by_step(const JobAnalysis& job) {
  std::map<std::uint32_t, StepWaiting> out;
  for (const CollectiveWait& wait : job.waits.collectives) {
    StepWaiting& step = out[wait.step];
    step.caused.resize(job.ranks.size());
    step.all += wait.exposed;
    if (wait.arrival == Arrival::kLate) step.caused[wait.last_rank] += wait.exposed;
  }
  return out;
}

// Neighbouring steps are one column where there are too many. The colours are shares of all waiting, so that a rank
// that is late now and then does not look like one that holds the others up.
Picture waiting_picture(const JobAnalysis& job, const std::map<std::uint32_t, StepWaiting>& by_step) {
  const std::size_t together = (by_step.size() + kMostColumns - 1) / kMostColumns;
  const std::size_t ranks = std::min(job.ranks.size(), kMostRanks);
  std::vector<std::string> columns, rows;
  std::vector<std::vector<std::int64_t>> sums(ranks);
  std::size_t n = 0;
  std::int64_t most = 0;
  for (const auto& [step, waiting] : by_step) {
    most = std::max(most, waiting.all);
    if (n++ % together == 0) {
      columns.push_back(step == 0 ? "in no step" : fmt::format("step {}", step - 1));
      for (auto& row : sums) row.push_back(0);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) sums[rank].back() += waiting.caused[rank];
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) rows.push_back(rank_text(job, rank));
  DataWriter data;
  data.member("measure", "waiting caused").member("rows", rows).member("columns", columns).member("ns", sums);
  data.member("most", static_cast<std::int64_t>(together) * most);
  std::string note =
      "How long the other ranks waited, while computing nothing, for this rank to come to a collective; the sum over "
      "those that waited. What is nobody's doing, such as waits that began before the recording, is in no row.";
  if (together > 1) note += fmt::format(" Each column is {} steps, named by the first.", together);
  if (ranks < job.ranks.size()) note += fmt::format(" The first {} ranks.", ranks);
  return {"ranks-waiting", "ranks", "Who holds the others up, by step", std::move(note), data.take()};
}

ReportPage ranks_page(const JobAnalysis& job, const std::vector<std::string>& told, std::vector<PageTable> tables,
                      const std::vector<std::string>& notes) {
  ReportPage page;
  page.kind = "ranks";
  page.command = "ranks";
  page.title = job.name;
  page.sides = {{"a", job.name, fmt::format("{} ranks", job.ranks.size()), ""}};
  for (const std::string& sentence : told) page.text.push_back({BlockKind::kHeadline, "", sentence});
  for (const std::string& note : notes) {
    if (page.text.size() == told.size()) page.text.push_back({BlockKind::kHeading, "", "Warnings"});
    page.text.push_back({BlockKind::kItem, "", note});
  }
  const auto by_step = waiting_by_step(job);
  if (by_step.empty()) {
    page.absent.emplace_back("no waiting by rank: no collective was found on two ranks");
  } else {
    page.pictures.push_back(waiting_picture(job, by_step));
  }
  page.tables = std::move(tables);
  return page;
}

// What a run says.
struct Answer {
  std::vector<JobAnalysis> jobs;
  std::optional<JobAnalysis> baseline;
  JobReservations but;  // where there is a baseline
  std::optional<GateResult> gate;
  std::map<std::string_view, Report> of_traces;  // sections by name
  std::vector<std::string> notes;
};

enum class Shown {
  kAlways,
  kAsData,  // for people the headline says what is in it
  kAsked,   // takes passes of its own
};
struct RanksSection {
  std::string_view name, title;
  Report (*make)(std::span<const JobAnalysis> jobs);  // null: of two jobs, or a report about each trace
  Shown shown;
  std::string_view report = {};  // about each trace
};
constexpr RanksSection kRanksSections[] = {
    {"gate", "Gate", nullptr, Shown::kAsData},
    {"compare", "Against the baseline", nullptr, Shown::kAlways},
    {"jobs", "Jobs", ranks_jobs, Shown::kAsData},
    {"ranks", "Ranks", ranks_ranks, Shown::kAlways},
    {"causes", "Causes of waiting", ranks_causes, Shown::kAlways},
    {"steps", "Steps", ranks_steps, Shown::kAlways},
    {"collectives", "Collectives", ranks_collectives, Shown::kAlways},
    {"breakdown", "Where the time of ranks goes", nullptr, Shown::kAsked, "breakdown_by_device"},
    {"step-breakdown", "Where the time of each step of a rank goes", nullptr, Shown::kAsked, "breakdown"}};

std::vector<Column> columns_of(const RanksSection& section) {
  if (section.make != nullptr) return section.make({}).columns;
  if (section.name == "gate") return declared_columns("compare_gate");
  if (section.report.empty()) return declared_columns("ranks_compare");
  std::vector<Column> out = report_columns(report_script(section.report));
  const std::vector<Column> of_ranks = ranks_ranks({}).columns;
  for (const char* key : {"rank", "job"}) out.insert(out.begin(), of_ranks[*find_column(of_ranks, key)]);
  return out;
}

constexpr std::size_t kMostAlone = 3;  // jobs of one trace with a sentence of their own

struct Traces {
  std::vector<OpenedTrace> opened;
  std::vector<RankFacts> facts;
};

std::vector<const RanksSection*> requested_ranks_sections(const CommandLine& line) {
  std::vector<std::string> known;
  for (const RanksSection& section : kRanksSections) known.emplace_back(section.name);
  const std::vector<std::string> asked = line.names("section");
  for (const std::string& name : asked) require_known("section", name, known);
  std::vector<const RanksSection*> out;
  const bool human = line.for_people();
  for (const RanksSection& section : kRanksSections) {
    if (section.name == "compare" && !line.has("baseline")) continue;
    if (section.name == "gate" && !line.has("gate")) continue;
    const bool is_usual = section.shown == Shown::kAlways || (section.shown == Shown::kAsData && !human);
    if (asked.empty() ? is_usual : std::ranges::find(asked, section.name) != asked.end()) out.push_back(&section);
  }
  return out;
}

// All, or that of --job.
std::vector<Job> requested_jobs(const CommandLine& line, std::vector<Job> all) {
  const auto name = line.text("job");
  if (!name) return all;
  std::vector<std::string> known;
  for (const Job& job : all) known.push_back(job.name);
  require_known("job", *name, known);
  std::erase_if(all, [&](const Job& job) { return job.name != *name; });
  return all;
}

const OpenedTrace& trace_of(const Job& job, std::size_t place, const Traces& traces) {
  return traces.opened[job.members[job.by_device ? 0 : place]];
}

JobAnalysis analysis_of(const Job& job, const Traces& traces, const RequestedWorkload& requested) {
  JobAnalysis out{job, job.missing(traces.facts), {}, {}, {}, {}, {}};
  std::int64_t base = traces.facts[job.members.front()].begin;
  for (const std::size_t member : job.members) base = std::min(base, traces.facts[member].begin);
  for (const std::size_t member : job.members) {
    Workload workload = requested.of(traces.opened[member].index);
    const RankFacts& facts = traces.facts[member];
    if (!job.by_device) out.ranks.push_back(read_rank_trace(workload, facts.rank.value_or(0), base, out.texts));
    for (const CommDevice& device : job.by_device ? facts.devices : std::vector<CommDevice>()) {
      const std::int64_t number = device.ordinal.value_or(static_cast<std::int64_t>(out.ranks.size()));
      out.ranks.push_back(read_rank_trace(workload, number, base, out.texts, device.id));
    }
  }
  analyse(out);
  for (std::size_t place = 0; place < out.ranks.size(); ++place) {
    RankWaits& waits = out.waits.ranks[place];
    if (waits.last == 0 || out.waits.cause_of(static_cast<std::uint32_t>(place)) != LateCause::kHost) continue;
    Workload workload = requested.of(trace_of(job, place, traces).index);
    waits.host = find_host_cause(workload, out.ranks[place], waits);
  }
  return out;
}

// The rows of a report about each trace of a job, with the rank in front; where devices are the ranks, theirs.
void add_rows(Report& out, std::string_view report, const Job& job, const Traces& traces,
              const RequestedWorkload& requested) {
  for (const std::size_t member : job.members) {
    Workload workload = requested.of(traces.opened[member].index);
    add_pass_tables(workload, {});
    Report one = run_report(workload.index().database(), report_script(report), {});
    const std::size_t device = *find_column(one.columns, "device");
    const std::optional<std::int64_t> rank = traces.facts[member].rank;
    std::vector<Cell> devices;  // that are ranks
    for (const CommDevice& known : traces.facts[member].devices) {
      if (known.ordinal) devices.emplace_back(*known.ordinal);
    }
    for (Row& row : one.rows) {
      if (job.by_device && !devices.empty() && std::ranges::find(devices, row[device]) == devices.end()) continue;
      const Cell of = job.by_device ? row[device] : rank ? Cell(*rank) : Cell();
      row.insert(row.begin(), {Cell(job.name), of});
      out.rows.push_back(std::move(row));
    }
  }
}

Report section_of(const RanksSection& section, const Answer& answer) {
  if (section.make != nullptr) return section.make(answer.jobs);
  if (section.name == "gate") return gate_report(*answer.gate, answer.jobs.front().name);
  if (section.report.empty()) return ranks_compare(*answer.baseline, answer.jobs.front());
  return answer.of_traces.at(section.name);
}

// Few traces are of jobs that a host holds up, and record what it did; of most jobs all ranks are there.
void drop_rare_columns(Report& report) {
  constexpr std::string_view kRare[] = {"host", "host_pct", "undivided", "exposed_undivided"};
  drop_columns(
      report, [&](std::string_view key) { return std::ranges::find(kRare, key) != std::end(kRare); },
      [](const Cell& cell) { return !std::holds_alternative<std::string>(cell) && number(cell).value_or(0) == 0; });
}

// One about each job, and about the two of --baseline.
Report headlines(const Answer& answer) {
  Report out{declared_columns("sentences"), {}, {}, true};
  if (answer.baseline) {
    add_sentence(out, answer.jobs.front().name, compare_headline(*answer.baseline, answer.jobs.front(), answer.but));
  }
  if (answer.gate)
    add_sentence(out, answer.jobs.front().name, say("ranks.gate", "{gate}", {{"gate", to_string(*answer.gate)}}));
  // In a folder of all sorts of traces most are alone.
  const auto is_alone = [](const JobAnalysis& job) { return job.ranks.size() == 1; };
  const auto alone = static_cast<std::size_t>(std::ranges::count_if(answer.jobs, is_alone));
  const bool together = alone > kMostAlone;
  for (const JobAnalysis& job : answer.jobs) {
    if (together && is_alone(job)) continue;
    Sentence told = job_headline(job);
    told.text.insert(0, job.name + ": ");
    add_sentence(out, job.name, told);
  }
  if (together) {
    add_sentence(out, "",
                 say("ranks.all_alone", "{jobs} jobs have one trace: who waits for whom takes two ranks and more",
                     {{"jobs", alone}}));
  }
  return out;
}

void print(const CommandLine& line, Output& output, const Answer& answer) {
  const bool human = line.for_people();
  output.sentences(headlines(answer), "ranks", line.inputs());
  for (const RanksSection* section : requested_ranks_sections(line)) {
    Report report = section_of(*section, answer);
    if (human && report.rows.empty() && !line.has("section")) continue;
    if (human && !line.has("columns")) {
      if (answer.jobs.size() == 1) drop_column(report, "job");
      drop_rare_columns(report);
    }
    output.section(std::move(report), {"ranks", line.inputs(), std::string(section->name)});
  }
  output.end_sections(answer.notes);
  for (const std::string& note : answer.notes) output.note(note);
}

std::string without_rank_text(const Traces& traces, const Jobs& found) {
  return fmt::format("{} no rank of a job, neither inside nor by the file's name: {}{}",
                     counted(found.without_rank.size(), "trace names", "traces name"),
                     traces.facts[found.without_rank.front()].trace, found.without_rank.size() > 1 ? ", ..." : "");
}

// What two traces that are no ranks of one job are there for.
std::string or_compare(const CommandLine& line) {
  if (line.inputs().size() != 2) return "";
  return fmt::format("; two traces: trace-query compare {} {} -o {}", shell_word(line.inputs()[0]),
                     shell_word(line.inputs()[1]), line.text("output").value_or("x.html"));
}

// One page of HTML, about one job.
void print_html(const CommandLine& line, Output& output, const Answer& answer) {
  if (answer.jobs.size() != 1) {
    throw usage_error("{} found, and a page (HTML) is about one; --job NAME of `trace-query ranks` chooses{}",
                      counted(answer.jobs.size(), "job is", "jobs are"), or_compare(line));
  }
  std::vector<PageTable> tables;
  for (const RanksSection* section : requested_ranks_sections(line)) {
    Report report = section_of(*section, answer);
    drop_column(report, "job");
    tables.push_back({std::string(section->name), std::string(section->title), "", std::move(report)});
  }
  output.print_page(
      ranks_page(answer.jobs.front(), sentence_texts(headlines(answer)), std::move(tables), answer.notes));
  for (const std::string& note : answer.notes) output.note(note);
}

std::vector<std::string> notes_of(const CommandLine& line, const Traces& traces, const Jobs& found,
                                  const Answer& answer) {
  std::vector<std::string> notes;
  for (const OpenedTrace& trace : traces.opened) {
    for (const std::string& note : trace.notes) notes.push_back(trace.index.path().string() + ": " + note);
    for (const std::string& lost : trace.index.database().take_notes()) {
      notes.push_back(trace.index.path().string() + ": " + lost);
    }
  }
  if (!found.without_rank.empty()) notes.push_back(without_rank_text(traces, found));
  if (found.jobs.size() > 1 && !line.has("job")) {
    notes.push_back(counted(found.jobs.size(), "job") + " found; --job NAME shows one");
  }
  for (const JobAnalysis& job : answer.jobs) {
    for (const std::string& note : job_notes(job)) {
      notes.push_back(answer.jobs.size() > 1 ? job.name + ": " + note : note);
    }
  }
  if (!answer.baseline) return notes;
  for (const std::string& note : job_notes(*answer.baseline)) notes.push_back("baseline: " + note);
  for (const std::string& note : compare_notes(*answer.baseline, answer.jobs.front())) notes.push_back(note);
  notes.insert(notes.end(), answer.but.warnings.begin(), answer.but.warnings.end());
  return notes;
}

// The traces of a run that can be read.
Traces open_all(const CommandLine& line, std::span<const std::string> inputs, InputLoop& loop) {
  Traces out;
  for (const std::string& input : inputs) {
    loop.attempt(input, [&] {
      OpenedTrace trace = open_trace(input, line);
      out.facts.push_back(read_rank_facts(trace.index));
      out.opened.push_back(std::move(trace));
    });
  }
  return out;
}

// The only job of --baseline, or that of --job, and its traces.
std::pair<Traces, JobAnalysis> baseline_of(const CommandLine& line, const RequestedWorkload& requested,
                                           int& exit_code) {
  const std::vector<std::string> folder = {*line.text("baseline")};
  std::vector<std::string> notes;
  const std::vector<std::string> inputs = find_inputs(folder, std::nullopt, &notes);
  for (const std::string& one : notes) note(line, "baseline: " + one);
  InputLoop loop(inputs);
  Traces traces = open_all(line, inputs, loop);
  exit_code = loop.exit_code();
  const std::vector<Job> jobs = requested_jobs(line, find_jobs(traces.facts).jobs);
  if (jobs.size() == 1) {
    JobAnalysis job = analysis_of(jobs.front(), traces, requested);
    return {std::move(traces), std::move(job)};
  }
  throw usage_error("--baseline {}: {} there, and one is needed; name its traces by a pattern", folder.front(),
                    counted(jobs.size(), "job is", "jobs are"));
}

// What `compare` says of the traces of the ranks by which the jobs are compared.
void compare_traces_of(const CommandLine& line, const Traces& baseline, const Traces& candidate, Answer& answer) {
  const auto [a, b] = deciding(*answer.baseline, answer.jobs.front());
  const TraceSource sources[] = {{trace_of(*answer.baseline, a, baseline).index, "baseline"},
                                 {trace_of(answer.jobs.front(), b, candidate).index, "candidate"}};
  const ComparedTraces loaded = load_traces(sources, {line.text("step-regex")}, requested_rules(line).get());
  const auto gate = requested_gate(line);
  CompareOptions options;
  if (line.has("phase")) options.phase = fmt::format("{}", fmt::join(line.names("phase"), ","));
  if (gate) options.least_change = gate->percent / 100;
  const Comparison comparison = compare_traces(loaded.traces[0], loaded.traces[1], loaded.kernel_names, options);
  answer.but = job_reservations(loaded, comparison);
  if (gate) answer.gate = judge_by_gate(*gate, comparison, [](const std::string&) {});
}

int answer_ranks(const CommandLine& line, bool as_page) {
  requested_ranks_sections(line);
  if (!line.has("baseline")) line.refuse({"gate", "gate-metric", "gate-inconclusive"}, "ranks: --{} needs --baseline");
  const RequestedWorkload requested(line, true);  // each rank has a device of its own
  std::optional<std::pair<Traces, JobAnalysis>> baseline;
  int exit_code = 0;  // of the baseline
  if (line.has("baseline")) baseline = baseline_of(line, requested, exit_code);
  InputLoop loop(line.inputs());
  const Traces traces = open_all(line, line.inputs(), loop);
  if (!loop.any_answered()) return loop.exit_code();
  KnownPlaces places;
  for (const OpenedTrace& trace : traces.opened) places.add(trace.index);
  places.require(requested.selection());
  const Jobs found = find_jobs(traces.facts);
  if (found.jobs.empty()) {
    throw Error(ErrorCode::kUsage, without_rank_text(traces, found) + or_compare(line));
  }
  Answer answer;
  const std::vector<Job> jobs = requested_jobs(line, found.jobs);
  for (const Job& job : jobs) answer.jobs.push_back(analysis_of(job, traces, requested));
  for (const RanksSection* section : requested_ranks_sections(line)) {
    if (section->report.empty()) continue;
    Report& report = answer.of_traces[section->name];
    report = {columns_of(*section), {}, {}, true};
    for (const Job& job : jobs) add_rows(report, section->report, job, traces, requested);
  }
  if (baseline && answer.jobs.size() != 1) {
    throw usage_error("{} found to compare with the baseline, and one is needed; --job NAME chooses",
                      counted(answer.jobs.size(), "job is", "jobs are"));
  }
  if (baseline) {
    answer.baseline = std::move(baseline->second);
    compare_traces_of(line, baseline->first, traces, answer);
  }
  answer.notes = notes_of(line, traces, found, answer);
  Output output(line);
  as_page ? print_html(line, output, answer) : print(line, output, answer);
  output.finish();
  return answer.gate && answer.gate->failed() ? 1 : std::max(exit_code, loop.exit_code());
}

int run_ranks(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kPage, OptionGroup::kPlaces, OptionGroup::kSteps, OptionGroup::kRules,
                             OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  line.add("section", OptionKind::kList,
           "jobs, ranks, causes, steps, collectives, compare, gate (default: all); breakdown, step-breakdown: where "
           "the time "
           "of each rank, or of its steps, goes");
  line.add("job", "of the jobs found in the folders only this one");
  line.add("baseline", "folder or pattern of another job, with which this one is compared rank by rank");
  add_gate_options(line);
  if (!line.parse(args)) return 0;
  return answer_ranks(line, line.page());
}

}  // namespace

int run_ranks_page(const CommandLine& line) { return answer_ranks(line, true); }

Command ranks_command() {
  return {"ranks",
          "the ranks of a job: who waits for whom in collectives, and why",
          "ranks [options] FOLDER|TRACE|INDEX...",
          "  trace-query ranks profiles/\n"
          "  trace-query ranks rank0.json.gz rank1.json.gz --section ranks,steps\n"
          "  trace-query ranks profiles/ --phase decode --json\n"
          "  trace-query ranks profiles/ -o ranks.html\n"
          "  trace-query ranks today/ --baseline yesterday/",
          run_ranks,
          {},
          [](std::string_view name) -> std::vector<ReportShape> {
            std::vector<ReportShape> out;
            out.push_back({name, "ranks", "sentences", true, declared_columns("sentences"), "", true});
            for (const RanksSection& section : kRanksSections)
              out.push_back({name, "ranks", std::string(section.name), true, columns_of(section)});
            return out;
          }};
}

}  // namespace tracedb
