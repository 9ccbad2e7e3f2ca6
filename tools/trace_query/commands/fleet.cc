// The commands about many traces: `ls` and `trend`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "base/text/regular_expression.h"
#include "compare/runs/run_sets.h"
#include "compare/runs/set_comparison.h"
#include "fleet/catalogue.h"
#include "fleet/trend.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "present/fleet_tables.h"
#include "ranks/job_analysis.h"
#include "report/escape.h"
#include "report/sql_report.h"
#include "sql/safety.h"
#include "sql/tables/table_function.h"
#include "sql/user/user_sql.h"
#include "trace_query/command.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/commands/trend_levels.h"
#include "trace_query/help.h"
#include "trace_query/limits.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Indexes and traces of the arguments: what belongs together is one entry.
class Collector {
 public:
  // read_only: what lies outside the folders given cannot be read.
  explicit Collector(bool read_only) : read_only_(read_only), cache_(cache_directory_) {}

  void add(const fs::path& given) {
    std::error_code error;
    if (fs::is_directory(given, error)) {
      TraceList list = list_traces({given}, default_globs(), {}, Indexes::kTake);
      if (read_only_) {
        leading_out += std::erase_if(list.traces, [&](const fs::path& one) { return leads_out(one, given); });
        leading_out += std::erase_if(list.unreadable, [&](const auto& one) { return leads_out(one.path, given); });
      }
      for (const fs::path& path : list.traces) listed_.insert(path);
      for (const fs::path& path : list.traces) add_file(path);
      for (const auto& [folder, why] : list.unreadable) entries_.push_back(catalogue_unreadable(folder, why));
    } else if (fs::exists(given, error)) {
      add_file(given);
    } else {
      throw Error(ErrorCode::kInput, fmt::format("{}: no such file or folder", printable_path(given)));
    }
  }

  std::vector<CatalogueEntry> finish() {
    cache_.save();
    return std::move(entries_);
  }

  std::size_t leading_out = 0, in_cache = 0;  // links, and traces with an index there, which are left out

 private:
  static bool leads_out(const fs::path& path, const fs::path& folder) {
    std::error_code error;
    return fs::relative(path, folder, error).native().starts_with("..");
  }

  void add_file(const fs::path& path) {
    if (path.extension() == kIndexSuffix || file_kind(path) == FileKind::kIndex) return add_index(path);
    const fs::path sidecar = sidecar_path(path);
    if (listed_.contains(sidecar)) return;  // comes by itself
    const fs::path index = index_of_trace(path, cache_directory_);
    if (read_only_ && !index.empty() && index != sidecar) return void(++in_cache);
    if (!index.empty()) return add_index(index);
    if (seen_.insert(path).second) entries_.push_back(catalogue_trace(path));
  }

  void add_index(const fs::path& path) {
    if (!seen_.insert(path.lexically_normal()).second) return;
    entries_.push_back(catalogue_index(path, cache_, rules_));
  }

  bool read_only_;
  fs::path cache_directory_ = cache_directory();
  SummaryCache cache_;
  ActiveRules rules_;
  std::set<fs::path> listed_, seen_;
  std::vector<CatalogueEntry> entries_;
};

ColumnType sql_type(Unit unit) { return unit == Unit::kText ? ColumnType::kText : ColumnType::kInteger; }

// Keeps the entries for which an SQL expression over the columns of a row is true, and what cannot be read and may fit.
void keep_where(std::vector<CatalogueEntry>& entries, const std::string& expression) {
  Database database(":memory:", Database::Mode::kMemory);
  run_limits::watch(database);
  const std::vector<Column> columns = declared_columns("ls");
  std::vector<TableColumn> declared = {{"number", ColumnType::kInteger, "", ""}};
  for (const Column& column : columns) declared.push_back({column.key, sql_type(column.unit), "", ""});
  add_table_function(database, "catalogue", declared, [&](TableRows& rows) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      rows.add(i);
      for (std::size_t column = 0; const Cell& cell : catalogue_row(entries[i])) {
        const bool known = columns[column++].key == "state" || !entries[i].is_folder();
        std::visit([&](const auto& own) { rows.add(own); }, known ? cell : Cell());
      }
    }
  });
  const SqlGuard guard(database, {});
  const std::string before = "SELECT number FROM catalogue WHERE ifnull((";
  const std::string sql = before + expression + "\n), state = 'unusable')";  // which may end with a comment
  std::set<std::size_t> kept;
  const auto failure = catch_error([&] {
    UserSql user(database, sql, before.size(), before.size() + expression.size());
    auto statement = user.next({});
    while (statement && user.step(*statement)) kept.insert(static_cast<std::size_t>(statement->int64(0)));
    statement.reset();
    if (user.next({})) throw usage_error("one expression, no further statement");
  });
  if (failure)
    throw Error(failure->code(),
                fmt::format("--where: {}; columns: name, vendor, gpu, ... as in trace-query help ls", failure->what()));
  std::size_t number = 0;
  std::erase_if(entries, [&](const CatalogueEntry&) { return !kept.contains(number++); });
}

// Another form of a run that is there is not indexed, which is said of it.
void mark_other_forms(std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> traces;
  for (const CatalogueEntry& entry : entries) traces.push_back(entry.trace);
  keep_one_form(traces, nullptr);
  const std::set<fs::path> kept(traces.begin(), traces.end());
  for (CatalogueEntry& entry : entries) {
    if (entry.state == CatalogueState::kNotIndexed && !kept.contains(entry.trace))
      entry.reason = "another form of a run that is there: trace-ingest leaves it out";
  }
}

// Each index once, in the order of the arguments, within a folder of the paths, as far as --where keeps it; traces
// without one are not ingested.
std::vector<CatalogueEntry> read_catalogue(const CommandLine& line, std::vector<std::string>& notes) {
  Collector collector(line.has("read-only"));
  for (const std::string& given : line.inputs()) collector.add(given);
  std::vector<CatalogueEntry> entries = collector.finish();
  if (collector.leading_out > 0)
    notes.push_back(counted(collector.leading_out, "link leads", "links lead") + " out of the folder: left out");
  if (collector.in_cache > 0)
    notes.push_back(counted(collector.in_cache, "trace has its index", "traces have their indexes") +
                    " in the cache directory: left out");
  mark_other_forms(entries);
  const std::size_t all = entries.size();
  if (const auto where = line.text("where")) keep_where(entries, *where);
  if (all == 0 && notes.empty()) notes.emplace_back("no trace and no index");
  if (all > 0 && entries.empty()) notes.push_back("--where is true for none of " + counted(all, "trace"));
  return entries;
}

// Prints what cannot be read, or is out of date where that counts; what the program then exits with.
int report_unusable(const std::vector<CatalogueEntry>& entries, bool must_be_valid = false) {
  int code = 0;
  for (const CatalogueEntry& entry : entries) {
    const bool stale = must_be_valid && entry.state == CatalogueState::kOutOfDate;
    if (!stale && entry.state != CatalogueState::kUnusable) continue;
    const std::string why = entry.index.string() + ": out of date: run trace-ingest on its trace";
    std::cerr << "trace-query: " << escape_text(stale ? why : entry.reason) << '\n';
    code = static_cast<int>(ErrorCode::kInput);
  }
  return code;
}

// Traces without an index of which trace-ingest would make one.
std::size_t count_not_indexed(const std::vector<CatalogueEntry>& entries) {
  return static_cast<std::size_t>(std::ranges::count_if(entries, [&](const CatalogueEntry& entry) {
    return entry.state == CatalogueState::kNotIndexed && entry.reason.empty();
  }));
}

constexpr std::size_t kMostNamed = 5;  // traces, in a note

// Of those in a state: what they are, and which.
void add_state(const std::vector<CatalogueEntry>& entries, CatalogueState state, std::string_view what,
               std::vector<std::string>& notes) {
  std::vector<std::string> names;
  const bool stale = state == CatalogueState::kOutOfDate;
  for (const CatalogueEntry& entry : entries) {
    const fs::path& named = entry.index.empty() ? entry.trace : entry.index;
    if (entry.state == state) names.push_back(stale ? entry.trace.filename().string() : printable_path(named));
  }
  const std::string all = stale ? counted(names.size(), "index is", "indexes are")
                                : counted(names.size(), "index or folder is", "indexes or folders are");
  if (!names.empty())
    notes.push_back(fmt::format("{} {} ({}){}", all, what, first_names(names, kMostNamed),
                                stale ? ": run trace-ingest on the folder" : ""));
}

int run_ls(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kRows, OptionGroup::kOutput});
  line.add("where", "only those for which this SQL is true: \"gpu LIKE '%H100%' AND steps > 10\"");
  if (!line.parse(args)) return 0;
  std::vector<std::string> notes;
  const std::vector<CatalogueEntry> entries = read_catalogue(line, notes);
  if (const std::size_t n = count_not_indexed(entries); n > 0)
    notes.push_back(counted(n, "trace has", "traces have") + " no index yet: run trace-ingest on the folder");
  add_state(entries, CatalogueState::kOutOfDate, "out of date", notes);
  Report report{declared_columns("ls"), {}};
  for (const CatalogueEntry& entry : entries) report.rows.push_back(catalogue_row(entry));
  if (line.hides("period_on")) drop_device_clock(report);
  Output output(line);
  output.print(std::move(report), {"ls", line.positional()}, notes);
  output.finish();
  return report_unusable(entries);
}

enum class MetricKind { kPeriod, kSpan, kOp, kKernel };

struct Metric {
  MetricKind kind = MetricKind::kPeriod;
  std::string name = "period";  // as given
  std::string of;               // the class or name
};

Metric metric_of(const CommandLine& line) {
  Metric out;
  out.name = line.text("metric").value_or("period");
  if (out.name == "period") return out;
  if (out.name == "span") return {MetricKind::kSpan, out.name, ""};
  if (out.name.starts_with("op:") && out.name.size() > 3) return {MetricKind::kOp, out.name, out.name.substr(3)};
  if (out.name.starts_with("kernel:") && out.name.size() > 7)
    return {MetricKind::kKernel, out.name, out.name.substr(7)};
  throw usage_error("--metric {}: there are period, span, op:CLASS and kernel:NAME", out.name);
}

// Kernel time in a step of the phase, in the mean over the devices that work; without steps of the whole trace.
// Unknown: no kernel at all is recorded there.
std::optional<double> kernel_time(const CatalogueEntry& entry, const std::string& phase, const Metric& metric,
                                  const ActiveRules& rules) {
  const Index index = Index::open(entry.index);
  WorkloadOptions options;
  if (!phase.empty()) options.selection.phases = {phase};
  if (metric.kind == MetricKind::kOp) {
    options.selection.ops = {metric.of};
    options.selection.op_option = "--metric op:";
  }
  if (metric.kind == MetricKind::kKernel) options.selection.name_glob = metric.of;
  Workload workload(index, rules, options);
  const EventFilter filter = workload.filter();
  const StepSet& set = workload.steps();
  const std::vector<bool> counts = selected_steps(set, workload.selection());
  const auto dur = workload.events().kernels.int64s("dur");
  const auto stream = workload.events().kernels.ids("stream_id");
  const std::vector<std::uint32_t>& device_of = workload.events().device_of_stream;
  double sum = 0;
  std::map<std::uint32_t, double> by_device;  // of all kernels
  for (std::size_t row = 0; row < dur.size(); ++row) {
    if (!phase.empty() && !has_id(counts, set.of_kernel[row])) continue;
    const auto time = static_cast<double>(duration_or_zero(dur[row]));
    by_device[stream[row] < device_of.size() ? device_of[stream[row]] : 0] += time;
    if (filter.keeps_kernel(row)) sum += time;
  }
  double most = 0;
  for (const auto& [device, time] : by_device) most = std::max(most, time);
  const auto works = [most](const auto& one) { return one.second > 0 && one.second >= kHardlyWorks * most; };
  const auto devices = std::ranges::count_if(by_device, works);
  if (devices == 0) return phase.empty() && entry.summary.kernels > 0 ? std::optional(0.0) : std::nullopt;
  const auto steps = phase.empty() ? 1 : std::ranges::count(counts.begin() + 1, counts.end(), true);
  return sum / static_cast<double>(steps * devices);
}

std::optional<double> step_time(const CatalogueEntry& entry, const std::string& phase, MetricKind kind) {
  const auto one = std::ranges::find(entry.summary.phases, phase, &PhaseSummary::phase);
  if (one == entry.summary.phases.end()) return std::nullopt;
  const auto& value = kind == MetricKind::kPeriod ? one->period : one->span;
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

struct TrendRequest {
  Metric metric;
  TrendOptions trend;
  std::optional<Gate> gate;
};

TrendRequest trend_request(const CommandLine& line) {
  TrendRequest out;
  out.metric = metric_of(line);
  if (const auto phase = line.text("phase")) out.trend.phase = known_phase(*phase);
  constexpr double kLeastRate = 0.1, kMostRate = 20;  // percent; fewer orders are tried than would show a lower one
  if (const auto rate = line.percent("rate", 0, kMostRate)) {
    if (*rate < kLeastRate) throw usage_error("--rate: 0.1 to 20 percent");
    out.trend.changes.rate = *rate / 100;
  }
  if (const auto percent = line.percent("gate")) out.gate = requested_gate(line, *percent);
  if (!out.gate) line.refuse({"gate-inconclusive"}, "--{} needs --gate");
  return out;
}

bool is_of_tiles(const TrendSeries& series) { return series.points.front().run.front()->summary.format == "aie"; }

bool is_usable(const CatalogueEntry& entry) {
  return entry.state == CatalogueState::kIndexed || entry.state == CatalogueState::kNoTrace;
}

void add_notes(const std::vector<CatalogueEntry>& entries, const std::vector<TrendSeries>& series,
               const ChangePointOptions& options, std::vector<std::string>& notes) {
  if (const std::size_t unread = count_not_indexed(entries); unread > 0)
    notes.push_back(counted(unread, "trace has no index yet and is", "traces have no index yet and are") +
                    " left out: run trace-ingest");
  add_state(entries, CatalogueState::kOutOfDate, "out of date and left out", notes);
  add_state(entries, CatalogueState::kUnusable, "unusable and left out", notes);
  const auto cut = std::ranges::count_if(
      entries, [](const CatalogueEntry& entry) { return is_usable(entry) && !entry.summary.complete; });
  if (cut > 0)
    notes.push_back(counted(static_cast<std::size_t>(cut), "trace was", "traces were") +
                    " cut off, and nobody knows which kernels are lost: of these there is a period alone");
  const std::size_t least = least_values(options);
  std::size_t undated = 0, unknown = 0, few = 0;
  for (const TrendSeries& one : series) {
    for (const TrendPoint& point : one.points) {
      undated += point.dated ? 0 : 1;
      unknown += point.value ? 0 : 1;
    }
    few += one.values().size() < least ? 1 : 0;
  }
  if (undated > 0)
    notes.push_back(counted(undated, "trace has", "traces have") + " no date: placed by the time of the file");
  if (unknown > 0) notes.push_back(counted(unknown, "trace does", "traces do") + " not have the metric");
  if (few > 0)
    notes.push_back(fmt::format("{} too short for a change to be told from noise (fewer than {} runs)",
                                counted(few, "series is", "series are"), least));
  if (series.empty()) notes.emplace_back("no index that has it");
  if (const auto cycles = std::ranges::count_if(series, is_of_tiles); cycles > 0)
    notes.push_back((cycles == std::ssize(series) ? "" : "for traces of AI Engines, ") + std::string(kCyclesNote));
}

// Of series of one run each, one sentence for all of them.
Report headlines(const TrendRequest& request, const std::vector<TrendSeries>& series) {
  const auto is_single = [](const TrendSeries& one) { return one.points.size() == 1; };
  const auto single = std::ranges::count_if(series, is_single);
  Report out{declared_columns("sentences"), {}, {}, true};
  for (const TrendSeries& one : series) {
    if (single > 1 && is_single(one)) continue;
    const CycleWords cycles(is_of_tiles(one));
    Sentence told = trend_headline(one, request.metric.name);
    told.text.insert(0, one.label + ": ");
    add_sentence(out, one.label, told);
  }
  if (single > 1) {
    add_sentence(out, "",
                 say("trend.single", "{series} series have one run each, and one shows no trend of {metric}",
                     {{"series", single}, {"metric", request.metric.name}}));
  }
  return out;
}

// What the first group of --sets says of a path.
constexpr std::string_view kNoSet = "-";

SetOfPoint sets_by(const CommandLine& line) {
  const std::string text = line.text("sets").value_or("");
  auto expression = std::make_shared<RegularExpression>(text);
  if (!expression->fault().empty() || expression->groups() == 0) {
    throw usage_error("--sets {}: {}", text,
                      expression->fault().empty() ? "give a group, such as /(commit-[^/]+)/" : expression->fault());
  }
  return [expression](const TrendPoint& point) {
    const std::string path = point.run.front()->named().string();
    const auto groups = expression->find(path);
    return groups && (*groups)[1] ? std::string(*(*groups)[1]) : std::string(kNoSet);
  };
}

void print(const CommandLine& line, Output& output, const TrendRequest& request, const std::vector<TrendSeries>& series,
           const std::vector<std::string>& notes) {
  const bool human = line.for_people();
  const CycleWords cycles(!series.empty() && std::ranges::all_of(series, is_of_tiles));
  for (const std::string& note : notes) output.note(note);
  output.sentences(headlines(request, series), "trend", line.positional());
  const auto add = [&](const char* section, Report report) {
    if (series.size() == 1 && line.hides("series")) drop_column(report, "series");
    if (line.hides("index_path")) drop_column(report, "index_path");  // of programs
    if (human && CycleWords::active()) name_cycles(report);
    output.section(std::move(report), {"trend", line.positional(), section});
  };
  if (!human) add("series", trend_series(series, request.metric.name));
  if (line.has("sets")) add("sets", trend_sets(series, sets_by(line)));
  if (!human || (!series.empty() && !line.has("sets"))) add("points", trend_points(series, request.metric.name));
  output.end_sections(notes);
}

// Whether a change does, which it says.
bool fails_gate(const Output& output, const Gate& gate, const std::string& label, const LevelChange& of) {
  const Interval more = by_load(of.load, 100, 100 + of.percent);
  const double low = of.percent + more.low, high = of.percent + more.high;
  if (high <= gate.percent || of.load.is_apart()) return false;
  const bool fails = low > gate.percent;
  std::string by = std::isinf(of.percent) ? "new" : fmt::format("{:+.1f} %", of.percent);
  if (!fails) by += fmt::format(", inconclusive: {}: at equal load {:+.1f} to {:+.1f} %", of.load.words(), low, high);
  output.note(fmt::format("gate: {}: {}", label, by));
  return fails || gate.inconclusive_fails;
}

// Says which series are worse, and how many it could not judge.
bool is_beyond(const Output& output, const TrendRequest& request, const std::vector<TrendSeries>& series) {
  bool any = false;
  const Gate& gate = *request.gate;
  const auto is_new = [&](const auto& one) { return newest_pct(one) > gate.percent; };
  const auto is_unsure = [&](const auto& one) { return !one.is_long || is_new(one) || loads_are_apart(one); };
  const auto few = std::ranges::count_if(series, is_unsure);
  const bool none = few == static_cast<std::ptrdiff_t>(series.size());
  if (few > 0 || none) {
    output.note(
        "gate: " +
        (series.empty()
             ? "no run to judge"
             : fmt::format("{} of {} not judged: fewer than {} runs{}{}", few,
                           counted(series.size(), "series", "series"), least_values(request.trend.changes),
                           std::ranges::any_of(series, is_new) ? ", or too few of a new level" : "",
                           std::ranges::any_of(series, loads_are_apart) ? ", or loads more than 10 % apart" : "")) +
        (none && !gate.nothing_passes ? "; it fails, unless --gate-inconclusive pass is given" : ""));
    any = none ? !gate.nothing_passes : gate.inconclusive_fails;
  }
  for (const TrendSeries& one : series) {
    for (const LevelChange& change : level_changes(one)) any = fails_gate(output, gate, one.label, change) || any;
  }
  return any;
}

// A job has a trace of each rank.
std::vector<TrendRun> runs_of(const std::vector<CatalogueEntry>& entries) {
  std::vector<TrendRun> out;
  std::vector<const CatalogueEntry*> of_jobs;
  std::vector<RankFacts> facts;
  for (const CatalogueEntry& entry : entries) {
    if (!is_usable(entry)) continue;
    std::optional<RankFacts> found;
    if (entry.summary.rank) catch_error([&] { found = read_rank_facts(Index::open(entry.index)); });
    if (found) {
      facts.push_back(*std::move(found));
      of_jobs.push_back(&entry);
    } else {
      out.push_back({&entry});
    }
  }
  Jobs jobs = find_jobs(facts);
  for (const std::size_t alone : jobs.without_rank) out.push_back({of_jobs[alone]});
  for (const Job& job : jobs.jobs) {
    TrendRun& run = out.emplace_back();
    for (const std::size_t member : job.members) run.push_back(of_jobs[member]);
  }
  return out;
}

// A run whose profiler wrote it in two forms is one.
void drop_other_forms(std::vector<CatalogueEntry>& entries, std::vector<std::string>& notes) {
  std::vector<std::string> traces;
  for (const CatalogueEntry& entry : entries) {
    if (is_usable(entry)) traces.push_back(entry.trace);
  }
  keep_one_form(traces, &notes);
  const std::set<fs::path> kept(traces.begin(), traces.end());
  std::erase_if(entries, [&](const CatalogueEntry& entry) { return is_usable(entry) && !kept.contains(entry.trace); });
}

// A run counts once, under whatever names its trace is there, as in sets of runs.
void drop_copies(std::vector<CatalogueEntry>& entries, std::vector<std::string>& notes) {
  std::map<std::string, fs::path> traces;  // by hash; by path where it is not known
  std::vector<std::string> copies;
  std::erase_if(entries, [&](const CatalogueEntry& entry) {
    if (!is_usable(entry)) return false;
    const fs::path named = entry.named().lexically_normal();
    std::string hash;
    catch_error([&] { hash = Index::open(entry.index).meta("source_hash").value_or(""); });
    const auto [first, is_new] = traces.try_emplace(hash.empty() ? named.string() : hash, named);
    if (!is_new && first->second != named)
      copies.push_back(fmt::format("{} of {}", printable_path(named), printable_path(first->second)));
    return !is_new;
  });
  if (!copies.empty())
    notes.push_back(fmt::format("{} of another, which counts once: {}",
                                counted(copies.size(), "trace is a copy", "traces are copies"),
                                first_names(copies, kMostNamed)));
}

TrendLevels values_of(const Metric& metric, const std::string& phase, std::span<const TrendRun> runs,
                      const ActiveRules& rules) {
  TrendLevels all = levels_of(phase, runs, rules, metric.kind == MetricKind::kPeriod);
  std::vector<TrendValue>& out = all[phase];
  const bool of_steps = metric.kind == MetricKind::kPeriod || metric.kind == MetricKind::kSpan;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!of_steps) out[i].power = metric.kind == MetricKind::kKernel || is_attention(metric.of) ? 2 : 1;
    double sum = 0;
    bool known = !out[i].value;
    for (const CatalogueEntry* trace : known ? runs[i] : TrendRun()) {
      if (metric.kind != MetricKind::kPeriod && !trace->summary.complete) {  // nobody knows which kernels are lost
        known = false;
        break;
      }
      const auto value = of_steps ? step_time(*trace, phase, metric.kind) : kernel_time(*trace, phase, metric, rules);
      known = known && value;
      sum += value.value_or(0);
    }
    if (known) out[i].value = sum / static_cast<double>(runs[i].size());
  }
  const auto has = [](const TrendValue& one) { return one.value.value_or(0) > 0; };
  if (std::ranges::none_of(out, has)) std::ranges::for_each(out, [](auto& one) { one.value.reset(); });
  return all;
}

int run_trend(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput});
  line.add("metric",
           "period (of steps, default), span (of steps on the device), op:CLASS or kernel:NAME (kernel time in a step "
           "and device)");
  line.add("phase", "kind of step (default: the one that most runs of a series have with a period)");
  line.add("where", "only traces for which this SQL over the columns of ls is true");
  line.add("sets",
           "sets of runs, by what the first group of this expression finds in their paths: mean, interval, change");
  line.add("rate", "percent of series of noise in which a change may be flagged (default: 1)");
  line.add("gate", "exit 1 if the newest level of a series is more than this many percent above the one before");
  line.add("gate-inconclusive",
           "what --gate does with series of too few runs: pass (default) or fail; where all are, it fails unless pass "
           "is written out");
  if (!line.parse(args)) return 0;
  const TrendRequest request = trend_request(line);
  if (line.has("sets")) sets_by(line);
  const ActiveRules rules = requested_rules(line);
  std::vector<std::string> notes;
  std::vector<CatalogueEntry> entries = read_catalogue(line, notes);
  drop_other_forms(entries, notes);
  drop_copies(entries, notes);
  const std::vector<TrendRun> runs = runs_of(entries);
  const auto series = make_trends(runs, request.trend, [&](const std::string& phase, std::span<const TrendRun> own) {
    return values_of(request.metric, phase, own, rules);
  });
  if (line.has("sets")) {
    const SetOfPoint set_of = sets_by(line);
    std::size_t others = 0;
    for (const TrendSeries& one : series)
      others += static_cast<std::size_t>(std::ranges::count(one.points, kNoSet, set_of));
    if (others > 0)
      notes.push_back(counted(others, "run has", "runs have") + " no set by --sets: of set " + std::string(kNoSet));
  }
  Output output(line);
  add_notes(entries, series, request.trend.changes, notes);
  print(line, output, request, series, notes);
  output.finish();
  const bool beyond = request.gate && is_beyond(output, request, series);
  const int unusable = report_unusable(entries, request.gate.has_value());
  return unusable == 0 && beyond ? static_cast<int>(ErrorCode::kAnswerIsNo) : unusable;
}

}  // namespace

std::vector<Command> fleet_commands() {
  return {{"ls",
           "a catalogue of indexes: GPU, framework, model, rank, steps, period, date",
           "ls [options] FOLDER|INDEX|TRACE...",
           "  trace-query ls /dumps --sort date\n"
           "  trace-query ls /dumps --where \"gpu LIKE '%H100%' AND period > 20e6\" --csv",
           run_ls,
           {},
           [](std::string_view name) -> std::vector<ReportShape> {
             return {{name, "ls", "", false, declared_columns("ls")}};
           }},
          {"trend",
           "a figure of many traces in order of time, and where its level changes",
           "trend [options] FOLDER|INDEX|TRACE...",
           "  trace-query trend nightly/ --metric period --phase decode --gate 3\n"
           "  trace-query trend nightly/ --metric op:dense_gemm --csv\n"
           "  trace-query trend commits/ --sets '/([0-9a-f]+)/'",
           run_trend,
           {},
           [](std::string_view name) -> std::vector<ReportShape> {
             return {{name, "trend", "sentences", true, declared_columns("sentences"), "", true},
                     {name, "trend", "series", true, trend_series({}, "").columns},
                     {name, "trend", "sets", true, trend_sets({}, {}).columns},
                     {name, "trend", "points", true, trend_points({}, "").columns}};
           }}};
}

}  // namespace tracedb
