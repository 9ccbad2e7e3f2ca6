#include "ingest/ascend/run_facts.h"

#include <fmt/format.h>

#include <string>

namespace tracedb {

void describe_ascend_run(SourceTables& tables, TraceFacts& facts) {
  tables.look_up("META_DATA", {{"name", "value"}, {}}, [&](const SourceRow& row) { tables.add_header(row); });
  std::string devices;
  tables.look_up("NPU_INFO", {{"id", "name"}, {}}, [&](const SourceRow& row) {
    if (const auto id = row[0].integer(); id && devices.size() <= kLargestHeader) {
      devices +=
          fmt::format(R"({}{{"id": {}, "name": {}}})", devices.empty() ? "" : ", ", *id, quote_json(row[1].text()));
    }
  });
  if (!devices.empty()) tables.add_header("deviceProperties", "[" + devices + "]");
  std::size_t ranks = 0;
  tables.look_up("RANK_DEVICE_MAP", {{"rankId", "deviceId"}, {}}, [&](const SourceRow& row) {
    const auto rank = row[0].integer();
    if (!rank || *rank < 0) return;
    facts.rank = ++ranks == 1 ? rank : std::nullopt;
    facts.rank_source = "RANK_DEVICE_MAP";
  });
}

}  // namespace tracedb
