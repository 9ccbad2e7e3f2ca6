#include "ingest/local_ids.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.h"
#include "ingest/json_text.h"

namespace tracedb {
namespace {

// "stream 7" and "7" alike; text that ends in no number stays text.
TrackKey stream_key(std::string_view token) {
  TrackKey key = track_key(token);
  constexpr std::string_view kPrefix = "stream ";
  if (key.number == kUnset && key.text.starts_with(kPrefix)) {
    if (const auto number = parse_int64(std::string_view(key.text).substr(kPrefix.size()))) return {*number, {}};
  }
  return key;
}

// The three numbers of "grid": [x, y, z].
std::array<std::int64_t, 3> triple(std::string_view token) {
  std::array<std::int64_t, 3> out = {kUnset, kUnset, kUnset};
  if (!token.starts_with('[')) return out;
  token = token.substr(1, token.size() - 2);
  for (std::int64_t& value : out) {
    const std::size_t comma = std::min(token.find(','), token.size());
    value = parse_int64(trim_json_space(token.substr(0, comma))).value_or(kUnset);
    token.remove_prefix(std::min(comma + 1, token.size()));
  }
  return out;
}

// A key for all the tokens together. Each is a whole JSON value or empty, so no two lists of tokens make the same key.
template <std::size_t N>
void join_tokens(const EventFields& fields, const std::array<Field, N>& wanted, std::string& out) {
  out.clear();
  for (const Field field : wanted) out.append(fields[field]).append("\n");
}

}  // namespace

std::uint32_t LocalIds::text(std::string_view raw, const RawEvent& event) {
  const Interner::Entry entry = texts_.intern(raw);
  if (entry.is_new) {
    Unescaped text = unescape(raw);
    texts_about_.push_back({event_category(text.text), text.replaced > 0});
    event.batch.strings.push_back(std::move(text.text));
  }
  if (texts_about_[entry.id - 1].has_replaced) event.issue(IssueKind::kReplacedCharacter, raw);
  return entry.id;
}

void LocalIds::forget(const EventBatch& batch) {
  texts_.forget_last(batch.strings.size());
  texts_about_.resize(texts_.size());
  threads_.forget_last(batch.threads.size());
  streams_.forget_last(batch.streams.size());
  configs_.forget_last(batch.configs.size());
  shapes_.forget_last(batch.shapes.size());
  last_thread_ = 0;
}

std::uint32_t LocalIds::other_thread(const RawEvent& event) {
  const std::string_view pid = event[Field::kPid];
  const std::string_view tid = event[Field::kTid];
  key_.assign(pid).append("\n").append(tid);
  const Interner::Entry entry = threads_.intern(key_);
  if (entry.is_new) event.batch.threads.push_back({track_key(pid), track_key(tid)});
  last_pid_ = pid;
  last_tid_ = tid;
  last_thread_ = entry.id;
  return entry.id;
}

std::uint32_t LocalIds::stream(const RawEvent& event) {
  const EventFields& fields = event.fields;
  const std::string_view device = fields[fields.has(Field::kDevice) ? Field::kDevice : Field::kPid];
  const std::string_view stream = fields[fields.has(Field::kStream) ? Field::kStream : Field::kTid];
  key_.assign(device).append("\n").append(stream);
  const Interner::Entry entry = streams_.intern(key_);
  if (entry.is_new) event.batch.streams.push_back({track_key(device), stream_key(stream)});
  return entry.id;
}

std::uint32_t LocalIds::launch_config(const RawEvent& event) {
  constexpr std::array kFields = {Field::kGrid,      Field::kBlock,       Field::kRegisters, Field::kSharedMemory,
                                  Field::kOccupancy, Field::kBlocksPerSm, Field::kWarpsPerSm};
  join_tokens(event.fields, kFields, key_);
  if (key_.size() == kFields.size()) return 0;
  const std::int64_t registers = event.integer(Field::kRegisters);
  const std::int64_t shared_memory = event.integer(Field::kSharedMemory);
  const Interner::Entry entry = configs_.intern(key_);
  if (!entry.is_new) return entry.id;
  const auto grid = triple(event[Field::kGrid]);
  const auto block = triple(event[Field::kBlock]);
  event.batch.configs.push_back(
      {{grid[0], grid[1], grid[2], block[0], block[1], block[2], registers, shared_memory},
       {rate_of(event[Field::kOccupancy]), rate_of(event[Field::kBlocksPerSm]), rate_of(event[Field::kWarpsPerSm])}});
  return entry.id;
}

std::uint32_t LocalIds::shape(const RawEvent& event) {
  constexpr std::array kFields = {Field::kInputDims, Field::kInputTypes, Field::kInputStrides, Field::kConcreteInputs};
  const auto has = [&](Field field) { return event.fields.has(field); };
  if (std::none_of(kFields.begin(), kFields.end(), has)) return 0;
  join_tokens(event.fields, kFields, key_);
  const Interner::Entry entry = shapes_.intern(key_);
  if (entry.is_new) {
    event.batch.shapes.push_back({minify(event[Field::kInputDims]), minify(event[Field::kInputTypes]),
                                  minify(event[Field::kInputStrides]), minify(event[Field::kConcreteInputs])});
  }
  return entry.id;
}

}  // namespace tracedb
