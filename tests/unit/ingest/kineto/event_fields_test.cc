#include "ingest/kineto/event_fields.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {

TEST_CASE("every key of an event and its arguments is known") {
  const std::vector<std::pair<std::string_view, EventField>> event_keys = {
      {"ph", EventField::kPh},     {"cat", EventField::kCat}, {"name", EventField::kName},   {"pid", EventField::kPid},
      {"tid", EventField::kTid},   {"ts", EventField::kTs},   {"dur", EventField::kDur},     {"id", EventField::kId},
      {"args", EventField::kArgs}, {"id2", EventField::kId2}, {"scope", EventField::kScope},
  };
  for (const auto& [key, field] : event_keys) CHECK(event_field(key) == field);

  const std::vector<std::pair<std::string_view, EventField>> argument_keys = {
      {"External id", EventField::kExternalId},
      {"external id", EventField::kExternalId},
      {"correlation", EventField::kCorrelation},
      {"kernel_type", EventField::kKernelType},
      {"stream", EventField::kStream},
      {"device", EventField::kDevice},
      {"grid", EventField::kGrid},
      {"block", EventField::kBlock},
      {"registers per thread", EventField::kRegisters},
      {"shared memory", EventField::kSharedMemory},
      {"blocks per SM", EventField::kBlocksPerSm},
      {"warps per SM", EventField::kWarpsPerSm},
      {"est. achieved occupancy %", EventField::kOccupancy},
      {"theoretical occupancy %", EventField::kTheoreticalOccupancy},
      {"memory bandwidth (GB/s)", EventField::kBandwidth},
      {"bytes", EventField::kBytes},
      {"Bytes", EventField::kBytes},
      {"graph id", EventField::kGraphId},
      {"graph node id", EventField::kGraphNodeId},
      {"Python id", EventField::kPythonId},
      {"Python parent id", EventField::kPythonParentId},
      {"Sequence number", EventField::kSequenceNumber},
      {"Fwd thread id", EventField::kForwardThread},
      {"Input Dims", EventField::kInputDims},
      {"Input dims", EventField::kInputDims},
      {"Input type", EventField::kInputTypes},
      {"Input Strides", EventField::kInputStrides},
      {"Concrete Inputs", EventField::kConcreteInputs},
      {"Collective name", EventField::kCollectiveName},
      {"In msg nelems", EventField::kInElements},
      {"Out msg nelems", EventField::kOutElements},
      {"Group size", EventField::kGroupSize},
      {"dtype", EventField::kDtype},
      {"Process Group Name", EventField::kGroupName},
      {"Process Group Description", EventField::kGroupDescription},
      {"Process Group Ranks", EventField::kGroupRanks},
      {"Seq", EventField::kCollectiveSequence},
      {"Src Rank", EventField::kSourceRank},
      {"Dst Rank", EventField::kDestinationRank},
      {"Comms Id", EventField::kCommsId},
      {"name", EventField::kArgName},
      {"labels", EventField::kLabels},
      {"sort_index", EventField::kSortIndex},
      {"kind", EventField::kCopyKind},
      {"connection_id", EventField::kConnection},
      {"Task Type", EventField::kTaskType},
      {"task type", EventField::kTaskType},
      {"Model Id", EventField::kModel},
      {"model id", EventField::kModel},
      {"count", EventField::kElements},
      {"data_type", EventField::kDataType},
  };
  std::set<EventField> seen;
  for (const auto& entry : argument_keys) {  // no bindings: clang cannot capture them
    const auto& key = entry.first;
    const auto& field = entry.second;
    CAPTURE(key);
    CHECK(argument_field(key) == field);
    seen.insert(field);
  }
  CHECK(seen.size() + event_keys.size() == static_cast<std::size_t>(EventField::kCount));
}

TEST_CASE("keys nobody asks for are no field") {
  for (const std::string_view key : {"", "p", "Ph", "ph ", "cats", "Ev Idx", "s"})
    CHECK(event_field(key) == EventField::kCount);
  for (const std::string_view key : {"", "External Id", "gridd", "streams", "Record function id", "args"}) {
    CHECK(argument_field(key) == EventField::kCount);
  }
  CHECK(argument_field(std::string(32, 'x')) == EventField::kCount);
  CHECK(argument_field(std::string(33, 'x')) == EventField::kCount);
  CHECK(argument_field(std::string(5000, 'x')) == EventField::kCount);
}

TEST_CASE("the last one of repeated keys wins, clear forgets all") {
  EventFields fields;
  CHECK_FALSE(fields.has(EventField::kPh));
  CHECK(fields[EventField::kPh].empty());
  fields.set(EventField::kPh, "\"B\"");
  fields.set(EventField::kPh, "\"X\"");
  fields.set(EventField::kCopyKind, "1");
  CHECK(fields[EventField::kPh] == "\"X\"");
  CHECK(fields.has(EventField::kCopyKind));
  fields.clear();
  CHECK_FALSE(fields.has(EventField::kPh));
  CHECK(fields[EventField::kPh].empty());
  CHECK(fields[EventField::kCopyKind].empty());
}

}  // namespace tracedb
