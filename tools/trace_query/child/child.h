// What servers share: questions that child processes answer, and names of indexes in the place of paths.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace tracedb {

// A question that another process of this program answers: its limits are its own, and nothing it does harms the one
// that asked. One thread.
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
  [[nodiscard]] std::string message() const;             // the first that it said went wrong, and how many more
  [[nodiscard]] std::vector<std::string> notes() const;  // what it said beside its answer

 private:
  pid_t pid_ = -1;
  bool is_over_folders_;
  std::size_t most_bytes_;  // of an answer
  FileDescriptor output_, errors_;
  std::string printed_, said_;
  int exit_code_ = 0;
};

// The indexes below some folders, and files given by themselves. Links that lead elsewhere are left out, unless they
// are to be followed.
class IndexNames {
 public:
  // Error{kInput}: one of them is not there.
  explicit IndexNames(std::span<const std::string> given, bool follows = false);

  // Lists the folders anew where something came to them or went.
  void look_again();
  [[nodiscard]] std::span<const std::string> given() const { return given_; }  // real paths
  [[nodiscard]] bool follows() const { return follows_; }
  [[nodiscard]] const std::map<std::string, std::string>& paths() const { return paths_; }  // by name
  // Error{kUsage}: no index by that name, or of those there ever were none or several by it or part of it; says the
  // closest.
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] std::string path_by_part(const std::string& name) const;
  // A folder below one that was given, and the indexes in it; Error{kUsage}: there is none.
  [[nodiscard]] std::string folder_of(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> paths_below(const std::string& folder) const;
  // The text with names in the place of paths.
  [[nodiscard]] std::string without_paths(std::string_view text) const;
  // Changes where an index is built anew, something is noted in it, or the trace beside it changes.
  [[nodiscard]] std::string identity(const std::string& path) const;
  [[nodiscard]] std::string identity() const;  // of all of them, and of traces without an index

 private:
  [[nodiscard]] std::string prefix(std::size_t given) const;  // of names below it
  void take(const std::filesystem::path& folder, const std::string& before, const std::filesystem::path& path);
  [[nodiscard]] std::string whole(const std::string& name) const;  // "": there is none
  [[nodiscard]] Error no_single(const std::string& name, std::vector<std::string> closest) const;

  std::vector<std::string> given_, given_names_;
  bool follows_;
  std::map<std::string, std::string> paths_;
  std::set<std::string> seen_;                             // names of all that ever were there
  std::map<std::string, std::string, std::less<>> shown_;  // what stands in the place of each path
  std::vector<std::string> traces_;                        // beside indexes or without one
  std::vector<std::string> folders_;                       // that were looked into
  std::vector<std::string> unreadable_;                    // of them
  std::string state_;                                      // of the folders then; "": they may change unseen
  std::time_t looked_at_ = 0;
};

// Commands about one trace that print tables.
std::vector<std::string> table_names();

// The words of a command as pages have it, quoted as shell_word() does.
std::vector<std::string> words_of(std::string_view line);

}  // namespace tracedb
