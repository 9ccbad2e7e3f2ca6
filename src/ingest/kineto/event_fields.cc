#include "ingest/kineto/event_fields.h"

#include <cstring>
#include <span>

namespace tracedb {
namespace {

struct Key {
  std::string_view text;
  Field field;
};

constexpr Key kEventKeys[] = {
    {"ph", Field::kPh},     {"id", Field::kId},   {"ts", Field::kTs},       {"cat", Field::kCat},
    {"pid", Field::kPid},   {"tid", Field::kTid}, {"dur", Field::kDur},     {"name", Field::kName},
    {"args", Field::kArgs}, {"id2", Field::kId2}, {"scope", Field::kScope},
};

// Sorted by length: a lookup compares only keys of the same length. Old and new spellings are listed.
constexpr Key kArgumentKeys[] = {
    {"Seq", Field::kCollectiveSequence},
    {"grid", Field::kGrid},
    {"name", Field::kArgName},
    {"kind", Field::kCopyKind},
    {"connection_id", Field::kConnection},
    {"Task Type", Field::kTaskType},
    {"task type", Field::kTaskType},
    {"Model Id", Field::kModel},
    {"model id", Field::kModel},
    {"count", Field::kElements},
    {"data_type", Field::kDataType},
    {"dtype", Field::kDtype},
    {"block", Field::kBlock},
    {"bytes", Field::kBytes},
    {"Bytes", Field::kBytes},
    {"device", Field::kDevice},
    {"stream", Field::kStream},
    {"labels", Field::kLabels},
    {"graph id", Field::kGraphId},
    {"Comms Id", Field::kCommsId},
    {"Python id", Field::kPythonId},
    {"Group size", Field::kGroupSize},
    {"Input Dims", Field::kInputDims},
    {"Input dims", Field::kInputDims},
    {"Input type", Field::kInputTypes},
    {"sort_index", Field::kSortIndex},
    {"External id", Field::kExternalId},
    {"external id", Field::kExternalId},
    {"correlation", Field::kCorrelation},
    {"kernel_type", Field::kKernelType},
    {"Fwd thread id", Field::kForwardThread},
    {"blocks per SM", Field::kBlocksPerSm},
    {"graph node id", Field::kGraphNodeId},
    {"Input Strides", Field::kInputStrides},
    {"In msg nelems", Field::kInElements},
    {"warps per SM", Field::kWarpsPerSm},
    {"shared memory", Field::kSharedMemory},
    {"Out msg nelems", Field::kOutElements},
    {"Sequence number", Field::kSequenceNumber},
    {"Concrete Inputs", Field::kConcreteInputs},
    {"Collective name", Field::kCollectiveName},
    {"Python parent id", Field::kPythonParentId},
    {"Process Group Name", Field::kGroupName},
    {"Process Group Ranks", Field::kGroupRanks},
    {"registers per thread", Field::kRegisters},
    {"est. achieved occupancy %", Field::kOccupancy},
    {"memory bandwidth (GB/s)", Field::kBandwidth},
    {"theoretical occupancy %", Field::kTheoreticalOccupancy},
    {"Process Group Description", Field::kGroupDescription},
};

constexpr std::size_t kLongestKey = 32;

// first[n] is the number of the first entry that can have length n in a table ordered by length.
template <std::size_t N>
struct LengthTable {
  Key keys[N]{};
  std::uint8_t first[kLongestKey + 2]{};

  constexpr explicit LengthTable(const Key (&unordered)[N]) {
    std::size_t next = 0;
    for (std::size_t length = 0; length <= kLongestKey; ++length) {
      first[length] = static_cast<std::uint8_t>(next);
      for (const Key& key : unordered) {
        if (key.text.size() == length) keys[next++] = key;
      }
    }
    first[kLongestKey + 1] = static_cast<std::uint8_t>(next);
  }

  [[nodiscard]] Field find(std::string_view text) const {
    if (text.size() > kLongestKey) return Field::kCount;
    for (std::size_t i = first[text.size()]; i < first[text.size() + 1]; ++i) {
      if (std::memcmp(keys[i].text.data(), text.data(), text.size()) == 0) return keys[i].field;
    }
    return Field::kCount;
  }
};

constexpr LengthTable kEventTable(kEventKeys);
constexpr LengthTable kArgumentTable(kArgumentKeys);

}  // namespace

Field event_field(std::string_view key) { return kEventTable.find(key); }
Field argument_field(std::string_view key) { return kArgumentTable.find(key); }

}  // namespace tracedb
