#include "ingest/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/parallel.h"
#include "base/scope_exit.h"
#include "base/text/amounts.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/text/regular_expression.h"
#include "base/unknown.h"
#include "base/version.h"
#include "index/index.h"
#include "index/locate.h"
#include "ingest/formats.h"
#include "ingest/link/cpu_links.h"
#include "ingest/link/device_links.h"
#include "ingest/link/devices.h"
#include "ingest/link/flow_links.h"
#include "ingest/write/index_writer.h"
#include "sql/scripts.h"
#include "trace/rank_name.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Not of kNone.
IssueKind issue_of(StreamDamage damage) {
  constexpr IssueKind kKinds[] = {IssueKind::kCompressedTruncated, IssueKind::kCompressedChecksum,
                                  IssueKind::kCompressedCorrupt, IssueKind::kCompressedTrailing};
  return kKinds[static_cast<std::size_t>(damage) - 1];
}

// Ascend's profiler names its folders after host and process, HOST_PID_TIME_ascend_pt: profiler_info_3.json there has
// the rank.
std::optional<NamedRank> rank_of_folder(fs::path folder) {
  if (folder.filename() == "ASCEND_PROFILER_OUTPUT") folder = folder.parent_path();
  std::error_code error;
  if (!folder.filename().native().ends_with("_ascend_pt")) return std::nullopt;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("profiler_info_")) return rank_in_name(name);
  }
  return std::nullopt;
}

// Kineto keeps what it logged while it recorded, by severity.
void note_losses(const TraceHeader& header, TraceStore& store) {
  for (const std::string_view key : {"WARNING", "ERROR"}) {
    const HeaderMember* logged = find_header(header, key);
    if (logged == nullptr) continue;
    const std::string_view text = logged->text;
    for (const std::string_view message : text.starts_with('[') ? json_elements(text) : std::vector{text}) {
      if (tells_of_loss(message)) store.issues.add(IssueKind::kDroppedEvents, logged->offset, message);
    }
  }
}

// Rank of a distributed job: what the trace says, else what its name says beyond doubt.
std::optional<NamedRank> rank_of(const TraceFacts& facts, const fs::path& trace) {
  if (facts.rank) return NamedRank{*facts.rank, facts.rank_source};
  const TraceHeader& header = facts.header;
  if (const HeaderMember* info = find_header(header, "distributedInfo")) {
    const std::optional<std::int64_t> rank = parse_int64(number_text(json_member(info->text, "rank")));
    if (rank && *rank >= 0) return NamedRank{*rank, "distributedInfo"};
  }
  std::optional<NamedRank> named = rank_in_name(trace.filename().native());
  if (!named) named = rank_of_folder(trace.parent_path());
  if (!named) return std::nullopt;
  return NamedRank{named->rank, "file name: " + named->from};
}

// What a trace without a kernel, copy or fill is instead, and what to record: JSON of another program is accepted like
// that of PyTorch's profiler, and would be silently empty. The table is schema/other_programs.rules.

// As schema/other_programs.rules has them.
std::vector<std::string> signs_of(std::string_view format, const TraceStore& store, const TraceHeader& header) {
  std::vector<std::string> out = {fmt::format("format:{}", format)};
  for (const auto& [kind, count] : store.kinds) {
    if (kind.first == 0) continue;
    out.push_back(fmt::format("category:{}", store.strings.text(kind.first)));
    if (kind.second == "B") out.push_back(fmt::format("begin:{}", store.strings.text(kind.first)));
  }
  for (const ProcessInfo& process : store.processes) out.push_back("track:" + process.name);
  for (const ThreadInfo& thread : store.threads) out.push_back("track:" + thread.name);
  for (const HeaderMember& member : header) {
    out.push_back("key:" + member.key);
    for (const JsonMember& inner : json_members(member.text))
      out.push_back(fmt::format("key:{}/{}", member.key, inner.key));
  }
  for (const Issue& issue : store.issues.issues()) {
    if (issue.kind == IssueKind::kNotAnObject) out.push_back("element:" + issue.sample);
  }
  return out;
}

struct Program {
  bool devices_are_read = false;
  std::string_view looks_like;
  std::string_view advice;
};

// The last line of the table fits everything.
Program program_of(const std::vector<std::string>& signs) {
  for (const std::string_view line : data_lines(script("other_programs"))) {
    const std::size_t first = line.find("=>"), second = line.find("=>", first + 2);
    if (second == std::string_view::npos) continue;
    const std::string_view begin = line.substr(0, first), expression = begin.substr(begin.find(' '));
    const RegularExpression sign("(?i)" + std::string(trim_json_space(expression)));
    const auto found = std::ranges::find_if(signs, [&](const std::string& text) { return sign.is_in(text); });
    if (found == signs.end()) continue;
    const std::string_view advice = trim_json_space(line.substr(second + 2));
    return {!begin.starts_with("not"), trim_json_space(line.substr(first + 2, second - first - 2)), advice};
  }
  return {};
}

void make_slices_of_operators(TraceStore& store) {
  const std::uint32_t category = store.string_id("cpu_op");
  store.operators.drain([&](const OperatorRecord& op) {
    store.slices.push({op.ts, op.dur, category, op.name, op.track, op.args, 0, 0});
  });
}

// Of a trace that is read to its end. Where it has no device event, adds the issue kNoEvents, kNoDeviceEvents or, for
// JSON of a program whose device events are not read, kForeignFormat; its operators then become slices, and
// facts.format "chrome-json". `format`: the name in the table of formats.
void note_no_device_events(std::string_view format, TraceStore& store, TraceFacts& facts) {
  const bool any = std::ranges::any_of(store.kinds, [](const auto& kind) { return kind.second.read > 0; });
  if (!any) {
    store.issues.add(
        IssueKind::kNoEvents, -1,
        facts.complete ? "it holds 0 events; give what the profiler exported" : "it is cut off before its first event");
  }
  const bool nothing = !any && store.issues.count(IssueKind::kNotAnObject) == 0;
  const bool tiles = facts.vendor == "aie";  // all their events are of devices
  // Of a trace that is cut off it cannot be told what it had.
  if (nothing || tiles || !facts.complete || store.device_events.size() > 0) return;
  const Program program = program_of(signs_of(facts.format.empty() ? format : facts.format, store, facts.header));
  store.issues.add(
      program.devices_are_read ? IssueKind::kNoDeviceEvents : IssueKind::kForeignFormat, -1,
      fmt::format("no kernel, copy or fill is in it{}{}; {}", program.looks_like.empty() ? "" : ": it looks like ",
                  program.looks_like, program.advice));
  if (program.devices_are_read) return;
  facts.format = "chrome-json";
  make_slices_of_operators(store);
}

// Bytes in the index, fitted to some sixty real traces: what the file has without any event, then for each row with its
// share in indexes and sums. The sum is 8 % short of the truth at worst, and 15 % beyond it.
constexpr double kEmptyIndex = 610'000;
constexpr double kPythonCall = 24;
constexpr double kOperator = 32;
constexpr double kCall = 67;
constexpr double kDeviceEvent = 67;
constexpr double kOther = 24;
constexpr double kString = 216;
constexpr double kShape = 108;  // of the arguments of operators

double index_bytes_of(const TraceStore& store) {
  const auto rows = [](const auto& sorter) { return static_cast<double>(sorter.size()); };
  return kPythonCall * rows(store.python) + kOperator * rows(store.operators) + kCall * rows(store.calls) +
         kDeviceEvent * (rows(store.device_events) + rows(store.tasks)) +
         kString * static_cast<double>(store.strings.size()) + kShape * static_cast<double>(store.shapes.size()) +
         kOther * (rows(store.annotations) + rows(store.slices) + rows(store.instants) + rows(store.counters));
}

std::uint64_t spilled_bytes(const TraceStore& store) {
  return store.python.spilled_bytes() + store.operators.spilled_bytes() + store.calls.spilled_bytes() +
         store.device_events.spilled_bytes() + store.annotations.spilled_bytes() + store.slices.spilled_bytes() +
         store.instants.spilled_bytes() + store.counters.spilled_bytes() + store.flows.spilled_bytes();
}

// "1.5 MB were written, about 12.0 MB are needed; ..." and what to do. `index_bytes` of the index are written, and
// `share` (0 to 1) of the trace is read into `store`.
std::string space_advice(const TraceStore& store, std::uint64_t index_bytes, double share) {
  constexpr double kMega = 1e6;
  const std::uint64_t spilled = spilled_bytes(store), written = spilled + index_bytes;
  const double estimate = kEmptyIndex + (index_bytes_of(store) + static_cast<double>(spilled)) / share;
  // In all, with what is spilled while sorting; the estimate may have been proved too low.
  const std::uint64_t in_all = std::max(static_cast<std::uint64_t>(estimate), written + written / 8);
  return fmt::format(
      "{:.1f} MB were written, about {:.1f} MB are needed: make room there, or choose another place with "
      "--output or --index-dir",
      static_cast<double>(written) / kMega, static_cast<double>(in_all) / kMega);
}

class Ingest {
 public:
  Ingest(const fs::path& trace, const fs::path& index, const IngestOptions& options, const IngestObserver& observer)
      : trace_(trace),
        options_(options),
        observer_(observer),
        looked_at_(file_clock(directory_of(index))),
        before_(trace_identity(trace)),
        opened_(open_format(trace, options.cancel)),
        source_(opened_.source.get()),
        store_({directory_of(index), options.memory_bytes}),
        cpu_(store_.spool(8)),
        arguments_(store_.spool(4)) {
    result_.index = index;
  }

  IngestResult run() {
    // Only here is known how much there is to write.
    return with_space_advice([&] { return build(); },
                             [&](std::uint64_t written) { return space_advice(store_, written, taken()); });
  }

 private:
  IngestResult build() {
    const TraceInput input{trace_, *source_, before_ ? before_->bytes : 0, observer_, opened_.otherwise};
    opened_.format.read(input, options_, store_, facts_);
    read_ = true;
    source_->drain();
    note_source();
    note_no_device_events(opened_.format.name, store_, facts_);
    note_losses(facts_.header, store_);
    if (store_.first_ts == kUnknownValue) store_.first_ts = 0;
    observer_.progress({source_->consumed(), source_->consumed(), 0, true});
    IndexWriter writer(result_.index, store_.numbers, options_.cancel);
    link(writer);
    writer.finish_rows();
    write_rest(writer);
    const fs::path& finished = writer.commit();
    if (const std::string summary = options_.summary ? options_.summary(finished) : ""; !summary.empty())
      writer.meta("summary", summary);
    if (before_ && trace_identity(trace_) != before_) {
      throw Error(
          ErrorCode::kTransient,
          fmt::format("{}: the file changed while it was read: run again when it is complete", printable_path(trace_)));
    }
    result_.index_bytes = writer.publish(looked_at_, [this] { observer_.syncing(); });
    result_.issues = store_.issues;
    return result_;
  }

  // How much of the trace is in the store, from 0 to 1.
  [[nodiscard]] double taken() const {
    const auto size = static_cast<double>(before_ ? before_->bytes : 0);
    const auto consumed = static_cast<double>(source_->consumed());
    const double read = size > consumed && consumed > 0 ? consumed / size : 1;
    // More is read than the store has taken.
    const double stored =
        store_.read_to > 0 && !read_ ? static_cast<double>(store_.read_to) / static_cast<double>(facts_.bytes) : 1;
    return read * std::min(stored, 1.0);
  }

  void note_source() {
    if (source_->damage() != StreamDamage::kNone) {
      store_.issues.add(issue_of(source_->damage()), static_cast<std::int64_t>(source_->damaged_at()), {});
    }
    if (source_->encoding() != TextEncoding::kUtf8) store_.issues.add(IssueKind::kUtf16, 0, {});
    const Replacements replaced = source_->replacements();
    store_.issues.add(IssueKind::kReplacedCharacter, static_cast<std::int64_t>(replaced.first), {}, replaced.count);
    result_.complete =
        facts_.complete && source_->damage() != StreamDamage::kTruncated && source_->damage() != StreamDamage::kCorrupt;
    result_.file_bytes = source_->consumed();
    result_.trace_bytes = facts_.bytes;
  }

  // The link passes run on a thread of their own and send rows; this thread owns the database.
  void link(IndexWriter& writer) {
    RowStream rows(arguments_);
    Task linking(
        [&] {
          FlowLinks flows(store_);
          emit_flows(store_, rows, text_flow_ids_, flows);
          link_cpu_events(store_, rows, cpu_, flows);
          link_device_events(store_, rows, cpu_, flows, devices_);
          emit_other_events(store_, rows);
          rows.finish();
        },
        [&] { rows.cancel(); });
    // If writing fails, the linking thread must not wait for room in the stream for ever.
    const ScopeExit guard([&] { rows.cancel(); });
    while (const std::optional<RowBlock> block = rows.pop()) {
      check_cancelled(options_);
      writer.add(*block);
    }
    linking.join();
    result_.kernels = rows.rows(EventTable::kKernel);
  }

  void write_rest(IndexWriter& writer) {
    const TraceHeader& header = facts_.header;
    const std::vector<DeviceRow> devices = devices_of(store_, facts_);
    const std::optional<NamedRank> rank = rank_of(facts_, trace_);
    for (const DeviceRow& device : devices) {
      if (device.used && device.properties.empty() && device.model.empty())
        store_.issues.add(IssueKind::kUnknownDevice, -1, device.key.text);
    }
    const std::int64_t base = base_time(header);
    writer.write_tables(store_, cpu_, devices_, arguments_, text_flow_ids_, devices, rank ? rank->rank : kUnknownValue);
    write_meta(writer, header, rank, base);
  }

  void write_meta(IndexWriter& writer, const TraceHeader& header, const std::optional<NamedRank>& rank,
                  std::int64_t base_time) {
    for (const HeaderMember& member : header) writer.meta("trace." + member.key, minify(member.text));
    writer.meta("tool_version", kVersion);
    writer.meta("schema_version", kSchemaVersion);
    writer.meta("ingest_options", options_text(options_));
    write_source_meta(writer);
    writer.meta("format", facts_.format.empty() ? opened_.format.name : facts_.format);
    writer.meta("vendor", vendor_of(store_, facts_));
    if (!facts_.time_unit.empty()) writer.meta("time_unit", facts_.time_unit);
    if (rank) writer.meta("rank", rank->rank);
    if (rank) writer.meta("rank_source", rank->from);
    writer.meta("base_time_ns", base_time);
    writer.meta("step_rules", step_rules_hash());
    writer.meta("complete", std::int64_t{result_.complete ? 1 : 0});
    const auto coverage = [&](std::string_view what, const Coverage& value) {
      writer.meta(fmt::format("kernels{}", what), value.kernels);
      writer.meta(fmt::format("kernel_ns{}", what), value.ns);
    };
    coverage("", devices_.all);
    coverage("_with_launch", devices_.with_launch);
    coverage("_with_operator", devices_.with_operator);
    coverage("_with_stack", devices_.with_stack);
    coverage("_with_step", devices_.with_step);
    writer.meta("links_confirmed_by_flow", devices_.flows.confirmed);
    writer.meta("links_contradicted_by_flow", devices_.flows.contradicted);
    writer.meta("links_made_by_flow", devices_.flows.linked);
    if (store_.derived_rows > 0) {
      // Of tiles kernels, of XLA the operators.
      writer.meta(facts_.vendor == "aie" ? "kernels_from_marks" : "operators_from_events",
                  static_cast<std::int64_t>(store_.derived_rows));
    }
    count_events();
    writer.meta("events_read", static_cast<std::int64_t>(result_.events_read));
    writer.meta("events_stored", static_cast<std::int64_t>(result_.events_stored));
    writer.meta("events_skipped", static_cast<std::int64_t>(result_.events_skipped));
    writer.meta("events_used", static_cast<std::int64_t>(result_.events_used));  // of the skipped: in other rows
  }

  void write_source_meta(IndexWriter& writer) {
    std::error_code unknown;
    const fs::path absolute = trace_ == "-" ? fs::path("-") : fs::absolute(trace_, unknown).lexically_normal();
    writer.meta("source_path", source_path_text(unknown ? trace_ : absolute));
    writer.meta("source_size", static_cast<std::int64_t>(source_->consumed()));
    writer.meta("source_hash_algorithm", "xxh3-128");
    writer.meta("source_hash", to_hex(source_->hash()));
    if (!before_) return;
    writer.meta("source_mtime_ns", before_->modified_ns);
    writer.meta("source_inode", static_cast<std::int64_t>(before_->inode));
    writer.meta("source_sample_hash", to_hex(sample_hash_file(trace_)));
  }

  // Absolute time of ts 0: new traces count from a base the header names, old ones from the epoch. Without a usable
  // base, as the trace counts.
  std::int64_t base_time(const TraceHeader& header) {
    if (facts_.time_zero_ns) {
      std::int64_t time = 0;
      return __builtin_add_overflow(store_.first_ts, *facts_.time_zero_ns, &time) ? store_.first_ts : time;
    }
    const HeaderMember* member = find_header(header, "baseTimeNanoseconds");
    if (member == nullptr) return store_.first_ts;
    const std::optional<std::int64_t> base = parse_integral(number_text(member->text));
    std::int64_t time = 0;
    if (base && !__builtin_add_overflow(store_.first_ts, *base, &time)) return time;
    store_.issues.add(IssueKind::kBadBaseTime, member->offset, member->text);
    return store_.first_ts;
  }

  void count_events() {
    for (const auto& [key, count] : store_.kinds) {
      result_.events_read += count.read;
      for (const std::uint64_t skipped : count.skipped) result_.events_skipped += skipped;
      for (const SkipReason used : {SkipReason::kMatchedFlow, SkipReason::kMetadata, SkipReason::kEndOfSlice})
        result_.events_used += count.skipped[static_cast<std::size_t>(used)];
    }
    result_.events_stored = result_.events_read - result_.events_skipped;
  }

  fs::path trace_;
  const IngestOptions& options_;
  const IngestObserver& observer_;
  timespec looked_at_;  // when before_ was taken
  std::optional<FileIdentity> before_;
  OpenedFormat opened_;
  ByteSource* source_;
  TraceFacts facts_;
  TraceStore store_;
  CpuLinks cpu_;
  DeviceLinks devices_;
  std::vector<TextFlowId> text_flow_ids_;
  ArgumentSorter arguments_;
  IngestResult result_;
  bool read_ = false;  // all of the trace, into the store
};

}  // namespace

std::optional<FileIdentity> trace_identity(const fs::path& trace) {
  return trace == "-" ? std::nullopt : FileIdentity::behind_links(trace);
}

std::string options_text(const IngestOptions& options) {
  return fmt::format("stacks={} args={}", options.events.python_calls == PythonCalls::kKeep ? "yes" : "no",
                     options.events.arguments == EventArguments::kKeep ? "yes" : "no");
}

void check_cancelled(const IngestOptions& options) {
  if (options.cancel != nullptr && options.cancel->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
}

IngestResult ingest_trace(const fs::path& trace, const fs::path& index, const IngestOptions& options,
                          const IngestObserver& observer) {
  return Ingest(trace, index, options, observer).run();
}

}  // namespace tracedb
