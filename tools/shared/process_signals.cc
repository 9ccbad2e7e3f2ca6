#include "shared/process_signals.h"

#include <cxxabi.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>
#include <typeinfo>

#include "base/error.h"

namespace tracedb {
namespace {

// A handler can reach nothing else.
std::atomic<bool> requested = false;
std::atomic<int> received = SIGINT;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void request_end(int signal) {
  received = signal;
  requested = true;
}

void handle(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = request_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_ending_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal);
  std::signal(SIGXFSZ, SIG_IGN);
}

void release_ending_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == request_end) std::signal(signal, SIG_DFL);
  }
  if (requested) std::raise(received);
}

const std::atomic<bool>& end_requested() { return requested; }

int signal_exit_code() { return 128 + received.load(); }

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
