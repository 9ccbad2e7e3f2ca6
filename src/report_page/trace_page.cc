#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "compare/comparison.h"
#include "compare/ledger.h"
#include "compare/table_changes.h"
#include "compare/trace/recording.h"
#include "passes/tables/pass_tables.h"
#include "passes/time/communication.h"
#include "present/cells.h"
#include "present/page_text.h"
#include "present/words.h"
#include "report/escape.h"
#include "report_page/html/safe_text.h"
#include "report_page/report_page.h"

namespace tracedb {
namespace {

struct TableOfReport {
  const char* report;
  const char* title;
  const char* note;
  const char* command;  // that has more of it
};

constexpr TableOfReport kTables[] = {
    {"warnings", "Warnings",
     "What makes answers about this trace less certain, and how much of the kernel time it affects.", "warnings"},
    {"phases", "Steps by kind", "How often, how long, and with how much work.", "phases"},
    {"ops", "Operations", "Kernel time by operation class; shares are of the kernel time of the whole trace.", "ops"},
    {"kernels", "Kernels", "Kernel time by name; shares are of the kernel time of the whole trace.", "kernels"},
    {"layers", "Layers", "Kernel time by layer of the model; shares are of the kernel time of the whole trace.",
     "layers"},
    {"comms", "Communication", "Collectives by kind, group and size.", "comms"},
    {"memcpys", "Copies and fills", "By direction and kind.", "memcpys"},
    {"memory", "Memory", "What the framework allocated, by device.", "memory --at peak"},
    {"gemms", "Matrix products", "Their work, rates and shares of the device's peaks.", "gemms"},
    {"steps", "Steps", "One row for each.", "steps"},
};

constexpr std::size_t kMostItems = 6, kMostGroupsSaid = 4, kMostWarnings = 4;
constexpr std::size_t kLongestWord = 60;
constexpr double kMuchIdle = IdleSums::kHostBound,
                 kMuchWaiting = 0.2;  // of the time of a step: more than any class of kernels
constexpr double kMostly = 0.5;       // of the idle time: the place of the host says something
constexpr double kWorthSaying = 0.01;
constexpr std::size_t kMostParts = 3;
constexpr double kWorthNaming = 0.05;  // in the first sentence

// The steps of one kind, and where their time goes.
struct GroupTime {
  const GroupComparison& group;
  LedgerAccount account;

  [[nodiscard]] double total() const { return account.total(by_period()).candidate; }  // mean, ns
  [[nodiscard]] bool by_period() const { return group.has_period(); }
  [[nodiscard]] const GroupSide& side() const { return group.group.candidate; }
  [[nodiscard]] double of(std::initializer_list<LedgerKind> kinds) const {
    double sum = 0;
    for (const LedgerItem& item : account.items) {
      if (std::ranges::find(kinds, item.kind) != kinds.end()) sum += item.change.candidate;
    }
    return sum;
  }
  [[nodiscard]] double idle() const { return of({LedgerKind::kIdle, LedgerKind::kBetween}); }
  [[nodiscard]] bool idles_much() const { return idle() >= kMuchIdle * total(); }
};

// What is to be said of one trace, in sentences: what it is, how long its steps take, where that time goes, and what to
// look at first. Made of measured facts alone.
struct TraceWordsInput {
  const Index& index;
  const ComparedTrace& trace;
  const KernelNameTable& kernel_names;
  const Comparison& account;  // account_for()
  const Report& warnings;     // schema/reports/warnings.sql
  const std::vector<TraceFinding>& findings;
  std::string path;       // as the command line has it
  std::string selection;  // "--phase decode", "" where everything is selected
};

class TraceWords : PageWriter {
 public:
  explicit TraceWords(const TraceWordsInput& input) : in_(input) {
    for (const GroupComparison& group : in_.account.groups) {
      groups_.push_back({group, ledger_of(group, in_.kernel_names, LedgerBy::kOp)});
    }
  }

  Page run() {
    if (groups_.empty()) {
      const std::string& without = in_.trace.description.without_device;
      add_headline(!without.empty() ? say("report.without_device", "The trace: {why}.", {{"why", without}})
                   : in_.selection.empty()
                       ? say("report.no_kernels", "The trace has no kernels to report on{where}.",
                             {{"where", in_.index.database().query_int64("SELECT id FROM kernel LIMIT 1")
                                            ? ": none of them is in a step"
                                            : ""}})
                       : say("report.no_match", "No device work matches {selection}.", {{"selection", in_.selection}}));
    } else {
      find_host();
      add_headline(with(headline(), phase_of(groups_.front())));
      steps();
      for (std::size_t i = 0; i < std::min(groups_.size(), kMostGroupsSaid); ++i) where(groups_[i], i == 0);
    }
    findings();
    warnings();
    more();
    return take();
  }

 private:
  static std::string step_words(const GroupComparison& group) {
    if (group.group.whole_trace) return "the trace";
    const StepKind kind = group.group.candidate.kind;
    if (kind == StepKind::kUnit) return "a repeating unit";
    const bool is_named = kind != StepKind::kUnknown && kind != StepKind::kOther;
    return is_named ? fmt::format("a {} step", group.group.label) : "a step";
  }

  static Figure phase_of(const GroupTime& of) { return {"phase", of.group.group.label}; }

  // "decode"; "" where --phase tells none apart.
  [[nodiscard]] std::string phase_of_steps(const GroupComparison& group) const {
    if (group.group.whole_trace || only_unknown(in_.trace.steps)) return "";
    return std::string(to_string(group.group.candidate.kind));
  }

  [[nodiscard]] Sentence headline() const {
    const GroupTime& main = groups_.front();
    const Figure devices{"devices", in_.trace.description.devices}, step{"step", step_words(main.group)};
    if (!main.side().slow.empty()) {
      return say(
          "report.two_kinds", "{devices}: {step}s are of two kinds: {kinds}.",
          {devices, {"step", step_words(main.group).substr(2)}, {"kinds", kinds_words(in_.trace, main.side(), host_)}});
    }
    const Figure time{"time", main.total()}, verdict{"verdict", this->verdict(main)};
    if (main.group.group.whole_trace) {
      return say("report.whole_trace", "{devices}: the trace takes {time:time} and shows no steps.{verdict}{lag}",
                 {devices, time, verdict, {"lag", beside_the_work(main)}});
    }
    if (const double outside = main.by_period() ? 0 : outside_steps(in_.trace); outside > kMostly) {
      return say(
          "report.outside_steps",
          "{devices}: {share:.0f%} of the kernel time during steps is in none, as its launches are not recorded: how "
          "long {step} takes is not known.",
          {devices, {"share", outside}, step});
    }
    const std::size_t n = count_steps(in_.trace, main.side().device_steps);
    const bool units = main.side().kind == StepKind::kUnit;
    return say("report.headline",
               units ? "{devices}: {step} {takes} {time:time} ({mean}{n:# unit}{left_out}).{verdict}{lag}"
               : main.side().all_cut
                   ? "{devices}: {step} {takes} {time:time} or more ({mean}{n:# step} cut by the "
                     "recording{left_out}).{verdict}{lag}"
                   : "{devices}: {step} {takes} {time:time} ({mean}{n:# regular step}{left_out}).{verdict}{lag}",
               {devices,
                step,
                {"takes", main.by_period()          ? "takes"
                          : main.side().overlapping ? "overlaps with others and takes"
                                                    : "spans"},
                time,
                {"mean", n > 1 ? "mean of " : ""},
                {"n", n},
                {"left_out", left_out(main)},
                verdict,
                {"lag", beside_the_work(main)}});
  }

  [[nodiscard]] Sentence left_out(const GroupTime& of, bool without_period = false) const {
    Sentence steps = left_out_words(in_.trace, of.side(), without_period);
    return steps.text.empty() ? steps : say("left_out", "; left out: {steps}", {{"steps", std::move(steps)}});
  }

  // Spans leave out what comes before and behind them: nobody else says so of steps that have no period.
  [[nodiscard]] Sentence beside_the_work(const GroupTime& of) const {
    // What runs there is known only where all work is selected.
    const bool whole = of.group.group.whole_trace;
    const auto host = in_.selection.empty() ? host_step(in_.trace, of.side(), whole) : std::nullopt;
    if (!host || !host->is_much_longer()) return {};
    return say("lag", " But on the host {step} takes {host:time}{behind}{before}{medians}.",
               {{"step", step_words(of.group)},
                {"host", host->time},
                {"behind", behind_work(*host)},
                {"before", before_work(*host)},
                {"medians", whole ? "" : " (medians)"}});
  }

  // What decides how long a step takes.
  [[nodiscard]] Sentence verdict(const GroupTime& main) const {
    const double total = main.total(), idle = main.idle(), comm = main.of({LedgerKind::kComm});
    if (total <= 0) return {};
    if (idle >= kMuchIdle * total && comm >= kMuchWaiting * total) {
      return say("idle_and_comm",
                 " For {none:.0f%} of that the device computes nothing: it idles for {idle:.0f%}{host}, and only "
                 "communicates, waiting for other ranks included, for {comm:.0f%}.{advice}",
                 {{"none", (idle + comm) / total},
                  {"idle", idle / total},
                  {"host", waiting()},
                  {"comm", comm / total},
                  {"advice", advice()}});
    }
    if (idle >= kMuchIdle * total) {
      return say("idle", " The device runs nothing for {idle:.0f%} of that{host}.{advice}",
                 {{"idle", idle / total}, {"host", waiting()}, {"advice", advice()}});
    }
    if (comm >= kMuchWaiting * total) {
      const TaskWaits tasks = task_waits(in_.index);
      if (tasks.share() >= kMostly) {
        return say("comm_waits",
                   " Communication that no computation hides takes {comm:.0f%} of that, and of the time of collectives "
                   "{waiting:.0f%} is waiting for other ranks (Notify_Wait): look at what these do before.",
                   {{"comm", comm / total}, {"waiting", tasks.share()}});
      }
      return say("comm",
                 " Communication that no computation hides, waiting for other ranks included, takes {comm:.0f%} of "
                 "that: look there first.",
                 {{"comm", comm / total}});
    }
    const auto [twice, most] = largest(main);
    return say("busy", " The device is busy {busy:.0f%} of that. Most of the time{twice}: {most}.",
               {{"busy", (total - idle) / total}, {"twice", twice}, {"most", most}});
  }

  // "GEMM 59 %, idle 11 %, elementwise 6 %"; where these alone are more than the time, of all rows, and what that
  // means.
  static std::pair<std::string_view, Sentence> largest(const GroupTime& of) {
    std::vector<std::pair<double, std::string>> parts = {
        {of.idle(), "idle"},
        {of.of({LedgerKind::kComm}), "exposed communication"},
        {of.of({LedgerKind::kCopy}), "exposed copies"},
        {of.of({LedgerKind::kOther, LedgerKind::kBetweenOther}), "work of no step"},
        {of.of({LedgerKind::kOtherSteps}), "work of other steps"}};
    for (const LedgerItem& item : of.account.items) {
      if (item.kind == LedgerKind::kOperation) parts.emplace_back(item.change.candidate, op_words(item.op));
    }
    std::ranges::stable_sort(parts, std::ranges::greater(), [](const auto& one) { return one.first; });
    double all = 0, named = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      all += std::max(parts[i].first, 0.0);
      if (i + 1 == kMostParts) named = all;
    }
    const bool twice = named - of.total() > kWorthSaying * of.total();
    const double total = twice ? all : of.total();
    std::vector<Sentence> said;
    for (const auto& [time, what] : parts) {
      if (said.size() == kMostParts || (!said.empty() && time < kWorthNaming * total)) break;
      said.push_back(say("part", "{what} {share:.0f%}", {{"what", what}, {"share", time / total}}));
    }
    return {twice ? ", counting kernels that run at once in full" : "", joined(said, ", ")};
  }

  // Gaps in which calls of the host were recorded are longer than they are without the profiler.
  [[nodiscard]] bool is_slowed() const {
    return waits_.bound() && are_slowing(static_cast<double>(waits_.calls), static_cast<double>(waits_.waiting));
  }

  [[nodiscard]] std::string advice() const {
    if (is_slowed()) {
      return fmt::format("{} without {} before you change anything.",
                         waiting().text.empty() ? " Part of that is the profiler's: record once" : " Record once",
                         to_string(recording_));
    }
    return recording_.stacks ? " Look there first; recording python stacks slows the host." : " Look there first.";
  }

  // Where the host is while the device runs nothing.
  [[nodiscard]] Sentence waiting() const {
    if (in_.trace.work.in_turns && !host_between_) {
      return say("turns", " (the devices take turns{slowed})", {{"slowed", slowed()}});
    }
    // Its share is of the time within the steps, or of that between them.
    const GroupTime& main = groups_.front();
    const double part = main.of({host_between_ ? LedgerKind::kBetween : LedgerKind::kIdle});
    const double share = host_ && main.idle() > 0 ? host_->share * part / main.idle() : 0;
    if (share < kMostly) return {};
    return say("host", fmt::format(" ({} in {{frame}} for {{share:.0f%}} of it{{slowed}})", waiting_word()),
               {{"frame", host_words(*host_)}, {"share", share}, {"slowed", slowed()}});
  }

  [[nodiscard]] Sentence slowed() const {
    if (!is_slowed()) return {};
    return say("slowed", "; part of it is the recording of {what}: {calls:.0f} calls a gap",
               {{"what", to_string(recording_)}, {"calls", waits_.calls_per_gap()}});
  }

  // Looked for where the device runs nothing for much of a step: it takes time to read all that the host did.
  void find_host() {
    const GroupTime& main = groups_.front();
    const bool has_kinds = !main.side().slow.empty();
    if (!main.idles_much() && !has_kinds) return;
    const HostQuestion question = question_of(in_.trace, has_kinds ? main.side().slow : main.side().device_steps);
    host_between_ = question.between;
    host_ = host_stays(in_.index, in_.trace, std::span(&question, 1)).front().mostly;
    if (host_ && host_->share < kMostly) host_.reset();
    const RecordedGaps gaps =
        recorded_gaps(in_.index, in_.trace.events, in_.trace.steps, in_.trace.work, in_.trace.periods);
    recording_ = gaps.recording;
    waits_ = sum_host_waits(gaps, main.group.group.candidate.device_steps, in_.trace.periods.within_kind);
  }

  void steps() {
    add_heading("Steps");
    if (!in_.selection.empty()) add_item(in_.selection, "only");
    for (const GroupTime& of : groups_) {
      const GroupComparison& group = of.group;
      const double total = of.total();
      const std::size_t n = count_steps(in_.trace, of.side().device_steps);
      const double comm = of.of({LedgerKind::kComm});
      const auto rate = group.candidate.periods.tokens_per_s();
      const Figure only_comm{"comm", comm > 0 && comm >= kWorthNaming * total
                                         ? say("", " ({share:.0f%} only with communication)", {{"share", comm / total}})
                                         : Sentence{}};
      const Figure kinds{"kinds",
                         of.side().slow.empty()
                             ? Sentence{}
                             : say("", "; two kinds: {of}", {{"of", kinds_words(in_.trace, of.side(), std::nullopt)}})};
      const Figure tokens{"tokens", rate ? say("", "; {per_s:count} tokens/s", {{"per_s", *rate}}) : Sentence{}};
      const bool whole = group.group.whole_trace;
      add_item(with(say("report.steps",
                        "{steps}{mean}{measure} {time:time}, of which the device is busy "
                        "{busy:.0f%}{comm}{left_out}{kinds}{tokens}",
                        {{"steps",
                          whole ? Sentence{"no steps; "}
                                : say("", of.side().kind == StepKind::kUnit ? "{n:# repeating unit}: " : "{n:# step}: ",
                                      {{"n", n}})},
                         {"mean", n > 1 ? "mean " : ""},
                         {"measure", measure(of)},
                         {"time", total},
                         {"busy", total > 0 ? (total - of.idle()) / total : 0},
                         only_comm,
                         {"left_out", left_out(of, true)},
                         kinds,
                         tokens}),
                    phase_of(of)),
               fmt::format("{}:", whole ? "trace" : group.group.said()));
    }
    for (const std::string& note : in_.trace.steps.notes) add_item(note, "note:");
    for (const std::string& note : in_.trace.work.notes) add_item(note, "note:");
  }

  void where(const GroupTime& of, bool first) {
    const bool several = of.group.group.candidate.device_steps.size() > 1;
    add_heading(with(say("report.where", "Where the time of {step} goes: {time:time} ({mean}{measure})",
                         {{"step", step_words(of.group)},
                          {"time", of.total()},
                          {"mean", several ? "mean " : ""},
                          {"measure", measure(of)}}),
                     phase_of(of)));
    double rest = of.total();
    std::size_t number = 0;
    const std::size_t most = first ? kMostItems : kMostItems / 2;
    for (const LedgerItem& item : of.account.items) {
      if (item.kind == LedgerKind::kRare) continue;  // beside the mean
      const double time = item.change.candidate;
      if (time < kWorthSaying * of.total() || number == most) continue;
      add_item(with(say("report.part", "{time:time} ({share:.0f%}) {what}{host}",
                        {{"time", time},
                         {"share", time / of.total()},
                         {"what", item_words(of.group, item)},
                         {"host", first ? host_of(item) : Sentence{}}}),
                    phase_of(of)),
               fmt::format("{}.", ++number));
      add_command(command(of.group, item), "   ");
      rest -= time;
    }
    if (std::abs(rest) >= kWorthSaying * of.total()) {
      add_item(
          with(say("report.rest", "{time:time} ({share:.0f%}) in smaller rows{twice}",
                   {{"time", rest},
                    {"share", rest / of.total()},
                    {"twice", rest >= 0                    ? ""
                              : of.group.group.whole_trace ? ": kernels that run at once count in full above"
                                                           : ": kernels that run at once, or in the time of another "
                                                             "step, count in full above"}}),
               phase_of(of)),
          "rest:");
    }
  }

  static std::string_view measure(const GroupTime& of) { return of.by_period() ? "period" : "span"; }

  // Of the first group.
  [[nodiscard]] Sentence host_of(const LedgerItem& item) const {
    if (!host_ || item.kind != (host_between_ ? LedgerKind::kBetween : LedgerKind::kIdle)) return {};
    return say("", fmt::format("; {} in {{frame}} for {{share:.0f%}} of it", waiting_word()),
               {{"frame", host_words(*host_)}, {"share", host_->share}});
  }

  [[nodiscard]] Sentence item_words(const GroupComparison& group, const LedgerItem& item) const {
    const Figure count{"n", item.candidate_n};
    switch (item.kind) {
      case LedgerKind::kIdle:
        return group.group.whole_trace ? say("idle", "idle: the device runs nothing")
                                       : say("idle", "idle: the device runs nothing within the step");
      case LedgerKind::kBetween:
        return say("between", "between steps: the device runs nothing until the next begins");
      case LedgerKind::kOther:
        return say("other", "within the step: work of no step, while no step's runs on the device");
      case LedgerKind::kBetweenOther:
        return say("between_other", "between steps: work of no step, while no step's runs on the device");
      case LedgerKind::kOtherSteps:
        return say("other_steps", "work of other steps that overlap, less its own in their time");
      case LedgerKind::kComm:
        return say("comm", "exposed communication: {n:# collective}, while nothing computes", {count});
      case LedgerKind::kCopy:
        return say("copy", "exposed copies: {n:# copy|copies}, while nothing computes", {count});
      default:
        return say("op", "{op}: {n:# kernel}{most}",
                   {{"op", op_words(item.op)}, count, {"most", longest_of(group, item)}});
    }
  }

  // "; 59 % of it in paged_attention_v2".
  [[nodiscard]] Sentence longest_of(const GroupComparison& group, const LedgerItem& item) const {
    std::map<NameId, std::int64_t> times;
    for (const WorkCell& cell : group.candidate.cells) {
      const bool same = in_.kernel_names.op_name(in_.kernel_names.op_of(cell.name)) == item.op;
      if (same && cell.work == Work::kCompute) times[cell.name] += cell.sum.time;
    }
    const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
    const double all = item.change.candidate * static_cast<double>(group.candidate_units);
    if (most == times.end() || all <= 0) return {};
    const KernelNameEntry& entry = in_.kernel_names.entries()[most->first];
    const std::string& name = entry.short_name.empty() ? entry.name : entry.short_name;
    return say(
        "", "; {share:.0f%} of it in {name}",
        {{"share", static_cast<double>(most->second) / all}, {"name", shorten_middle(inert_name(name), kLongestWord)}});
  }

  [[nodiscard]] NextStep command(const GroupComparison& group, const LedgerItem& item) const {
    const auto of_phase = [&](std::string report, std::vector<std::pair<std::string, std::string>> options = {}) {
      if (const std::string phase = phase_of_steps(group); !phase.empty()) options.emplace_back("phase", phase);
      return NextStep{std::move(report), {"$T"}, std::move(options)};
    };
    switch (item.kind) {
      case LedgerKind::kIdle:
      case LedgerKind::kBetween:
        return of_phase("gaps");
      case LedgerKind::kOther:
      case LedgerKind::kBetweenOther:
      case LedgerKind::kOtherSteps:
        return {"steps", {"$T"}};
      case LedgerKind::kComm:
        return of_phase("comms");
      case LedgerKind::kCopy:
        return of_phase("memcpys");
      default:
        return of_phase("kernels", {{"op", item.op}});
    }
  }

  void findings() {
    bool any = false;
    for (const TraceFinding& finding : in_.findings) {
      if (!finding.stands_out) continue;
      if (!any) add_heading("Findings");
      any = true;
      add_item(with(say("finding." + finding.name, "{finding}", {{"finding", finding.text}}),
                    {"share", finding.share_pct / 100}),
               kBullet);
    }
    if (any) {
      add_command(fmt::format("trace-query findings $T{}{}", in_.selection.empty() ? "" : " ", in_.selection), "   ");
    }
  }

  void warnings() {
    std::size_t said = 0;
    for (const Row& row : in_.warnings.rows) {
      const auto cell = [&](std::string_view key) { return row[find_column(in_.warnings.columns, key).value()]; };
      const auto text = [&](std::string_view key) {
        const Cell value = cell(key);
        return std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : std::string();
      };
      if (text("severity") == "info" || said == kMostWarnings) continue;
      // A pause in a step that is left out binds no others.
      if (text("code") == "host_bound" && std::ranges::none_of(groups_, &GroupTime::idles_much)) continue;
      if (said++ == 0) add_heading("Warnings");
      const std::optional<double> share = number(cell("share_pct"));
      add_item(say("warning." + text("code"), "{finding}{amount} ({advice})",
                   {{"finding", text("finding")},
                    {"amount", share ? say("", ": {share:.1f%}", {{"share", *share / 100}}) : Sentence{}},
                    {"advice", text("suggestion")}}),
               text("severity") + ":");
    }
  }

  void more() {
    add_heading("More");
    add_command(fmt::format("T={}", shell_word(in_.path)));
    add_command(NextStep{"info", {"$T"}});
    add_command("trace-query compare $T OTHER -o compare.html");
  }

  const TraceWordsInput& in_;
  std::vector<GroupTime> groups_;
  std::optional<HostFrame> host_;  // of the first group: while its devices wait
  bool host_between_ = false;      // for the next step, else within them
  HostWaits waits_;                // of the first group, where it idles much
  Recording recording_;
};

}  // namespace

ReportPage trace_page(Workload& workload, const TracePageInput& input) {
  Database& database = workload.index().database();
  ReportPage page;
  page.kind = "trace";
  page.command = "report";
  Report warnings;
  for (const TableOfReport& table : kTables) {
    Report report = run_report(database, report_script(table.report), {});
    if (std::string_view(table.report) == "warnings") warnings = report;
    if (report.rows.empty()) continue;
    if (CycleWords::active()) name_cycles(report);
    page.tables.push_back({table.report, table.title, fmt::format("{} More: trace-query {}", table.note, table.command),
                           std::move(report)});
  }
  const std::vector<TraceFinding> findings = findings_of(database, true);
  const std::string label = std::filesystem::path(input.path).filename().string();
  const ComparedTraces loaded = take_trace(workload, label);
  const ComparedTrace& trace = loaded.traces.front();
  const Comparison account = account_for(trace, loaded.kernel_names);
  page.title = label;
  page.sides = {{"a", label, label, trace.description.devices}};
  page.text = TraceWords({workload.index(), trace, loaded.kernel_names, account, warnings, findings, input.path,
                          input.selection})
                  .run();
  quote_sides(page.text, input.path);
  const auto roles_of = [&](std::span<const std::uint32_t> rows) {
    LayerSet layers = trace.layers;
    layers.by_step.resize(rows.size());
    std::ranges::copy(rows, layers.by_step.begin());
    const KernelClasses classes(workload.index(), workload.rules().compiled());
    return find_roles(workload.index(), trace.events, trace.steps, layers, classes, workload.rules().get());
  };
  add_pictures({{&trace}, {&workload.index()}, {label}, loaded.kernel_names, account, roles_of}, page);
  return page;
}

}  // namespace tracedb
