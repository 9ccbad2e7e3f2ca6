#include "index/without_device.h"

namespace tracedb {

std::string without_device(const Index& index) {
  constexpr const char* kSql =
      "SELECT sample FROM issue WHERE kind IN ('no_events', 'no_device_events', 'foreign_format') ORDER BY kind LIMIT "
      "1";
  return index.database().query_text(kSql).value_or("");
}

}  // namespace tracedb
