#include "shared/process_memory.h"

#include <cxxabi.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>
#include <typeinfo>

#include "base/error.h"

namespace tracedb {

void install_out_of_memory_handler(const char* line) {
  static const std::string_view kLine = line;
  static const std::terminate_handler kUsual = std::get_terminate();
  std::set_terminate([] {
    // None: the runtime library found no memory to make it. bad_alloc: thrown within a library where nothing may be
    // (simdjson, when it looks for the best implementation). Any other is a defect of the program.
    const std::type_info* exception = abi::__cxa_current_exception_type();
    if (exception != nullptr && *exception != typeid(std::bad_alloc)) kUsual();
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    written = ::write(STDERR_FILENO, "\n", 1);
    ::_exit(static_cast<int>(ErrorCode::kResource));
  });
}

}  // namespace tracedb
