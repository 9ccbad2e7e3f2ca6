// A question that another process of this program answers: its limits are its own, and nothing it does harms the one
// that asked. One thread.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "base/files/file_descriptor.h"

namespace tracedb {

class Question {
 public:
  // Starts `trace-query WORDS`, without standard input; it ends with this process. Error{kResource} where it cannot be
  // started.
  explicit Question(std::span<const std::string> words);
  ~Question() { stop(); }
  Question& operator=(Question&&) = delete;

  void add_outputs(std::vector<pollfd>& to) const;  // to be polled for input
  // Takes what there is. True: it has ended, and the rest is known.
  bool read();
  void stop();  // at once, whatever it does

  [[nodiscard]] int exit_code() const { return exit_code_; }  // 128 + the signal where one ended it
  // It ended well; of a command over folders also where some of their traces could not be read, which others were.
  [[nodiscard]] bool has_answer() const;
  [[nodiscard]] const std::string& printed() const { return printed_; }  // to be thrown away without has_answer()
  [[nodiscard]] std::string message() const;                             // what it said went wrong, in one line

 private:
  pid_t pid_ = -1;
  bool is_over_folders_;
  FileDescriptor output_, errors_;
  std::string printed_, said_;
  int exit_code_ = 0;
};

}  // namespace tracedb
