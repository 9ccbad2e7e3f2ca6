// The traces and indexes that a report is about: those named, those found in folders, fitting a pattern or listed in a
// file; from each path a valid index; and how a report is made of each of them although some cannot be read.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "index/index.h"
#include "trace_query/options.h"

namespace tracedb {

// In the order given, each folder replaced by the traces in it and below it, in the order of their paths, and by those
// indexes whose trace is not there; a pattern (* ? [) that is no file's name by the files that fit it. `files_from`: a
// file that lists more of them, "-" on standard input. What yields nothing stays as it is, for its opening to fail.
// Folders are without what keep_one_form() leaves out.
std::vector<std::string> find_inputs(std::span<const std::string> given, const std::optional<std::string>& files_from,
                                     std::vector<std::string>* notes = nullptr);

// Of traces and indexes, leaves one of those that are of one run (keep_one_source_a_run()); a note says so.
void keep_one_form(std::vector<std::string>& inputs, std::vector<std::string>* notes);

// One that can be read once only, and so opened once: standard input, a pipe.
bool is_stream(const std::filesystem::path& given);

// In one line, with the name of the input.
std::string complaint(const std::string& input, const Error& why);

// Calls `make` for each input. Where there are several, what it throws for one is printed in one line and the others
// are gone on with; an interruption or a limit of the run ends it.
class InputLoop {
 public:
  explicit InputLoop(std::span<const std::string> inputs) : inputs_(inputs) {}

  // False: nothing was made of this input.
  bool attempt(const std::string& input, const std::function<void()>& make);
  // 0 where all went well, else what the program exits with: that of the failure where no input was left, else 3.
  [[nodiscard]] int exit_code() const;
  [[nodiscard]] bool any_answered() const { return answered_ > 0; }

 private:
  std::span<const std::string> inputs_;
  std::size_t answered_ = 0;
  std::optional<int> first_failure_;
  bool same_failure_ = true;
};

struct OpenedTrace {
  Index index;
  std::vector<std::string> notes;  // for people: source missing, trace cut short, ...
};

// An index is opened and compared with its trace, a trace gets the index that lies beside it or in the cache, or a new
// one. An index whose trace has changed is rebuilt where the trace was given, and refused where the index was.
OpenedTrace open_trace(const std::filesystem::path& given, const CommandLine& line);

}  // namespace tracedb
