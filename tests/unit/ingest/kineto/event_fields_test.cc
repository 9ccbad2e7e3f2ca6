#include "ingest/kineto/event_fields.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {

TEST_CASE("every key of an event and its arguments is known") {
  const std::vector<std::pair<std::string_view, Field>> event_keys = {
      {"ph", Field::kPh},     {"cat", Field::kCat}, {"name", Field::kName},   {"pid", Field::kPid},
      {"tid", Field::kTid},   {"ts", Field::kTs},   {"dur", Field::kDur},     {"id", Field::kId},
      {"args", Field::kArgs}, {"id2", Field::kId2}, {"scope", Field::kScope},
  };
  for (const auto& [key, field] : event_keys) CHECK(event_field(key) == field);

  const std::vector<std::pair<std::string_view, Field>> argument_keys = {
      {"External id", Field::kExternalId},
      {"external id", Field::kExternalId},
      {"correlation", Field::kCorrelation},
      {"kernel_type", Field::kKernelType},
      {"stream", Field::kStream},
      {"device", Field::kDevice},
      {"grid", Field::kGrid},
      {"block", Field::kBlock},
      {"registers per thread", Field::kRegisters},
      {"shared memory", Field::kSharedMemory},
      {"blocks per SM", Field::kBlocksPerSm},
      {"warps per SM", Field::kWarpsPerSm},
      {"est. achieved occupancy %", Field::kOccupancy},
      {"theoretical occupancy %", Field::kTheoreticalOccupancy},
      {"memory bandwidth (GB/s)", Field::kBandwidth},
      {"bytes", Field::kBytes},
      {"Bytes", Field::kBytes},
      {"graph id", Field::kGraphId},
      {"graph node id", Field::kGraphNodeId},
      {"Python id", Field::kPythonId},
      {"Python parent id", Field::kPythonParentId},
      {"Sequence number", Field::kSequenceNumber},
      {"Fwd thread id", Field::kForwardThread},
      {"Input Dims", Field::kInputDims},
      {"Input dims", Field::kInputDims},
      {"Input type", Field::kInputTypes},
      {"Input Strides", Field::kInputStrides},
      {"Concrete Inputs", Field::kConcreteInputs},
      {"Collective name", Field::kCollectiveName},
      {"In msg nelems", Field::kInElements},
      {"Out msg nelems", Field::kOutElements},
      {"Group size", Field::kGroupSize},
      {"dtype", Field::kDtype},
      {"Process Group Name", Field::kGroupName},
      {"Process Group Description", Field::kGroupDescription},
      {"Process Group Ranks", Field::kGroupRanks},
      {"Seq", Field::kCollectiveSequence},
      {"Comms Id", Field::kCommsId},
      {"name", Field::kArgName},
      {"labels", Field::kLabels},
      {"sort_index", Field::kSortIndex},
      {"kind", Field::kCopyKind},
      {"connection_id", Field::kConnection},
      {"Task Type", Field::kTaskType},
      {"task type", Field::kTaskType},
      {"Model Id", Field::kModel},
      {"model id", Field::kModel},
      {"count", Field::kElements},
      {"data_type", Field::kDataType},
  };
  std::set<Field> seen;
  for (const auto& entry : argument_keys) {  // no bindings: clang cannot capture them
    const auto& key = entry.first;
    const auto& field = entry.second;
    CAPTURE(key);
    CHECK(argument_field(key) == field);
    seen.insert(field);
  }
  CHECK(seen.size() + event_keys.size() == static_cast<std::size_t>(Field::kCount));
}

TEST_CASE("keys nobody asks for are no field") {
  for (const std::string_view key : {"", "p", "Ph", "ph ", "cats", "Ev Idx", "s"})
    CHECK(event_field(key) == Field::kCount);
  for (const std::string_view key : {"", "External Id", "gridd", "streams", "Record function id", "args"}) {
    CHECK(argument_field(key) == Field::kCount);
  }
  CHECK(argument_field(std::string(32, 'x')) == Field::kCount);
  CHECK(argument_field(std::string(33, 'x')) == Field::kCount);
  CHECK(argument_field(std::string(5000, 'x')) == Field::kCount);
}

TEST_CASE("the last one of repeated keys wins, clear forgets all") {
  EventFields fields;
  CHECK_FALSE(fields.has(Field::kPh));
  CHECK(fields[Field::kPh].empty());
  fields.set(Field::kPh, "\"B\"");
  fields.set(Field::kPh, "\"X\"");
  fields.set(Field::kCopyKind, "1");
  CHECK(fields[Field::kPh] == "\"X\"");
  CHECK(fields.has(Field::kCopyKind));
  fields.clear();
  CHECK_FALSE(fields.has(Field::kPh));
  CHECK(fields[Field::kPh].empty());
  CHECK(fields[Field::kCopyKind].empty());
}

}  // namespace tracedb
