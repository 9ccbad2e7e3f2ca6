#include "shared/process_signals.h"

#include <csignal>

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

}  // namespace tracedb
