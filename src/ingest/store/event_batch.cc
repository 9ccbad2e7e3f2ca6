#include "ingest/store/event_batch.h"

namespace tracedb {

void EventBatch::clear() {
  strings.clear();
  numbers.clear();
  scopes.clear();
  threads.clear();
  streams.clear();
  configs.clear();
  shapes.clear();
  python.clear();
  operators.clear();
  calls.clear();
  device_events.clear();
  collectives.clear();
  annotations.clear();
  slices.clear();
  tasks.clear();
  instants.clear();
  counters.clear();
  flows.clear();
  edges.clear();
  metadata.clear();
  args.clear();
  kinds.clear();
  first_ts = kUnset;
  issues.clear();
}

}  // namespace tracedb
