#include "shared/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text/decimal.h"

namespace tracedb {

std::optional<std::size_t> line_width(int descriptor) {
  for (const char* name : {"TRACEDB_COLUMNS", "COLUMNS"}) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    const auto width = text == nullptr ? std::nullopt : parse_int64(text);
    if (width && *width > 0) return static_cast<std::size_t>(*width);
  }
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace tracedb
