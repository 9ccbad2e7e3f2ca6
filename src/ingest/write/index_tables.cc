// The part of IndexWriter that writes what is small: dictionaries, tracks, steps, sums, counts and issues.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/text/decimal.h"
#include "base/unknown.h"
#include "ingest/read/json_text.h"
#include "ingest/write/index_writer.h"

namespace tracedb {
namespace {

void bind_text(Statement& statement, int index, std::string_view text) {  // empty: unknown
  text.empty() ? statement.bind_null(index) : statement.bind(index, text);
}

void bind_number(Statement& statement, int index, std::int64_t value) {
  value == kUnknownValue ? statement.bind_null(index) : statement.bind(index, value);
}

void bind_id(Statement& statement, int index, std::uint32_t id) {
  id == 0 ? statement.bind_null(index) : statement.bind(index, std::int64_t{id});
}

void bind_rate(Statement& statement, int index, double value) {
  std::isnan(value) ? statement.bind_null(index) : statement.bind(index, value);
}

void bind_key(Statement& statement, int index, const TrackKey& key) {
  key.number == kUnknownValue ? bind_text(statement, index, key.text) : bind_number(statement, index, key.number);
}

void bind_count(Statement& statement, int index, const std::optional<std::int64_t>& count) {
  bind_number(statement, index, count.value_or(kUnknownValue));
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
    if (member.key == "name") bind_text(statement, 3, unescape(raw_string(member.value)).text);
    if (member.key == "computeMajor" || member.key == "major") major = member.value;
    if (member.key == "computeMinor" || member.key == "minor") minor = member.value;
  }
  if (!major.empty()) bind_text(statement, 6, minor.empty() ? major : major + "." + minor);
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
                                             "too large"};
static_assert(std::size(kSkipReasons) == static_cast<std::size_t>(SkipReason::kCount));

}  // namespace

void IndexWriter::write_dictionaries(TraceStore& store, const CpuLinks& cpu, const DeviceLinks& devices) {
  Statement name(*database_, "INSERT INTO kernel_name VALUES (?, ?, ?)");
  for (const std::uint32_t id : devices.kernel_names) {
    const std::string_view text = store.strings.text(id);
    name.bind(1, std::int64_t{id}).bind(2, text).bind(3, short_name(text)).run();
  }
  Statement frame(*database_, "INSERT INTO frame VALUES (NULL, ?, ?, ?, ?)");
  for (const std::uint32_t id : cpu.frames) {
    const FrameLabel label = frame_label(store.strings.text(id));
    frame.bind(1, std::int64_t{id}).bind(2, label.function);
    bind_id(frame, 3, label.file.empty() ? 0 : store.string_id(label.file));
    bind_number(frame, 4, label.file.empty() ? kUnknownValue : label.line);
    frame.run();
  }
  // Behind all that adds to them.
  Statement string(*database_, "INSERT INTO string VALUES (?, ?)");
  for (std::uint32_t id = 1; id <= store.strings.size(); ++id) {
    string.bind(1, std::int64_t{id}).bind(2, store.strings.text(id)).run();
  }
  Statement stack(*database_, "INSERT INTO stack VALUES (NULL, ?, ?, ?)");
  for (const StackTrie::Node& node : cpu.stacks.nodes()) {
    bind_id(stack, 1, node.parent);
    stack.bind(2, std::int64_t{node.frame}).bind(3, std::int64_t{node.depth}).run();
  }
  Statement config(*database_, "INSERT INTO launch_config VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const LaunchConfig& row : store.configs) {
    for (int i = 0; i < 8; ++i) bind_number(config, i + 1, row.values[i]);
    for (int i = 0; i < 4; ++i) bind_rate(config, i + 9, row.rates[i]);
    config.run();
  }
  write_task_info(store);
  Statement shape(*database_, "INSERT INTO op_shape VALUES (NULL, ?, ?, ?, ?)");
  for (const ShapeDefinition& row : store.shapes) {
    bind_text(shape, 1, row.dims);
    bind_text(shape, 2, row.types);
    bind_text(shape, 3, row.strides);
    bind_text(shape, 4, row.concrete_inputs);
    shape.run();
  }
}

void IndexWriter::write_task_info(const TraceStore& store) {
  Statement insert(*database_, "INSERT INTO task_info VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t id = 0;
  for (const LaunchConfig& row : store.configs) {
    ++id;
    const TaskInfo& task = row.task;
    if (task == TaskInfo{}) continue;
    insert.bind(1, id);
    int index = 2;
    const auto bind_next = [&](std::uint32_t text) {
      bind_text(insert, index++, text == 0 ? std::string_view{} : store.strings.text(text));
    };
    for (const std::uint32_t text : {task.name, task.core, task.state}) bind_next(text);
    const auto mix_blocks = task.mix_blocks == 0 ? std::nullopt : parse_int64(store.strings.text(task.mix_blocks));
    bind_number(insert, index++, mix_blocks.value_or(kUnknownValue));
    for (const std::uint32_t text : {task.input_shapes, task.input_types, task.input_formats, task.output_shapes,
                                     task.output_types, task.output_formats}) {
      bind_next(text);
    }
    insert.run();
  }
}

void IndexWriter::write_tracks(const TraceStore& store, const std::vector<DeviceRow>& devices, std::int64_t rank) {
  Statement device(*database_,
                   "INSERT INTO device VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)");
  std::int64_t id = 0;
  for (const DeviceRow& row : devices) {
    device.bind(1, ++id);
    bind_number(device, 2, row.key.number);
    if (row.key.number == kUnknownValue) bind_text(device, 3, row.key.text);
    device.bind(4, row.vendor).bind(5, std::int64_t{row.used ? 1 : 0});
    bind_properties(device, row.properties.empty() ? row.model : row.properties);
    bind_text(device, 17, row.properties);
    device.run();
  }
  Statement process(*database_, "INSERT INTO process VALUES (NULL, ?, ?, ?, ?, ?)");
  for (const ProcessInfo& row : store.processes) {
    bind_key(process, 1, row.pid);
    bind_text(process, 2, row.name);
    bind_text(process, 3, row.labels);
    bind_number(process, 4, row.sort_index);
    bind_number(process, 5, rank);
    process.run();
  }
  Statement thread(*database_, "INSERT INTO thread VALUES (NULL, ?, ?, ?, ?)");
  for (const ThreadInfo& row : store.threads) {
    thread.bind(1, std::int64_t{row.process});
    bind_key(thread, 2, row.tid);
    bind_text(thread, 3, row.name);
    bind_number(thread, 4, row.sort_index);
    thread.run();
  }
  Statement stream(*database_, "INSERT INTO stream VALUES (NULL, ?, ?)");
  for (const StreamInfo& row : store.streams) {
    stream.bind(1, std::int64_t{row.device});
    bind_key(stream, 2, row.number);
    stream.run();
  }
}

void IndexWriter::write_steps(const CpuLinks& cpu) {
  Statement insert(*database_, "INSERT INTO step VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t sequence = 0;
  for (const StepRow& row : cpu.steps.steps) {
    insert.bind(1, std::int64_t{row.annotation}).bind(2, sequence++).bind(3, to_string(row.info.kind));
    bind_count(insert, 4, row.info.context_requests);
    bind_count(insert, 5, row.info.context_tokens);
    bind_count(insert, 6, row.info.generation_requests);
    bind_count(insert, 7, row.info.generation_tokens);
    bind_id(insert, 8, row.first_kernel);
    bind_id(insert, 9, row.last_kernel);
    insert.run();
  }
}

void IndexWriter::write_module_calls(const TraceStore& store, const CpuLinks& cpu) {
  Statement insert(*database_, "INSERT INTO module_call VALUES (NULL, ?, ?, ?, ?)");
  for (const ModuleCall& call : cpu.module_calls) {
    insert.bind(1, call.ts - store.first_ts);
    bind_number(insert, 2, call.dur);
    insert.bind(3, std::int64_t{call.thread}).bind(4, std::int64_t{call.name}).run();
  }
}

void IndexWriter::write_kernel_sums(DeviceLinks& devices) {
  Statement insert(*database_, "INSERT INTO kernel_name_sum VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const KernelSum& sum : devices.sums.finish()) {
    const auto bind_known = [&](int index, std::int64_t value) {
      bind_number(insert, index, sum.known > 0 ? value : kUnknownValue);
    };
    insert.bind(1, std::int64_t{sum.name}).bind(2, sum.n).bind(3, sum.total);
    bind_known(4, sum.min);
    bind_known(5, sum.max);
    insert.bind(6, sum.sum_of_squares);
    bind_rate(insert, 7, sum.known > 0 ? sum.median : std::numeric_limits<double>::quiet_NaN());
    bind_known(8, sum.p50);
    bind_known(9, sum.p90);
    bind_known(10, sum.p99);
    insert.bind(11, sum.known).run();
  }
}

void IndexWriter::write_collectives(const TraceStore& store, const DeviceLinks& devices) {
  Statement insert(*database_, "INSERT INTO collective VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const auto bind_string = [&](int index, std::uint32_t id) {
    bind_text(insert, index, id == 0 ? std::string_view{} : store.strings.text(id));
  };
  for (const CollectiveRow& row : devices.collectives) {
    const CollectiveRecord& record = store.collectives[row.record - 1];
    insert.bind(1, std::int64_t{row.kernel});
    bind_string(2, record.name);
    bind_string(3, record.group_name);
    bind_string(4, record.group_description);
    bind_number(insert, 5, record.group_size);
    bind_string(6, record.ranks);
    bind_string(7, record.dtype);
    bind_number(insert, 8, record.in_elements);
    bind_number(insert, 9, record.out_elements);
    bind_number(insert, 10, record.sequence);
    bind_string(11, record.comms_id);
    bind_number(insert, 12, record.source_rank);
    bind_number(insert, 13, record.destination_rank);
    insert.run();
  }
}

void IndexWriter::add_counters(TraceStore& store, ArgumentSorter& arguments) {
  Statement insert(*database_, "INSERT INTO counter VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)");
  std::uint32_t id = 0;
  store.counters.start();
  for (; const CounterRecord* record = store.counters.peek(); store.counters.pop()) {
    insert.bind(1, record->ts - store.first_ts);
    bind_id(insert, 2, record->category);
    bind_id(insert, 3, record->name);
    insert.bind(4, std::int64_t{store.threads[record->track - 1].process});
    bind_id(insert, 5, record->series);
    bind_rate(insert, 6, record->value);
    insert.bind(7, std::int64_t{record->continued});
    insert.run();
    ++id;
    if (record->args != 0) arguments.push({id, record->args, EventTable::kCounter});
  }
  store.counters.release();
}

void IndexWriter::write_counts(const TraceStore& store) {
  Statement insert(*database_, "INSERT INTO event_count VALUES (?, ?, ?, ?, ?, ?)");
  for (const auto& [key, count] : store.kinds) {
    std::uint64_t skipped = 0;
    std::string reasons;
    for (std::size_t i = 0; i < std::size(count.skipped); ++i) {
      if (count.skipped[i] == 0) continue;
      skipped += count.skipped[i];
      reasons.append(reasons.empty() ? "" : ", ").append(kSkipReasons[i]);
    }
    bind_text(insert, 1, count.category == 0 ? std::string_view{} : store.strings.text(count.category));
    bind_text(insert, 2, count.ph);
    insert.bind(3, static_cast<std::int64_t>(count.read)).bind(4, static_cast<std::int64_t>(count.read - skipped));
    insert.bind(5, static_cast<std::int64_t>(skipped));
    bind_text(insert, 6, reasons);
    insert.run();
  }
}

void IndexWriter::write_issues(const IssueLog& issues) {
  Statement insert(*database_, "INSERT INTO issue VALUES (?, ?, ?, ?, ?)");
  for (const Issue& issue : issues.issues()) {
    const IssueDescription& description = describe(issue.kind);
    insert.bind(1, description.name).bind(2, to_string(description.severity));
    insert.bind(3, static_cast<std::int64_t>(issue.count));
    bind_number(insert, 4, issue.offset < 0 ? kUnknownValue : issue.offset);
    bind_text(insert, 5, issue.sample);
    insert.run();
  }
}

void IndexWriter::write_arguments(TraceStore& store, ArgumentSorter& arguments) {
  Statement insert(*database_, "INSERT INTO event_argument VALUES (?, ?, ?)");
  constexpr std::string_view kTables[] = {"annotation", "cpu_op", "python_call", "runtime_call",   "kernel",
                                          "memory_op",  "slice",  "instant",     "flow_unmatched", "counter"};
  arguments.start();
  store.args.start();
  std::uint32_t number = 0;
  while (const std::optional<std::string_view> text = store.args.next()) {
    const ArgumentRow* row = arguments.peek();
    ++number;
    if (row == nullptr || row->args != number) continue;  // of an event without a row
    insert.bind(1, kTables[static_cast<std::size_t>(row->table)]).bind(2, std::int64_t{row->row}).bind(3, *text).run();
    arguments.pop();
  }
  arguments.release();
  store.args.release();
}

void IndexWriter::write_flow_ids(const TraceStore& store, const std::vector<TextFlowId>& ids) {
  Statement update(*database_, "UPDATE flow_unmatched SET flow_id = ? WHERE id = ?");
  for (const TextFlowId& id : ids) {
    update.bind(1, flow_id_text(store, id.id)).bind(2, std::int64_t{id.row}).run();
  }
}

}  // namespace tracedb
