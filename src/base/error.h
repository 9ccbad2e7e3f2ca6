// The one exception of the project: what happened, to which file, and what to do about it, in one line.
//
// Malformed trace content is not an Error: it is counted as an issue (trace/issue.h). An Error ends the file at hand;
// it is caught in the mains, in parallel.h and in failure.h only.
#pragma once

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tracedb {

// Values are the process exit codes users may rely on (README, "Exit codes").
enum class ErrorCode {
  kAnswerIsNo = 1,     // a gate was exceeded, a verification found a difference
  kUsage = 2,          // wrong arguments, wrong SQL
  kInput = 3,          // input unreadable, corrupt, or not what it claims to be
  kSalvaged = 4,       // issues were found and --strict was given
  kResource = 5,       // disk, memory, permission to write, time limit
  kTransient = 6,      // the source changed while being read, or another process holds the lock: try again
  kInterrupted = 130,  // by a signal; the program exits with 128 + its number
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// No room for what must be written: a full disk, a quota or a limit on file sizes. ingest.cc adds how much is needed.
class NoSpaceError : public Error {
 public:
  // `written`: bytes of the index that were written when it happened.
  explicit NoSpaceError(const std::string& message, std::uint64_t written = 0)
      : Error(ErrorCode::kResource, message), written_(written) {}
  [[nodiscard]] std::uint64_t written() const { return written_; }

 private:
  std::uint64_t written_;
};

inline bool is_no_space(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

}  // namespace tracedb
