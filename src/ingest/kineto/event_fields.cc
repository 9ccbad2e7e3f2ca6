#include "ingest/kineto/event_fields.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

struct Key {
  std::string_view text;
  EventField field;
};

constexpr Key kEventKeys[] = {
    {"ph", EventField::kPh},     {"id", EventField::kId},   {"ts", EventField::kTs},       {"cat", EventField::kCat},
    {"pid", EventField::kPid},   {"tid", EventField::kTid}, {"dur", EventField::kDur},     {"name", EventField::kName},
    {"args", EventField::kArgs}, {"id2", EventField::kId2}, {"scope", EventField::kScope},
};

// Sorted by length: a lookup compares only keys of the same length. Old and new spellings are listed.
constexpr Key kArgumentKeys[] = {
    {"Seq", EventField::kCollectiveSequence},
    {"grid", EventField::kGrid},
    {"kind", EventField::kCopyKind},
    {"connection_id", EventField::kConnection},
    {"Task Type", EventField::kTaskType},
    {"task type", EventField::kTaskType},
    {"Model Id", EventField::kModel},
    {"model id", EventField::kModel},
    {"count", EventField::kElements},
    {"data_type", EventField::kDataType},
    {"dtype", EventField::kDtype},
    {"block", EventField::kBlock},
    {"Addr", EventField::kAddress},
    {"Device Id", EventField::kDeviceId},
    {"Device Type", EventField::kDeviceType},
    {"Total Reserved", EventField::kTotalReserved},
    {"Total Allocated", EventField::kTotalAllocated},
    {"bytes", EventField::kBytes},
    {"Bytes", EventField::kBytes},
    {"device", EventField::kDevice},
    {"stream", EventField::kStream},
    {"graph id", EventField::kGraphId},
    {"Comms Id", EventField::kCommsId},
    {"Src Rank", EventField::kSourceRank},
    {"Dst Rank", EventField::kDestinationRank},
    {"dst rank", EventField::kDestinationRank},
    {"Python id", EventField::kPythonId},
    {"Group size", EventField::kGroupSize},
    {"Input Dims", EventField::kInputDims},
    {"Input dims", EventField::kInputDims},
    {"Input type", EventField::kInputTypes},
    {"External id", EventField::kExternalId},
    {"external id", EventField::kExternalId},
    {"correlation", EventField::kCorrelation},
    {"kernel_type", EventField::kKernelType},
    {"kernel_hash", EventField::kGenerated},
    {"kernel_backend", EventField::kGenerated},
    {"In split size", EventField::kInSplits},
    {"Out split size", EventField::kOutSplits},
    {"Fwd thread id", EventField::kForwardThread},
    {"blocks per SM", EventField::kBlocksPerSm},
    {"graph node id", EventField::kGraphNodeId},
    {"Input Strides", EventField::kInputStrides},
    {"In msg nelems", EventField::kInElements},
    {"warps per SM", EventField::kWarpsPerSm},
    {"shared memory", EventField::kSharedMemory},
    {"Out msg nelems", EventField::kOutElements},
    {"Sequence number", EventField::kSequenceNumber},
    {"Concrete Inputs", EventField::kConcreteInputs},
    {"Collective name", EventField::kCollectiveName},
    {"Python parent id", EventField::kPythonParentId},
    {"Process Group Name", EventField::kGroupName},
    {"Process Group Ranks", EventField::kGroupRanks},
    {"registers per thread", EventField::kRegisters},
    {"est. achieved occupancy %", EventField::kOccupancy},
    {"memory bandwidth (GB/s)", EventField::kBandwidth},
    {"theoretical occupancy %", EventField::kTheoreticalOccupancy},
    {"Process Group Description", EventField::kGroupDescription},
    {"wait_on_stream", EventField::kWaitStream},
    {"wait_on_cuda_event_record_corr_id", EventField::kWaitCorrelation},
};

constexpr std::size_t kLongestFieldName = 33;

// first[n] is the number of the first entry that can have length n in a table ordered by length.
template <std::size_t N>
struct LengthTable {
  Key keys[N]{};
  std::uint8_t first[kLongestFieldName + 2]{};

  constexpr explicit LengthTable(const Key (&unordered)[N]) {
    std::size_t next = 0;
    for (std::size_t length = 0; length <= kLongestFieldName; ++length) {
      first[length] = static_cast<std::uint8_t>(next);
      for (const Key& key : unordered) {
        if (key.text.size() == length) keys[next++] = key;
      }
    }
    first[kLongestFieldName + 1] = static_cast<std::uint8_t>(next);
  }

  [[nodiscard]] EventField find(std::string_view text) const {
    if (text.size() > kLongestFieldName) return EventField::kCount;
    for (std::size_t i = first[text.size()]; i < first[text.size() + 1]; ++i) {
      if (std::memcmp(keys[i].text.data(), text.data(), text.size()) == 0) return keys[i].field;
    }
    return EventField::kCount;
  }
};

constexpr LengthTable kEventTable(kEventKeys);
constexpr LengthTable kArgumentTable(kArgumentKeys);

std::optional<std::int64_t> parse_cycles(std::string_view text) {
  if (const auto plain = parse_int64(text)) return plain;
  if (const auto whole = parse_integral(text)) return whole;
  const auto number = parse_double(text);
  if (!number || !(std::fabs(*number) < static_cast<double>(kTimeLimit))) return std::nullopt;
  return std::llround(*number);
}

}  // namespace

EventField event_field(std::string_view key) { return kEventTable.find(key); }
EventField argument_field(std::string_view key) { return kArgumentTable.find(key); }

std::optional<std::int64_t> time_of(std::string_view token, Clock clock) {
  const auto time = clock == Clock::kCycles ? parse_cycles(number_text(token)) : parse_microseconds(number_text(token));
  return time && is_time(*time) ? time : std::nullopt;
}

double rate_of(std::string_view token) {
  return parse_double(number_text(token)).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string_view RawEvent::argument(std::string_view key) const {
  const std::string_view found = json_member(fields[EventField::kArgs], key);
  return is_null_token(found) ? std::string_view() : found;
}

TrackKey track_key(std::string_view token) {
  if (is_null_token(token)) return {};
  const auto number = is_json_string(token) ? parse_int64(number_text(token)) : parse_integral(token);
  if (number) return {*number, {}};
  return {kUnknownValue, unescape(raw_string(token)).text};
}

std::int64_t RawEvent::integer(EventField field) const {
  const std::string_view token = fields[field];
  if (token.empty() || is_null_token(token)) return kUnknownValue;
  if (const auto value = parse_integral(number_text(token))) return *value;
  issue(IssueKind::kBadNumber, token);
  return kUnknownValue;
}

std::int64_t RawEvent::duration() const {
  const std::string_view token = fields[EventField::kDur];
  if (const auto value = time_of(token, clock)) {
    if (*value >= 0) return *value;
    issue(IssueKind::kNegativeDuration, token);
    return kUnknownValue;
  }
  const bool missing = token.empty() || is_null_token(token);
  issue(missing ? IssueKind::kMissingDuration : IssueKind::kBadDuration, token);
  return kUnknownValue;
}

}  // namespace tracedb
