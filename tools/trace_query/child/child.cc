#include "trace_query/child/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/files/input_file.h"
#include "base/stream/content_hash.h"
#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/text/closest_name.h"
#include "base/text/split.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "report/json_text.h"
#include "shared/usage_error.h"
#include "trace_query/command.h"

namespace tracedb {
namespace {

// ---- questions

constexpr std::size_t kMostAnswerBytes = std::size_t{8} << 20U;   // of an answer
constexpr std::size_t kMostWindowBytes = std::size_t{32} << 20U;  // of a file for another program
constexpr std::string_view kProgram = "trace-query: ";            // before what went wrong; notes have none

// They print once, when all is known; a report of a folder is that of ranks.
constexpr std::string_view kOverFolders[] = {"ls", "trend", "ranks"};

bool is_over_folders(std::span<const std::string> words) {
  std::error_code error;
  return std::ranges::find(kOverFolders, words.front()) != std::end(kOverFolders) ||
         (words.front() == "report" && words.size() > 1 && std::filesystem::is_directory(words[1], error));
}

struct Pipe {
  FileDescriptor read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::kResource, fmt::format("no further pipe: {}", std::strerror(errno)));
    }
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
  }
};

// In the new process: nothing but system calls until it is another program.
[[noreturn]] void become(char* const* arguments, int output, int errors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);  // who asks may wait for its signals otherwise
  const int nothing = ::open("/dev/null", O_RDONLY);
  const bool ready = ::getppid() == parent && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                     ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0;
  if (ready) ::execv("/proc/self/exe", arguments);
  constexpr std::string_view kTooLong = "trace-query: the question is too long: at most 128 kB\n";
  if (errno == E2BIG && ::write(errors, kTooLong.data(), kTooLong.size()) < 0) ::_exit(1);
  ::_exit(static_cast<int>(ErrorCode::kResource));
}

// False: there is no more to come.
bool take_bytes(const FileDescriptor& from, std::string& to) {
  if (!from.is_open()) return false;
  std::array<char, 65536> bytes;
  const ssize_t got = ::read(from.get(), bytes.data(), bytes.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  to.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0;
}

// ---- names of indexes

// Changes where an entry comes to one of them or goes. "": one is gone, or changed so lately that the next change
// could have the same time.
std::string state_of(const std::vector<std::string>& folders, std::time_t now) {
  std::string out;
  for (const std::string& folder : folders) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0 || status.st_ctim.tv_sec + 1 >= now) return "";
    out += fmt::format("{}:{}.{};", status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  }
  return out;
}

std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  return fmt::format("{}:{}:{}:{}.{};", path, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

// Behind the name of a folder: it is the begin of another one.
bool goes_on(std::string_view text) {
  return !text.empty() && (is_ascii_letter(text.front()) || is_ascii_digit(text.front()) ||
                           std::string_view("/._-").find(text.front()) != std::string_view::npos);
}

// Its last part, and as many before it as no other of them ends with.
std::string name_among(const std::vector<std::string>& paths, const std::string& path) {
  std::size_t slash = path.rfind('/');
  const auto is_shared = [&] {
    const std::string_view end = std::string_view(path).substr(slash);
    return std::ranges::count_if(paths, [&](const std::string& one) { return one.ends_with(end); }) > 1;
  };
  while (slash != 0 && slash != std::string::npos && is_shared()) slash = path.rfind('/', slash - 1);
  return path.substr(slash + 1);
}

std::string without_suffix(const std::string& name) {
  return name.ends_with(kIndexSuffix) ? name.substr(0, name.rfind(kIndexSuffix)) : name;
}

}  // namespace

Question::Question(std::span<const std::string> words)
    : is_over_folders_(is_over_folders(words)),
      most_bytes_(words.front() == "export" ? kMostWindowBytes : kMostAnswerBytes) {
  std::vector<std::string> copies = {"trace-query"};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Pipe output, errors;
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(arguments.data(), output.write.get(), errors.write.get(), parent);
  if (pid_ < 0) throw Error(ErrorCode::kResource, fmt::format("no further process: {}", std::strerror(errno)));
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
  for (const FileDescriptor* one : {&output_, &errors_}) ::fcntl(one->get(), F_SETFL, O_NONBLOCK);
}

void Question::add_outputs(std::vector<pollfd>& to) const {
  for (const FileDescriptor* one : {&output_, &errors_}) {
    if (one->is_open()) to.push_back({one->get(), POLLIN, 0});
  }
}

bool Question::read() {
  if (output_.is_open() && !take_bytes(output_, printed_)) output_ = FileDescriptor();
  if (errors_.is_open() && !take_bytes(errors_, said_)) errors_ = FileDescriptor();
  if (printed_.size() > most_bytes_ || said_.size() > kMostAnswerBytes) {
    stop();
    said_ = "trace-query: the answer is too large: narrow the question";
    exit_code_ = static_cast<int>(ErrorCode::kResource);
    return true;
  }
  if (output_.is_open() || errors_.is_open()) return false;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

void Question::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool Question::has_answer() const {
  return exit_code_ == 0 ||
         (is_over_folders_ && exit_code_ == static_cast<int>(ErrorCode::kInput) && !printed_.empty());
}

std::string Question::message() const {
  std::vector<std::string_view> faults = split_lines(said_);
  std::erase_if(faults, [](std::string_view line) { return !line.starts_with(kProgram); });
  if (faults.empty()) return fmt::format("it ended with code {} and said nothing", exit_code_);
  return fmt::format("{}{}", faults.front().substr(kProgram.size()),
                     faults.size() > 1 ? fmt::format(", and {} more", faults.size() - 1) : "");
}

std::vector<std::string> Question::notes() const {
  constexpr std::size_t kMost = 10;
  constexpr std::string_view kNote = "note: ";
  std::vector<std::string> out;
  for (std::string_view line : split_lines(said_)) {
    if (line.starts_with(kNote)) line.remove_prefix(kNote.size());
    if (!line.empty() && !line.starts_with(kProgram)) out.emplace_back(line);
  }
  if (out.size() <= kMost) return out;
  const std::size_t more = out.size() - kMost;
  out.resize(kMost);
  out.push_back(counted(more, "further note"));
  return out;
}

IndexNames::IndexNames(std::span<const std::string> given, bool follows) : follows_(follows) {
  for (const std::string& one : given) {
    if (!std::filesystem::exists(one)) throw Error(ErrorCode::kInput, printable_path(one) + ": not there");
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(one, error);
    if (std::ranges::find(given_, real.string()) != given_.end()) continue;
    given_.push_back(error ? one : real.string());
  }
  for (const std::string& one : given_) given_names_.push_back(name_among(given_, one));
}

void IndexNames::look_again() {
  constexpr std::time_t kLongestTrust = 10;  // s: some file systems keep no times of folders
  const std::time_t now = std::time(nullptr);
  if (!state_.empty() && now - looked_at_ < kLongestTrust && state_of(folders_, now) == state_) return;
  // Where no descriptor is left a folder seems to be empty.
  if (!FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)).is_open())
    throw Error(ErrorCode::kResource, "no file can be opened: too many are; try again");
  paths_.clear();
  shown_.clear();
  traces_.clear();
  folders_.clear();
  unreadable_.clear();
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const std::string& given = given_[i];
    std::error_code error;
    const std::filesystem::path folder(given);
    shown_[given + "/"] = prefix(i);
    shown_[given] = given_.size() > 1 ? given_names_[i] : ".";
    if (!std::filesystem::is_directory(folder, error)) {
      folders_.push_back(given);
      if (std::filesystem::exists(folder, error)) paths_[without_suffix(given_names_[i])] = given;
      continue;
    }
    const TraceList list = list_traces({folder}, default_globs(), {}, Indexes::kTake);
    for (const std::filesystem::path& entered : list.folders) folders_.push_back(entered.string());
    for (const TraceList::Note& note : list.unreadable) unreadable_.push_back(note.path.string());
    const std::string before = prefix(i);
    for (const std::filesystem::path& path : list.traces) take(folder, before, path);
  }
  const auto in_json = [](const std::string& text) {
    const std::string quoted = json_string(text);
    return quoted.substr(1, quoted.size() - 2);
  };
  for (const auto& [name, path] : paths_) {
    seen_.insert(name);
    shown_[path] = name;
    for (const std::string& text : {path, escape_text(path)}) {
      if (const std::string written = in_json(text); written != path) shown_[written] = in_json(escape_text(name));
    }
  }
  looked_at_ = now;
  state_ = state_of(folders_, now);
}

std::string IndexNames::prefix(std::size_t given) const { return given_.size() > 1 ? given_names_[given] + "/" : ""; }

void IndexNames::take(const std::filesystem::path& folder, const std::string& before,
                      const std::filesystem::path& path) {
  if (path.extension() != kIndexSuffix) {
    traces_.push_back(path.string());
    return;
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return;
  std::string below = real.lexically_relative(folder).string();
  if (follows_ && below.starts_with("..")) below = path.lexically_relative(folder).string();
  if (below.starts_with("..") || !below.ends_with(kIndexSuffix)) return;
  paths_[before + without_suffix(below)] = path.string();
}

std::string IndexNames::whole(const std::string& name) const {
  const std::string wanted = without_suffix(name);
  if (const auto found = paths_.find(wanted); found != paths_.end()) return found->second;
  for (const auto& [one, path] : paths_) {
    if (escape_text(one) == wanted) return path;
  }
  return "";
}

std::string IndexNames::path_of(const std::string& name) const {
  if (std::string path = whole(name); !path.empty()) return path;
  throw no_single(name, {});
}

std::string IndexNames::path_by_part(const std::string& name) const {
  if (std::string path = whole(name); !path.empty()) return path;
  const std::string wanted = without_suffix(name);
  std::vector<std::string> parts;
  constexpr std::string_view kLeftOut = "…";
  const std::size_t gap = wanted.find(kLeftOut);
  for (const std::string& one : seen_) {
    const std::string shown = escape_text(one);  // as an answer has it, but for its middle
    const bool is_part = gap == std::string::npos ? !wanted.empty() && one.find(wanted) != std::string::npos
                                                  : shown.size() >= wanted.size() - kLeftOut.size() &&
                                                        shown.starts_with(wanted.substr(0, gap)) &&
                                                        shown.ends_with(wanted.substr(gap + kLeftOut.size()));
    if (is_part) parts.push_back(one);
  }
  const auto found = parts.size() == 1 ? paths_.find(parts.front()) : paths_.end();
  if (found != paths_.end()) return found->second;
  std::erase_if(parts, [&](const std::string& one) { return !paths_.contains(one); });
  throw no_single(name, std::move(parts));
}

Error IndexNames::no_single(const std::string& name, std::vector<std::string> closest) const {
  constexpr std::size_t kMostNamed = 3;
  if (closest.empty()) {
    std::vector<std::string> all;
    for (const auto& [one, path] : paths_) all.push_back(one);
    closest = closest_first(without_suffix(name), std::move(all));
  }
  if (closest.empty()) return usage_error("no index '{}': there are none", name);
  return usage_error("no single index '{}': {}; the list of indexes has all", name, first_names(closest, kMostNamed));
}

std::string IndexNames::folder_of(const std::string& name) const {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const std::string before = prefix(i);
    for (const auto& [one, path] : paths_) {
      if (name == "." || name.empty()) return given_[i];
      const bool is_below = one.starts_with(name + "/") && one.starts_with(before);
      if (is_below)
        return (std::filesystem::path(given_[i]) / name.substr(std::min(before.size(), name.size()))).string();
    }
  }
  throw usage_error("no folder '{}' with indexes in it; '.' is all of them", name);
}

std::vector<std::string> IndexNames::paths_below(const std::string& folder) const {
  std::vector<std::string> out;
  for (const auto& [name, path] : paths_) {
    if (folder.empty() || folder == "." || name.starts_with(folder + "/")) out.push_back(path);
  }
  if (out.empty()) throw usage_error("no folder '{}' with indexes in it; '.' is all of them", folder);
  const bool is_whole = folder.empty() || folder == ".";
  const std::string below = is_whole ? "" : folder_of(folder) + "/";
  for (const std::string& path : unreadable_) {
    if (path.starts_with(below)) out.push_back(path);
  }
  return out;
}

std::string IndexNames::without_paths(std::string_view text) const {
  std::string out;
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/')) {
    out += text.substr(0, slash);
    text.remove_prefix(slash);
    // The longest path that stands here: the last one up to it, or the last up to what both begin with.
    std::string_view begin = text;
    auto found = shown_.upper_bound(begin);
    while (found != shown_.begin() && !text.starts_with((--found)->first)) {
      const std::string& path = found->first;
      begin = begin.substr(0, static_cast<std::size_t>(std::ranges::mismatch(begin, path).in1 - begin.begin()));
      found = shown_.upper_bound(begin);
    }
    const bool is_path =
        found != shown_.end() && text.starts_with(found->first) &&
        (std::ranges::find(given_, found->first) == given_.end() || !goes_on(text.substr(found->first.size())));
    out += is_path ? std::string_view(found->second) : text.substr(0, 1);
    text.remove_prefix(is_path ? found->first.size() : 1);
  }
  return out.append(text);
}

std::string IndexNames::identity(const std::string& path) const {
  return stamp_of(path) + stamp_of(path.substr(0, path.rfind(kIndexSuffix)));
}

std::string IndexNames::identity() const {
  std::string text;
  for (const auto& [name, path] : paths_) text += stamp_of(path);
  for (const std::string& path : traces_) text += stamp_of(path);
  return fmt::format("{:016x}", hash64(text));
}

std::vector<std::string> table_names() {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    if (!command.tables.empty() && command.name != "rules") out.emplace_back(command.name);
  }
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (quoted || (c != ' ' && c != '"')) {  // "$T"
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

}  // namespace tracedb
