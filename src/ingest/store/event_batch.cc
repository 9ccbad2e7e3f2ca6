#include "ingest/store/event_batch.h"

#include "base/unknown.h"

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
  endpoints.clear();
  metadata.clear();
  args.clear();
  kinds.clear();
  first_ts = kUnknownValue;
  issues.clear();
}

}  // namespace tracedb
