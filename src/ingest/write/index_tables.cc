// The part of IndexWriter that writes what is small: dictionaries, tracks, steps, sums, counts and issues.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/write/index_writer.h"
#include "trace/event_names.h"
#include "trace/kernel_name.h"

namespace tracedb {
namespace {

// Cells of a row: nullopt is NULL, as is a track of which nothing is known.
template <class T>
void bind_cell(Statement& statement, int index, const T& value) {
  if constexpr (std::is_integral_v<T>) {
    statement.bind(index, static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, TrackKey>) {
    if (value.number != kUnknownValue) return bind_cell(statement, index, value.number);
    value.text.empty() ? statement.bind_null(index) : statement.bind(index, value.text);
  } else if constexpr (requires {
                         *value;
                         value.has_value();
                       }) {
    value ? bind_cell(statement, index, *value) : void(statement.bind_null(index));
  } else {
    statement.bind(index, value);
  }
}

template <class... Cells>
void insert_row(Statement& statement, const Cells&... cells) {
  int index = 0;
  (bind_cell(statement, ++index, cells), ...);
  statement.run();
}

std::optional<std::int64_t> known(std::int64_t value) {
  return value == kUnknownValue ? std::nullopt : std::optional(value);
}
std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }
std::optional<std::string_view> known(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
std::optional<std::uint32_t> known_id(std::uint32_t id) { return id == 0 ? std::nullopt : std::optional(id); }
std::optional<std::string_view> known_text(const TraceStore& store, std::uint32_t id) {
  return known(id == 0 ? std::string_view() : store.strings.text(id));
}

// Names the header's device objects use, old and new, for the columns of `device` from sm_count on.
struct DeviceProperty {
  std::string_view key;
  int parameter;
};
constexpr DeviceProperty kDeviceProperties[] = {
    {"numSms", 7},
    {"multiProcessorCount", 7},
    {"warpSize", 8},
    {"totalGlobalMem", 9},
    {"maxThreadsPerBlock", 10},
    {"maxThreadsPerMultiprocessor", 11},
    {"maxThreadsPerMultiProcessor", 11},
    {"regsPerBlock", 12},
    {"regsPerMultiprocessor", 13},
    {"sharedMemPerBlock", 14},
    {"sharedMemPerMultiprocessor", 15},
    {"maxSharedMemoryPerMultiProcessor", 15},
    {"sharedMemPerBlockOptin", 16},
};

void bind_properties(Statement& statement, std::string_view properties) {
  std::string major;
  std::string minor;
  for (const JsonMember& member : json_members(properties)) {
    for (const DeviceProperty& property : kDeviceProperties) {
      const auto number = parse_int64(number_text(member.value));
      if (property.key == member.key && number) statement.bind(property.parameter, *number);
    }
    if (member.key == "name") bind_cell(statement, 3, known(std::string_view(unescape(raw_string(member.value)).text)));
    if (member.key == "computeMajor" || member.key == "major") major = member.value;
    if (member.key == "computeMinor" || member.key == "minor") minor = member.value;
  }
  if (!major.empty()) bind_cell(statement, 6, std::string_view(minor.empty() ? major : major + "." + minor));
}

std::string flow_id_text(const TraceStore& store, const EventId& id) {
  if (id.type == EventIdType::kText) return std::string(store.strings.text(static_cast<std::uint32_t>(id.number)));
  return id.type == EventIdType::kHex ? fmt::format("0x{:x}", id.number) : std::to_string(id.number);
}

constexpr std::string_view kSkipReasons[] = {"",
                                             "matched flow",
                                             "metadata of a process or thread",
                                             "end of a slice",
                                             "end without begin",
                                             "not an object",
                                             "malformed",
                                             "no usable timestamp",
                                             "unsupported phase",
                                             "left out by option",
                                             "too large",
                                             "not read"};
static_assert(std::size(kSkipReasons) == static_cast<std::size_t>(SkipReason::kCount));

void write_task_info(Database& database, const TraceStore& store) {
  Statement insert(database, "INSERT INTO task_info VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const auto text = [&store](std::uint32_t id) { return known_text(store, id); };
  std::int64_t id = 0;
  for (const LaunchConfig& row : store.configs) {
    ++id;
    const TaskInfo& task = row.task;
    if (task == TaskInfo{}) continue;
    const auto mix_blocks = task.mix_blocks == 0 ? std::nullopt : parse_int64(store.strings.text(task.mix_blocks));
    insert_row(insert, id, text(task.name), text(task.core), text(task.state), mix_blocks, text(task.input_shapes),
               text(task.input_types), text(task.input_formats), text(task.output_shapes), text(task.output_types),
               text(task.output_formats));
  }
}

void write_dictionaries(Database& database, TraceStore& store, const CpuLinks& cpu, const DeviceLinks& devices) {
  Statement name(database, "INSERT INTO kernel_name VALUES (?, ?, ?)");
  for (const std::uint32_t id : devices.kernel_names) {
    const std::string_view text = kernel_of_text(store.strings.text(id));
    insert_row(name, id, text, short_name(text));
  }
  Statement frame(database, "INSERT INTO frame VALUES (NULL, ?, ?, ?, ?)");
  for (const std::uint32_t id : cpu.frames) {
    const FrameLabel label = frame_label(store.strings.text(id));
    const bool placed = !label.file.empty();
    insert_row(frame, id, label.function, known_id(placed ? store.string_id(label.file) : 0),
               known(placed ? label.line : kUnknownValue));
  }
  // Behind all that adds to them.
  Statement string(database, "INSERT INTO string VALUES (?, ?)");
  for (std::uint32_t id = 1; id <= store.strings.size(); ++id) insert_row(string, id, store.strings.text(id));
  Statement stack(database, "INSERT INTO stack VALUES (NULL, ?, ?, ?)");
  for (const StackTrie::Node& node : cpu.stacks.nodes()) {
    insert_row(stack, known_id(node.parent), node.frame, node.depth);
  }
  Statement config(database, "INSERT INTO launch_config VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const LaunchConfig& row : store.configs) {
    for (int i = 0; i < 8; ++i) bind_cell(config, i + 1, known(row.values[i]));
    for (int i = 0; i < 4; ++i) bind_cell(config, i + 9, known(row.rates[i]));
    config.run();
  }
  write_task_info(database, store);
  Statement shape(database, "INSERT INTO op_shape VALUES (NULL, ?, ?, ?, ?, ?)");
  const auto text = [](const std::string& value) { return known(std::string_view(value)); };
  for (const ShapeDefinition& row : store.shapes) {
    insert_row(shape, text(row.dims), text(row.types), text(row.strides), text(row.concrete_inputs), text(row.detail));
  }
}

void write_tracks(Database& database, const TraceStore& store, const std::vector<DeviceRow>& devices,
                  std::int64_t rank) {
  const auto text = [](const std::string& value) { return known(std::string_view(value)); };
  Statement device(database, "INSERT INTO device VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)");
  std::int64_t id = 0;
  for (const DeviceRow& row : devices) {
    device.bind(1, ++id);
    bind_cell(device, 2, known(row.key.number));
    if (row.key.number == kUnknownValue) bind_cell(device, 3, text(row.key.text));
    device.bind(4, row.vendor).bind(5, std::int64_t{row.used ? 1 : 0});
    bind_properties(device, row.properties.empty() ? row.model : row.properties);
    bind_cell(device, 17, text(row.properties));
    device.run();
  }
  Statement process(database, "INSERT INTO process VALUES (NULL, ?, ?, ?, ?, ?)");
  for (const ProcessInfo& row : store.processes) {
    insert_row(process, row.pid, text(row.name), text(row.labels), known(row.sort_index), known(rank));
  }
  Statement thread(database, "INSERT INTO thread VALUES (NULL, ?, ?, ?, ?)");
  for (const ThreadInfo& row : store.threads) {
    insert_row(thread, row.process, row.tid, text(row.name), known(row.sort_index));
  }
  Statement stream(database, "INSERT INTO stream VALUES (NULL, ?, ?)");
  for (const StreamInfo& row : store.streams) insert_row(stream, row.device, row.number);
}

void write_steps(Database& database, const CpuLinks& cpu) {
  Statement insert(database, "INSERT INTO step VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t sequence = 0;
  for (const StepRow& row : cpu.steps.steps) {
    insert_row(insert, row.annotation, sequence++, to_string(row.info.kind), row.info.context_requests,
               row.info.context_tokens, row.info.generation_requests, row.info.generation_tokens,
               known_id(row.first_kernel), known_id(row.last_kernel));
  }
}

void write_module_calls(Database& database, const TraceStore& store, const CpuLinks& cpu) {
  Statement insert(database, "INSERT INTO module_call VALUES (NULL, ?, ?, ?, ?)");
  for (const ModuleCall& call : cpu.module_calls) {
    insert_row(insert, call.ts - store.first_ts, known(call.dur), call.thread, call.name);
  }
}

void write_kernel_sums(Database& database, DeviceLinks& devices) {
  Statement insert(database, "INSERT INTO kernel_name_sum VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const KernelSum& sum : devices.sums.finish()) {
    const auto of_known = [&sum](auto value) { return sum.known > 0 ? known(value) : std::nullopt; };
    insert_row(insert, sum.name, sum.n, sum.total, of_known(sum.min), of_known(sum.max), sum.sum_of_squares,
               of_known(sum.median), of_known(sum.p50), of_known(sum.p90), of_known(sum.p99), sum.known);
  }
}

void write_collectives(Database& database, const TraceStore& store, const DeviceLinks& devices) {
  Statement insert(database, "INSERT INTO collective VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const auto text = [&store](std::uint32_t id) { return known_text(store, id); };
  for (const CollectiveRow& row : devices.collectives) {
    const CollectiveRecord& record = store.collectives[row.record - 1];
    insert_row(insert, row.kernel, text(record.name), text(record.group_name), text(record.group_description),
               known(record.group_size), text(record.ranks), text(record.dtype), known(record.in_elements),
               known(record.out_elements), known(record.sequence), text(record.comms_id), known(record.source_rank),
               known(record.destination_rank), text(record.in_splits), text(record.out_splits));
  }
}

void add_counters(Database& database, TraceStore& store, ArgumentSorter& arguments) {
  Statement insert(database, "INSERT INTO counter VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)");
  std::uint32_t id = 0;
  store.counters.drain([&](const CounterRecord& record) {
    insert_row(insert, record.ts - store.first_ts, known_id(record.category), known_id(record.name),
               store.threads[record.track - 1].process, known_id(record.series), known(record.value), record.continued);
    ++id;
    if (record.args != 0) arguments.push({id, record.args, EventTable::kCounter});
  });
}

void write_counts(Database& database, const TraceStore& store) {
  Statement insert(database, "INSERT INTO event_count VALUES (?, ?, ?, ?, ?, ?)");
  for (const auto& [key, count] : store.kinds) {
    std::uint64_t skipped = 0;
    std::string reasons;
    for (std::size_t i = 0; i < std::size(count.skipped); ++i) {
      if (count.skipped[i] == 0) continue;
      skipped += count.skipped[i];
      reasons.append(reasons.empty() ? "" : ", ").append(kSkipReasons[i]);
    }
    insert_row(insert, known_text(store, count.category), known(std::string_view(count.ph)), count.read,
               count.read - skipped, skipped, known(std::string_view(reasons)));
  }
}

void write_issues(Database& database, const IssueLog& issues) {
  Statement insert(database, "INSERT INTO issue VALUES (?, ?, ?, ?, ?)");
  for (const Issue& issue : issues.issues()) {
    const IssueDescription& description = describe(issue.kind);
    insert_row(insert, description.name, to_string(description.severity), issue.count,
               known(issue.offset < 0 ? kUnknownValue : issue.offset), known(std::string_view(issue.sample)));
  }
}

void write_arguments(Database& database, TraceStore& store, ArgumentSorter& arguments) {
  Statement insert(database, "INSERT INTO event_argument VALUES (?, ?, ?)");
  arguments.start();
  store.args.start();
  std::uint32_t number = 0;
  while (const std::optional<std::string_view> text = store.args.next()) {
    const ArgumentRow* row = arguments.peek();
    ++number;
    if (row == nullptr || row->args != number) continue;  // of an event without a row
    insert_row(insert, kEventTableNames[static_cast<std::size_t>(row->table)], row->row, *text);
    arguments.pop();
  }
  arguments.release();
  store.args.release();
}

}  // namespace

void IndexWriter::write_tables(TraceStore& store, const CpuLinks& cpu, DeviceLinks& links, ArgumentSorter& arguments,
                               std::span<const TextFlowId> flow_ids, const std::vector<DeviceRow>& devices,
                               std::int64_t rank) {
  add_counters(*database_, store, arguments);
  write_dictionaries(*database_, store, cpu, links);
  write_tracks(*database_, store, devices, rank);
  write_steps(*database_, cpu);
  write_module_calls(*database_, store, cpu);
  write_kernel_sums(*database_, links);
  write_collectives(*database_, store, links);
  write_arguments(*database_, store, arguments);
  for (const TextFlowId& id : flow_ids) write_flow_text(id.row, flow_id_text(store, id.id));
  write_counts(*database_, store);
  write_issues(*database_, store.issues);
}

void IndexWriter::write_flow_text(std::uint32_t row, std::string_view id) {
  Statement insert(*database_, "INSERT INTO flow_text VALUES (?, ?)");
  insert_row(insert, row, id);
}

void IndexWriter::copy_rows(Database& from, const std::string& table) {
  std::string names, places;
  const auto own = database_->query_texts("SELECT name FROM pragma_table_info(?)", table);
  for (const std::string& column : own) {
    const std::string name = quoted_name(column);
    if (!from.query_int64("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column)) continue;
    names += (names.empty() ? "" : ", ") + name;
    places += places.empty() ? "?" : ", ?";
  }
  if (names.empty()) return;
  const std::string quoted = quoted_name(table);
  Statement rows(from, fmt::format("SELECT {} FROM {} ORDER BY rowid", names, quoted));
  Statement insert(*database_, fmt::format("INSERT INTO {} ({}) VALUES ({})", quoted, names, places));
  while (rows.step()) {
    for (int i = 0; i < rows.column_count(); ++i) insert.bind(i + 1, rows, i);
    insert.run();
  }
}

}  // namespace tracedb
