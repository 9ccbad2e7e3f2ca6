// How far a run of ingest is, on standard error: a line that is redrawn on a terminal, else a line every ten seconds.
// One trace shows its bytes, speed and time left; several show how many are done and which are being read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "ingest/ingest.h"

namespace tracedb {

enum class ProgressMode { kAuto, kAlways, kNever };

// "812 B", "3.20 MB"
std::string human_bytes(std::uint64_t bytes);

class ProgressLine {
 public:
  ProgressLine(ProgressMode mode, std::size_t traces);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void started(const std::filesystem::path& trace) { running_[trace] = {}; }
  void update(const std::filesystem::path& trace, const IngestProgress& progress);
  void finished(const std::filesystem::path& trace);
  void clear();  // before something else is printed

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::string line_of_one(const IngestProgress& progress) const;
  [[nodiscard]] std::string line_of_many() const;

  bool redrawn_, shown_, drawn_ = false;
  std::size_t traces_, done_ = 0;
  std::uint64_t done_bytes_ = 0;
  std::map<std::filesystem::path, IngestProgress> running_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace tracedb
