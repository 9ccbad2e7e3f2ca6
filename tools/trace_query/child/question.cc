#include "trace_query/child/question.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostAnswerBytes = std::size_t{8} << 20U;  // of an answer
constexpr std::string_view kProgram = "trace-query: ";           // before what went wrong; notes have none

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

}  // namespace

Question::Question(std::span<const std::string> words) : is_over_folders_(is_over_folders(words)) {
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
  if (printed_.size() > kMostAnswerBytes || said_.size() > kMostAnswerBytes) {
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
  for (const std::string_view line : split_lines(said_)) {
    if (line.starts_with(kProgram)) return std::string(line.substr(kProgram.size()));
  }
  return fmt::format("it ended with code {} and said nothing", exit_code_);
}

}  // namespace tracedb
