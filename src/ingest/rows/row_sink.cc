#include "ingest/rows/row_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text/characters.h"

namespace tracedb {
namespace {

void append_key(std::string& out, const TrackKey& key) {
  if (key.number != kUnknownValue) {
    out += fmt::format("n{}\n", key.number);
  } else {
    out += fmt::format("t{}\n{}", key.text.size(), key.text);
  }
}

}  // namespace

RowSink::RowSink(TraceStore& store, PythonCalls python_calls, std::function<void(std::uint64_t)> on_batch)
    : store_(store), python_calls_(python_calls), on_batch_(std::move(on_batch)) {}

RowSink::Kind RowSink::kind(std::string_view table, std::string_view ph) {
  EventCount& count = kinds_.emplace_back();
  count.category = text(table);
  count.ph = ph;
  return kinds_.size() - 1;
}

void RowSink::read(Kind kind, std::uint64_t rows) {
  kinds_[kind].read += rows;
  rows_ += rows;
}

void RowSink::skip(Kind kind, SkipReason reason, std::uint64_t rows) {
  kinds_[kind].skipped[static_cast<std::size_t>(reason)] += rows;
}

std::string RowSink::storable(std::string_view text, std::int64_t offset) {
  ValidText valid = storable_utf8(text);
  if (valid.replaced > 0) issue(IssueKind::kReplacedCharacter, offset, text);
  return std::move(valid.text);
}

bool RowSink::has_room(std::string_view text) {
  if (text.size() > room_) issue(IssueKind::kOversizedTable, -1, text);
  if (text.size() > room_) return false;
  room_ -= text.size();
  return true;
}

std::uint32_t RowSink::text(std::string_view text, std::int64_t offset) {
  const Interner::Entry entry = texts_.intern(text);
  if (entry.is_new) {
    std::string stored = storable(text, offset);
    replaced_.push_back(stored != text);
    batch_.strings.push_back(std::move(stored));
  } else if (replaced_[entry.id - 1]) {
    issue(IssueKind::kReplacedCharacter, offset, text);
  }
  return entry.id;
}

std::uint32_t RowSink::thread(const TrackKey& pid, const TrackKey& tid) {
  key_.clear();
  append_key(key_, pid);
  append_key(key_, tid);
  return threads_.id_of(key_, [&] { batch_.threads.push_back({pid, tid}); });
}

std::uint32_t RowSink::stream(const TrackKey& device, const TrackKey& number, const TrackKey& process) {
  key_.clear();
  for (const TrackKey* key : {&device, &number, &process}) append_key(key_, *key);
  return streams_.id_of(key_, [&] { batch_.streams.push_back({{device, number}, {device, number}, process}); });
}

std::uint32_t RowSink::config(const LaunchConfig& config) {
  return this->config({reinterpret_cast<const char*>(&config), sizeof(config)}, [&] { return config; });
}

std::uint32_t RowSink::shape(const ShapeDefinition& shape) {
  key_.assign(shape.dims).append("\n").append(shape.types).append("\n").append(shape.strides).append("\n");
  const Interner::Entry entry = shapes_.intern(key_.append(shape.concrete_inputs));
  if (entry.is_new && !has_room(key_)) {
    shapes_.forget_last();
    return 0;
  }
  if (entry.is_new) batch_.shapes.push_back(shape);
  return entry.id;
}

std::uint32_t RowSink::stack(const std::vector<std::uint32_t>& frames) {
  if (frames.empty()) return 0;
  return paths_.id_of({reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(std::uint32_t)},
                      [&] { batch_.stacks.push_back(frames); });
}

std::uint32_t RowSink::collective(const CollectiveRecord& record) {
  batch_.collectives.push_back(record);
  return static_cast<std::uint32_t>(batch_.collectives.size());
}

void RowSink::add_call(const TimeSpan& span, std::string_view name, std::uint32_t track, std::int64_t correlation) {
  auto record = record_of<CallRecord>(span, text(name), track);
  record.correlation = correlation;
  add(record);
}

void RowSink::add_annotation(const TimeSpan& span, std::string_view name, std::uint32_t track) {
  add(record_of<AnnotationRecord>(span, text(name), track));
}

void RowSink::add_python_call(Kind kind, const TimeSpan& span, std::string_view name, std::uint32_t track) {
  if (python_calls_ == PythonCalls::kOmit) return skip(kind, SkipReason::kOption);
  auto record = record_of<PythonRecord>(span, text(name), track);
  record.python_id = record.parent_id = kNoPythonId;
  add(record);
}

void RowSink::add_device_step(const TimeSpan& span, std::string_view name, std::int64_t number, std::uint32_t stream) {
  auto record = record_of<AnnotationRecord>(span, text(fmt::format("{}{}", name, number)), stream);
  record.is_step = 1;
  record.external_id = number;
  record.on_device = 1;
  add(record);
}

void RowSink::add_slice(std::string_view category, const TimeSpan& span, std::string_view name, std::uint32_t track) {
  const std::uint32_t category_id = text(category);
  auto record = record_of<SliceRecord>(span, text(name), track);
  record.category = category_id;
  add(record);
}

void RowSink::add_instant(std::string_view category, std::int64_t ts, std::string_view name, std::uint32_t track) {
  const std::uint32_t category_id = text(category);
  auto record = record_of<InstantRecord>({ts, 0}, text(name), track);
  record.category = category_id;
  add(record);
}

void RowSink::name_process(const TrackKey& pid, std::string_view name) {
  if (has_room(name)) batch_.metadata.push_back({MetadataKind::kProcessName, pid, {}, storable(name, -1)});
}

void RowSink::name_thread(const TrackKey& pid, const TrackKey& tid, std::string_view name) {
  if (has_room(name)) batch_.metadata.push_back({MetadataKind::kThreadName, pid, tid, storable(name, -1)});
}

void RowSink::flush() {
  for (EventCount& count : kinds_) {
    if (count.read > 0) batch_.kinds.push_back(count);
    count.read = 0;
    std::fill(std::begin(count.skipped), std::end(count.skipped), 0);
  }
  store_.add(batch_);
  batch_.clear();
  records_ = 0;
  on_batch_(rows_);
}

LaunchConfig unknown_launch_config() {
  LaunchConfig config{};
  std::fill(std::begin(config.values), std::end(config.values), kUnknownValue);
  std::fill(std::begin(config.rates), std::end(config.rates), std::numeric_limits<double>::quiet_NaN());
  return config;
}

}  // namespace tracedb
