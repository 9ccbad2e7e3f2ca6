// Where the columns of Ascend's tables of kernels are (kernel_details.csv, op_summary_*.csv), by any of the names that
// versions of its profilers give them. nullopt: absent.
#pragma once

#include <cstddef>
#include <optional>

#include "base/stream/csv_reader.h"

namespace tracedb {

struct AscendColumns {
  explicit AscendColumns(const CsvHeader& header)
      : type(header.find({"Type", "OP Type", "Op Type"})),
        name(header.find({"Name", "Op Name", "OP Name"})),
        start(header.find({"Start Time(us)", "Task Start Time(us)", "Task Start Time"})),
        duration(header.find({"Duration(us)", "Task Duration(us)"})),
        device(header.find({"Device_id", "Device ID", "Device Id"})),
        stream(header.find({"Stream ID", "Stream Id"})),
        shapes(header.find({"Input Shapes"})) {}

  [[nodiscard]] bool are_of_kernels() const { return duration && (type || name); }

  std::optional<std::size_t> type, name, start, duration, device, stream, shapes;
};

}  // namespace tracedb
