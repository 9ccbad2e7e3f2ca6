#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/scope_exit.h"
#include "base/stream/csv_reader.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/ascend/readers.h"
#include "ingest/ascend/tasks.h"
#include "trace/ascend_columns.h"

namespace tracedb {
namespace {

// What the profilers write where there is nothing to say.
bool is_absent(std::string_view cell) { return cell.empty() || cell == "N/A"; }

struct CsvColumns : AscendColumns {
  explicit CsvColumns(const CsvHeader& header)
      : AscendColumns(header),
        step(header.find({"Step Id"})),
        model(header.find({"Model ID", "Model Id"})),
        blocks(header.find({"Block Dim", "Block Num"})),
        task{name,
             header.find({"Accelerator Core", "Task Type"}),
             header.find({"OP State"}),
             header.find({"Mix Block Dim", "Mix Block Num"}),
             shapes,
             header.find({"Input Data Types"}),
             header.find({"Input Formats"}),
             header.find({"Output Shapes"}),
             header.find({"Output Data Types"}),
             header.find({"Output Formats"})},
        size(header.names().size()) {}

  std::optional<std::size_t> step, model, blocks;
  std::array<std::optional<std::size_t>, 10> task;  // in the order of make_task()
  std::size_t size;
};

TrackKey track_of(std::string_view cell) {
  if (is_absent(cell)) return {};
  const auto number = parse_int64(cell);
  return number ? TrackKey{*number, {}} : TrackKey{kUnknownValue, std::string(cell)};
}

class KernelCsv {
 public:
  KernelCsv(ByteSource& source, RowSink& sink) : source_(source), sink_(sink) {}

  void run(TraceFacts& facts) {
    CsvReader reader(source_);
    const ScopeExit note([&] { facts.bytes = reader.bytes(); });  // also where reading fails
    CsvRecord record;
    while (reader.next(record) && record.fields.empty()) {
    }
    const CsvHeader header(record.fields);
    columns_.emplace(header);
    for (const std::string& name : header.repeated()) {
      sink_.issue(IssueKind::kDuplicateKey, static_cast<std::int64_t>(record.offset), name);
    }
    rows_ = sink_.kind("kernel");
    while (reader.next(record)) {
      take_odd_row();
      if (record.fields.empty() && !record.broken) continue;  // an empty line
      sink_.read(rows_);
      if (record.broken || record.fields.size() != columns_->size) {
        keep_odd_row(record);
      } else {
        add(record.fields, static_cast<std::int64_t>(record.offset));
      }
    }
    if (odd_ && !reader.ends_a_line()) {
      cut_off();
    } else {
      take_odd_row();
    }
    for (const Collective& last : collectives_) store(last);
    add_steps();
    facts.complete = complete_;
    facts.vendor = "ascend";
  }

 private:
  using Cells = std::span<const std::string_view>;

  // A row that has not the columns of the head: whether the file is cut off there shows when the next one is read.
  struct OddRow {
    std::vector<std::string> cells;
    std::int64_t offset;
    bool broken;
  };
  struct Interval {
    std::int64_t begin, end;
  };

  // A row of a collective, until no other can be of the same.
  struct Collective {
    DeviceRecord record;
    CollectiveRecord place;  // in its group
    std::uint32_t task;      // text: its name
    std::string device, stream, step;
    std::int64_t offset;
    bool has_second = false;  // row
  };

  static std::string_view cell(Cells cells, const std::optional<std::size_t>& column) {
    return column && *column < cells.size() ? trim_space(cells[*column]) : std::string_view();
  }
  static std::string_view known(std::string_view cell) { return is_absent(cell) ? std::string_view() : cell; }

  void keep_odd_row(const CsvRecord& record) {
    odd_ =
        OddRow{{record.fields.begin(), record.fields.end()}, static_cast<std::int64_t>(record.offset), record.broken};
  }

  void take_odd_row() {
    if (!odd_) return;
    const OddRow row = *std::exchange(odd_, std::nullopt);
    if (row.broken) return skip(IssueKind::kMalformedRow, row.offset, row.cells.empty() ? "" : row.cells.front());
    sink_.issue(IssueKind::kRaggedRow, row.offset, row.cells.front());
    const std::vector<std::string_view> cells(row.cells.begin(), row.cells.end());
    add(cells, row.offset);
  }

  void cut_off() {
    complete_ = false;
    skip(IssueKind::kTruncated, odd_->offset, odd_->cells.empty() ? "" : odd_->cells.front());
  }

  void skip(IssueKind issue, std::int64_t offset, std::string_view sample, SkipReason reason = SkipReason::kMalformed) {
    sink_.issue(issue, offset, sample);
    sink_.skip(rows_, reason);
  }

  void add(Cells cells, std::int64_t offset) {
    const std::string_view start = cell(cells, columns_->start);
    const auto ts = time_in(start);
    if (!ts) {
      return skip(is_absent(start) ? IssueKind::kMissingTimestamp : IssueKind::kBadTimestamp, offset, start,
                  SkipReason::kNoTimestamp);
    }
    const std::string_view name = known(cell(cells, columns_->name));
    std::string_view type = known(cell(cells, columns_->type));
    if (type.empty()) type = name;
    if (type.empty()) sink_.issue(IssueKind::kMissingName, offset, cells.front());
    auto record =
        record_of<DeviceRecord>({*ts, duration(cell(cells, columns_->duration), offset)}, sink_.text(type, offset),
                                stream(cell(cells, columns_->device), cell(cells, columns_->stream)));
    record.graph_id_or_bytes = model(cell(cells, columns_->model), offset);
    record.config = config(cells, offset);
    const std::string_view step = cell(cells, columns_->step);
    if (is_hcom(type)) {
      return add_collective({record, place(name, offset), sink_.text(name, offset),
                             std::string(cell(cells, columns_->device)), std::string(cell(cells, columns_->stream)),
                             std::string(step), offset});
    }
    sink_.add(record);
    note_step(step, record, offset);
  }

  static std::optional<std::int64_t> time_in(std::string_view cell) {
    const auto time = parse_microseconds(cell);
    return time && is_time(*time) ? time : std::nullopt;
  }

  std::int64_t duration(std::string_view cell, std::int64_t offset) {
    const auto dur = time_in(cell);
    if (dur && *dur >= 0) return *dur;
    sink_.issue(dur               ? IssueKind::kNegativeDuration
                : is_absent(cell) ? IssueKind::kMissingDuration
                                  : IssueKind::kBadDuration,
                offset, cell);
    return kUnknownValue;
  }

  std::int64_t number(std::string_view cell, std::int64_t offset) {
    if (is_absent(cell)) return kUnknownValue;
    const auto value = parse_integral(cell);
    if (value && *value >= kLeastNumber) return *value;
    sink_.issue(IssueKind::kBadNumber, offset, cell);
    return kUnknownValue;
  }

  // The model of a kernel that none launched by itself.
  std::int64_t model(std::string_view cell, std::int64_t offset) {
    const std::int64_t id = number(cell, offset);
    return id == kNoModel ? kUnknownValue : id;
  }

  std::uint32_t stream(std::string_view device, std::string_view number) {
    if (last_stream_ == 0 || device != last_device_ || number != last_number_) {
      last_device_ = device;
      last_number_ = number;
      last_stream_ = sink_.stream(track_of(device), track_of(number));
    }
    return last_stream_;
  }

  // The same cells make the same configuration.
  std::uint32_t config(Cells cells, std::int64_t offset) {
    key_.assign(cell(cells, columns_->blocks));
    for (const auto& column : columns_->task) key_.append("\n").append(cell(cells, column));
    return sink_.config(key_, [&] {
      LaunchConfig made = unknown_launch_config();
      made.values[0] = number(cell(cells, columns_->blocks), offset);
      TaskInfo& task = made.task;
      const std::array<std::uint32_t*, 10> texts = {
          &task.name,        &task.core,          &task.state,         &task.mix_blocks,   &task.input_shapes,
          &task.input_types, &task.input_formats, &task.output_shapes, &task.output_types, &task.output_formats};
      for (std::size_t i = 0; i < texts.size(); ++i) {
        // Shapes have quotes of their own, inside those of the file.
        const std::string_view text = raw_string(known(cell(cells, columns_->task[i])));
        if (!text.empty()) *texts[i] = sink_.text(text, offset);
      }
      return made;
    });
  }

  CollectiveRecord place(std::string_view name, std::int64_t offset) {
    CollectiveRecord record;
    if (const auto parts = parse_hcom_name(name)) {
      record.name = sink_.text(parts->operation, offset);
      record.group_name = sink_.text(parts->group, offset);
      record.sequence = parts->sequence;
    }
    return record;
  }

  // Some profilers write a collective on its stream and on none: a kernel once, and a slice. Each is as long as its
  // row, but a kernel has the one duration that is known.
  void add_collective(Collective row) {
    constexpr std::int64_t kOneStart = 500;  // ns
    std::erase_if(collectives_, [&](const Collective& earlier) {
      const bool other = row.record.ts > earlier.record.ts + kOneStart || earlier.record.ts > row.record.ts + kOneStart;
      if (other) store(earlier);
      return other;
    });
    const auto twin = std::ranges::find_if(collectives_, [&](const Collective& one) { return are_one(one, row); });
    if (twin == collectives_.end()) return collectives_.push_back(std::move(row));
    const bool is_named = twin->place.sequence != kUnknownValue;
    const bool is_better = row.place.sequence != kUnknownValue || is_absent(twin->stream);
    if (!is_named && is_better) std::swap(*twin, row);
    if (twin->record.dur == kUnknownValue) std::swap(twin->record.dur, row.record.dur);
    twin->has_second = true;
    auto second = record_of<SliceRecord>(row.record.ts, row.record.dur, row.task,
                                         sink_.thread(track_of(row.device), track_of(row.stream)));
    second.category = row.record.name;
    sink_.add(second);
  }

  // Without a column of streams only equal rows are. Names that tell places in groups tell collectives apart.
  [[nodiscard]] bool are_one(const Collective& a, const Collective& b) const {
    const bool named = a.place.sequence != kUnknownValue && b.place.sequence != kUnknownValue;
    if (a.record.name != b.record.name || a.device != b.device || (named && a.task != b.task)) return false;
    if (columns_->stream) return !a.has_second && is_absent(a.stream) != is_absent(b.stream);
    return a.record.ts == b.record.ts && a.record.dur == b.record.dur;
  }

  void store(const Collective& row) {
    DeviceRecord record = row.record;
    record.collective = sink_.collective(row.place);
    sink_.add(record);
    note_step(row.step, record, row.offset);
  }

  void note_step(std::string_view cell, const DeviceRecord& record, std::int64_t offset) {
    if (is_absent(cell)) return;
    if (last_step_ == nullptr || cell != last_step_text_ || record.stream != last_step_stream_) {
      const auto id = parse_int64(cell);
      if (!id || *id < 0) return sink_.issue(IssueKind::kBadNumber, offset, cell);  // no step is numbered like that
      last_step_text_ = cell;
      last_step_stream_ = record.stream;
      last_step_ = &steps_.try_emplace({*id, record.stream}, Interval{record.ts, record.ts}).first->second;
    }
    last_step_->begin = std::min(last_step_->begin, record.ts);
    // A step ends behind its last row, also one of no length: what begins at its end is in none.
    last_step_->end = std::max({last_step_->end, end_of(record.ts, record.dur), saturating_add(record.ts, 1)});
  }

  void add_steps() {
    if (steps_.empty()) return;
    const RowSink::Kind kind = sink_.kind("step");
    for (const auto& [key, interval] : steps_) {
      sink_.read(kind);
      sink_.add_device_step({interval.begin, interval.end - interval.begin}, "ProfilerStep#", key.first, key.second);
    }
  }

  ByteSource& source_;
  RowSink& sink_;
  std::optional<CsvColumns> columns_;
  RowSink::Kind rows_ = 0;
  bool complete_ = true;
  std::optional<OddRow> odd_;
  std::vector<Collective> collectives_;  // of the last 500 ns
  std::string key_;                      // scratch
  std::string last_device_, last_number_, last_step_text_;
  std::uint32_t last_stream_ = 0, last_step_stream_ = 0;
  std::map<std::pair<std::int64_t, std::uint32_t>, Interval> steps_;  // by number and stream
  Interval* last_step_ = nullptr;
};

}  // namespace

bool begins_as_ascend_kernel_csv(std::string_view head) {
  const std::unique_ptr<ByteSource> source = memory_byte_source(head);
  CsvReader reader(*source);
  CsvRecord record;
  if (!reader.next(record)) return false;
  const AscendColumns columns{CsvHeader(record.fields)};
  return columns.start && columns.are_of_kernels();
}

void read_ascend_kernel_csv(ByteSource& source, RowSink& sink, TraceFacts& facts) {
  KernelCsv(source, sink).run(facts);
}

}  // namespace tracedb
