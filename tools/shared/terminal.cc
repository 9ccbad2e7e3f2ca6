#include "shared/terminal.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>
#include <typeinfo>

#include "base/error.h"
#include "base/text/decimal.h"
#include "report/escape.h"

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

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr std::size_t kNamesShown = 2;
constexpr std::size_t kNameWidth = 28;
constexpr std::size_t kUsualWidth = 80;

std::string part_done(const IngestProgress& progress) {
  if (progress.linking) return "linking";
  if (progress.total_bytes == 0) return human_bytes(progress.file_bytes);
  return fmt::format("{} %", 100 * progress.file_bytes / progress.total_bytes);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{} min", whole / 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
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

void finish_standard_output() {
  if (std::cout.flush()) return;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};  // an error of a pipe: nobody reads it any more
  if (::poll(&output, 1, 0) < 1 || (output.revents & POLLERR) == 0)
    throw Error(ErrorCode::kResource, "standard output: not everything could be written");
}

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

std::string human_bytes(std::uint64_t bytes) {
  constexpr double kMega = 1e6;
  return bytes < 10'000 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} MB", static_cast<double>(bytes) / kMega);
}

ProgressLine::ProgressLine(const ProgressOptions& options)
    : options_(options),
      redrawn_(options.mode == ProgressMode::kAlways || ::isatty(STDERR_FILENO) != 0),
      shown_(options.mode != ProgressMode::kNever) {}

std::chrono::nanoseconds ProgressLine::interval() const {
  return redrawn_ ? std::chrono::nanoseconds(kRedraw) : options_.heartbeat;
}

void ProgressLine::update(const std::filesystem::path& trace, const IngestProgress& progress) {
  IngestProgress& known = running_[trace];
  const std::uint64_t events = std::max(known.events, progress.events);  // not counted any more while linking
  known = progress;
  known.events = events;
  show();
}

void ProgressLine::finished(const std::filesystem::path& trace, std::uint64_t bytes) {
  ++done_;
  const auto found = running_.find(trace);
  if (found != running_.end()) {
    read_bytes_ += found->second.file_bytes;
    events_ += found->second.events;
    running_.erase(found);
  }
  done_bytes_ += bytes;
}

void ProgressLine::show() {
  const auto now = Clock::now();
  if (!shown_ || running_.empty() || now - last_ < interval()) return;
  last_ = now;
  if (redrawn_) {
    // One line however narrow the terminal is: one that wraps could not be redrawn.
    const std::size_t width = line_width(STDERR_FILENO).value_or(kUsualWidth);
    std::cerr << "\r\x1b[K" << wrap_text(line(), width > 1 ? width - 1 : 1).front() << std::flush;
    drawn_ = true;
  } else {
    std::cerr << line() + '\n' << std::flush;
  }
}

void ProgressLine::clear() {
  if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

std::string ProgressLine::line() const {
  std::uint64_t accounted = done_bytes_, read = read_bytes_, events = events_;
  for (const auto& [trace, progress] : running_) {
    accounted += progress.file_bytes;
    read += progress.file_bytes;
    events += progress.events;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double speed = static_cast<double>(read) / seconds;
  std::string line = options_.traces == 1 ? "" : fmt::format("{} of {} done  ", done_, options_.traces);
  line += fmt::format("{}  {:.0f} MB/s  {:.0f} events/s", human_bytes(read), speed / 1e6,
                      static_cast<double>(events) / seconds);
  if (options_.total_bytes > accounted && read > 0) {
    line += fmt::format("  {} %  {} left", 100 * accounted / options_.total_bytes,
                        time_text(static_cast<double>(options_.total_bytes - accounted) / speed));
  } else {
    line += fmt::format("  {} so far", time_text(seconds));
  }
  return line + running_traces();
}

std::string ProgressLine::running_traces() const {
  if (options_.traces == 1) return running_.begin()->second.linking ? "  linking kernels, calls and stacks" : "";
  std::string text;
  std::size_t names = 0;
  for (const auto& [trace, progress] : running_) {
    if (names++ == kNamesShown) return text + fmt::format("  and {} more", running_.size() - kNamesShown);
    text +=
        fmt::format("  {} {}", shorten_middle(escape_text(trace.filename().string()), kNameWidth), part_done(progress));
  }
  return text;
}

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
