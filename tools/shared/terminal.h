// The programs and the terminal they run on: signals, progress, the width of a line.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "ingest/ingest.h"

namespace tracedb {

// ---- signals. The first SIGINT, SIGTERM or SIGHUP requests an orderly end: it sets a flag that the library checks.
// The second one ends the process at once.

// Those three from now on, unless they were ignored from the start (nohup). SIGXFSZ becomes a write error.
void catch_ending_signals();

// They end the process from now on; at once if one of them came meanwhile.
void release_ending_signals();

const std::atomic<bool>& end_requested();

// 128 + the number of the signal that came, else 130.
int signal_exit_code();

// Where nothing can be thrown any more, this line says so, and the exit code is that of resources that ran out. To be
// called first in main(); `line` must stay.
void install_out_of_memory_handler(const char* line);

// Error{kResource} where not all that was printed could be written; that nobody reads it any more is none.
void finish_standard_output();

// ---- progress of ingest on standard error: a line that is redrawn on a terminal, otherwise a line at intervals.
// Bytes, MB/s, events/s and the time left, of one trace or of all together; of several also how many are done and which
// are being read. Lines continue while no data arrives, to show that the program is alive.

enum class ProgressMode { kAuto, kAlways, kNever };

// "812 B", "3.20 MB"
std::string human_bytes(std::uint64_t bytes);

struct ProgressOptions {
  ProgressMode mode = ProgressMode::kAuto;
  std::chrono::nanoseconds heartbeat = std::chrono::seconds(10);  // between lines that are not redrawn
  std::size_t traces = 0;
  std::uint64_t total_bytes = 0;  // of all of them; 0: not known
};

// One thread at a time.
class ProgressLine {
 public:
  explicit ProgressLine(const ProgressOptions& options);
  ~ProgressLine() { clear(); }
  ProgressLine& operator=(ProgressLine&&) = delete;

  void started(const std::filesystem::path& trace) { running_[trace] = {}; }
  void update(const std::filesystem::path& trace, const IngestProgress& progress);
  void finished(const std::filesystem::path& trace, std::uint64_t bytes);
  void show();   // if it is time to
  void clear();  // before something else is printed

  [[nodiscard]] bool is_shown() const { return shown_; }
  [[nodiscard]] std::chrono::nanoseconds interval() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::string line() const;
  [[nodiscard]] std::string running_traces() const;

  ProgressOptions options_;
  bool redrawn_, shown_, drawn_ = false;
  std::size_t done_ = 0;
  std::uint64_t done_bytes_ = 0;               // of traces that need not be looked at any more
  std::uint64_t read_bytes_ = 0, events_ = 0;  // of those among them that were read
  std::map<std::filesystem::path, IngestProgress> running_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

// Characters in a line of a table or of progress: $TRACEDB_COLUMNS or $COLUMNS, where they are numbers, else what the
// terminal behind the file descriptor says; nullopt: it is none.
std::optional<std::size_t> line_width(int descriptor);

}  // namespace tracedb
