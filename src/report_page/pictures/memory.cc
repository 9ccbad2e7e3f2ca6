// Memory that the framework has allocated, over time.
#include <fmt/format.h>

#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostDevices = 4;

}  // namespace

Pictures memory_curves(const PictureInput& in) {
  Pictures out;
  Statement rows(in.indexes.front()->database(), script("pictures/memory_curve"));
  DataWriter data;
  std::string device;
  bool relative = false;
  const auto finish = [&] {
    if (device.empty()) return;
    data.close(']');
    out.push_back(
        {fmt::format("memory-{}", out.size()), "memory", fmt::format("Memory of {} over time", device),
         fmt::format("Allocated by the framework, at most in each piece of the time, and what its allocator reserves, "
                     "where that is recorded; of the whole trace, whatever is selected.{}",
                     relative ? " Counted from the first event: not all totals are recorded." : ""),
         data.take()});
  };
  while (rows.step()) {
    if (rows.text(0) != device) {
      finish();
      if (out.size() == kMostDevices) return out;
      device = rows.text(0);
      relative = false;
      data = DataWriter();
      data.member("device", device).key("points").open('[');
    }
    relative = relative || rows.int64(6) != 0;
    data.row(rows.int64(1), rows.int64(2), rows.int64(3), rows.int64(4), rows.is_null(5) ? 0 : rows.int64(5));
  }
  finish();
  return out;
}

}  // namespace tracedb
