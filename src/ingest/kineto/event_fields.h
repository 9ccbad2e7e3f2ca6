// The fields of one event as raw tokens, before they are interpreted: keys may come in any order, so the category may
// be known last. Views into the chunk; valid while the chunk is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ingest/store/event_batch.h"

namespace tracedb {

enum class EventField : std::uint8_t {
  // of the event
  kPh,
  kCat,
  kName,
  kPid,
  kTid,
  kTs,
  kDur,
  kId,
  kId2,
  kScope,
  kArgs,
  // of its args
  kExternalId,
  kCorrelation,
  kStream,
  kDevice,
  kGrid,
  kBlock,
  kRegisters,
  kSharedMemory,
  kBlocksPerSm,
  kWarpsPerSm,
  kOccupancy,
  kTheoreticalOccupancy,
  kBytes,
  kBandwidth,
  kGraphId,
  kGraphNodeId,
  kPythonId,
  kPythonParentId,
  kSequenceNumber,
  kForwardThread,
  kInputDims,
  kInputTypes,
  kInputStrides,
  kConcreteInputs,
  kCollectiveName,
  kInElements,
  kOutElements,
  kGroupSize,
  kDtype,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kCollectiveSequence,
  kCommsId,
  kSourceRank,
  kDestinationRank,
  kCopyKind,
  kKernelType,
  kConnection,
  kTaskType,
  kModel,
  kElements,
  kDataType,
  kAddress,
  kDeviceType,
  kDeviceId,
  kTotalAllocated,
  kTotalReserved,
  kWaitStream,
  kWaitCorrelation,
  kInSplits,
  kOutSplits,
  kGenerated,  // any key that says which generated kernel an operator is
  kCount
};

class EventFields {
 public:
  bool operator==(const EventFields&) const = default;
  void clear() {
    clear(present_);
    repeated_ = 0;
  }
  // Clears the fields of an earlier "args": a repeated key replaces the whole object.
  void clear_arguments() { clear(present_ & ~kOfEvent); }
  // As if the fields of this set were the ones given; put() then says what they hold.
  void start(std::uint64_t present) {
    clear(present_ & ~present);
    present_ = present;
    repeated_ = 0;
  }
  void put(EventField field, std::string_view token) { tokens_[static_cast<std::size_t>(field)] = token; }
  [[nodiscard]] std::uint64_t present() const { return present_; }
  // The last one wins where a key is repeated, as in most JSON readers.
  void set(EventField field, std::string_view token) {
    tokens_[static_cast<std::size_t>(field)] = token;
    const std::uint64_t bit = 1ULL << static_cast<unsigned>(field);
    repeated_ |= present_ & bit;
    present_ |= bit;
  }
  // Whether a key of the event itself was repeated; those of args have several spellings for one field.
  [[nodiscard]] bool repeated() const { return (repeated_ & kOfEvent) != 0; }
  [[nodiscard]] bool has(EventField field) const { return (present_ >> static_cast<unsigned>(field) & 1U) != 0; }
  [[nodiscard]] std::string_view operator[](EventField field) const { return tokens_[static_cast<std::size_t>(field)]; }

 private:
  static constexpr std::uint64_t kOfEvent = (2ULL << static_cast<unsigned>(EventField::kArgs)) - 1;

  void clear(std::uint64_t fields) {
    for (std::uint64_t rest = fields; rest != 0; rest &= rest - 1) {
      tokens_[static_cast<std::size_t>(__builtin_ctzll(rest))] = {};
    }
    present_ &= ~fields;
  }

  std::array<std::string_view, static_cast<std::size_t>(EventField::kCount)> tokens_{};
  std::uint64_t present_ = 0;
  std::uint64_t repeated_ = 0;
};
static_assert(static_cast<std::size_t>(EventField::kCount) <= 64);

// The field that a key names; EventField::kCount for unused keys.
EventField event_field(std::string_view key);
EventField argument_field(std::string_view key);

// One event while it is parsed: its fields as raw tokens, its position in the trace, and the batch that receives its
// records and issues. Owns nothing.

// What the times of a trace count. Cycles are whole and are stored as they are, in place of nanoseconds.
enum class Clock : std::uint8_t { kMicroseconds, kCycles };
// Nanoseconds, or cycles, in a token, quoted or not. A fraction is rounded to the nearest one.
std::optional<std::int64_t> time_of(std::string_view token, Clock clock);

inline bool is_null_token(std::string_view token) { return token == "null"; }

// A number in a token, quoted or not; NaN for anything else.
double rate_of(std::string_view token);
// A quoted number and a number are the same key: old traces write both for one thread. Empty: absent or null.
TrackKey track_key(std::string_view token);

struct RawEvent {
  const EventFields& fields;
  std::int64_t offset;
  EventBatch& batch;
  Clock clock;

  [[nodiscard]] std::string_view operator[](EventField field) const { return fields[field]; }
  void issue(IssueKind kind, std::string_view sample) const { batch.issues.add(kind, offset, sample); }

  // Present, and not null.
  [[nodiscard]] bool gives(EventField field) const { return fields.has(field) && !is_null_token(fields[field]); }
  // The raw token of a key of args that is no field, for what is rare; empty: absent or null.
  [[nodiscard]] std::string_view argument(std::string_view key) const;
  // kUnknownValue where the field is absent, null or no integer of 64 bits; the latter is an issue.
  [[nodiscard]] std::int64_t integer(EventField field) const;
  // Of "dur", in ns. kUnknownValue, with an issue, where the event gives no usable one.
  [[nodiscard]] std::int64_t duration() const;
};

}  // namespace tracedb
