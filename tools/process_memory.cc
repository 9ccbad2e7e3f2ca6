#include "process_memory.h"

#include <unistd.h>

#include <exception>
#include <string_view>

#include "base/error.h"

namespace tracedb {

void end_in_one_line_without_memory() {
  static const std::terminate_handler kUsual = std::get_terminate();
  std::set_terminate([] {
    // With an exception it is a mistake of ours; without one the runtime library found no memory to make it.
    if (std::current_exception()) kUsual();
    constexpr std::string_view kLine = "out of memory; give --max-memory less, or run fewer --jobs\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    ::_exit(static_cast<int>(ErrorCode::kResource));
  });
}

}  // namespace tracedb
