#include "ingest_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "report/escape.h"

namespace tracedb {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kLine = std::chrono::seconds(10);
constexpr std::size_t kNamesShown = 2;
constexpr std::size_t kNameWidth = 28;

std::string part_done(const IngestProgress& progress) {
  if (progress.linking) return "linking";
  if (progress.total_bytes == 0) return human_bytes(progress.file_bytes);
  return fmt::format("{} %", 100 * progress.file_bytes / progress.total_bytes);
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr double kMega = 1e6;
  return bytes < 10'000 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} MB", static_cast<double>(bytes) / kMega);
}

ProgressLine::ProgressLine(ProgressMode mode, std::size_t traces)
    : redrawn_(::isatty(STDERR_FILENO) != 0), shown_(mode != ProgressMode::kNever), traces_(traces) {
  if (mode == ProgressMode::kAlways) redrawn_ = true;
}

void ProgressLine::update(const std::filesystem::path& trace, const IngestProgress& progress) {
  running_[trace] = progress;
  const auto now = Clock::now();
  if (!shown_ || now - last_ < (redrawn_ ? Clock::duration(kRedraw) : Clock::duration(kLine))) return;
  last_ = now;
  const std::string line = traces_ == 1 ? line_of_one(progress) : line_of_many();
  if (redrawn_) {
    std::cerr << "\r\x1b[K" << line << std::flush;
    drawn_ = true;
  } else {
    std::cerr << line << '\n';
  }
}

void ProgressLine::finished(const std::filesystem::path& trace) {
  ++done_;
  const auto found = running_.find(trace);
  if (found == running_.end()) return;
  done_bytes_ += found->second.file_bytes;
  running_.erase(found);
}

void ProgressLine::clear() {
  if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

std::string ProgressLine::line_of_one(const IngestProgress& progress) const {
  if (progress.linking) return "linking kernels, calls and stacks";
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string line = fmt::format("{}  {:.0f} MB/s  {} events  {:.0f} events/s", human_bytes(progress.file_bytes),
                                 static_cast<double>(progress.file_bytes) / 1e6 / seconds, progress.events,
                                 static_cast<double>(progress.events) / seconds);
  if (progress.total_bytes > progress.file_bytes && progress.file_bytes > 0) {
    const double left = static_cast<double>(progress.total_bytes - progress.file_bytes);
    line += fmt::format("  {}  {:.0f} s left", part_done(progress),
                        left / static_cast<double>(progress.file_bytes) * seconds);
  }
  return line;
}

std::string ProgressLine::line_of_many() const {
  std::uint64_t bytes = done_bytes_;
  for (const auto& [trace, progress] : running_) bytes += progress.file_bytes;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string line =
      fmt::format("{} of {} done  {:.0f} MB/s", done_, traces_, static_cast<double>(bytes) / 1e6 / seconds);
  std::size_t names = 0;
  for (const auto& [trace, progress] : running_) {
    if (names++ == kNamesShown) {
      line += fmt::format("  and {} more", running_.size() - kNamesShown);
      break;
    }
    line +=
        fmt::format("  {} {}", shorten_middle(escape_text(trace.filename().string()), kNameWidth), part_done(progress));
  }
  return line;
}

}  // namespace tracedb
