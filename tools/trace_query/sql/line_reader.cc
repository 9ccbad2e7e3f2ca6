#include "trace_query/sql/line_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#ifdef TRACEDB_HAVE_LIBEDIT
#include <histedit.h>
#endif

namespace tracedb {
namespace {

namespace fs = std::filesystem;

fs::path state_folder() {
  const char* state = std::getenv("XDG_STATE_HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (state != nullptr && fs::path(state).is_absolute()) return fs::path(state) / "tracedb";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return home != nullptr && fs::path(home).is_absolute() ? fs::path(home) / ".local/state/tracedb" : fs::path();
}

}  // namespace

std::string state_file(const std::string& name) {
  const fs::path folder = state_folder();
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return folder.empty() ? "" : (folder / name).string();
  fs::create_directories(folder, error);
  if (error) return {};
  fs::permissions(folder, fs::perms::owner_all, error);
  return (folder / name).string();
}

#ifdef TRACEDB_HAVE_LIBEDIT

bool has_line_editing() { return true; }

struct LineReader::State {
  State(std::string history_file, Complete completions)
      : file(std::move(history_file)), complete(std::move(completions)), history(::history_init()) {
    constexpr int kLines = 2000;
    std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe): before there are threads
    HistEvent event{};
    ::history(history, &event, H_SETSIZE, kLines);
    ::history(history, &event, H_SETUNIQUE, 1);
    if (!file.empty()) ::history(history, &event, H_LOAD, file.c_str());
    edit = ::el_init("trace-query", stdin, stdout, stderr);
    ::el_set(edit, EL_CLIENTDATA, this);
    ::el_set(edit, EL_PROMPT, &State::prompt_of);
    ::el_set(edit, EL_EDITOR, "emacs");
    ::el_set(edit, EL_HIST, ::history, history);
    ::el_set(edit, EL_ADDFN, "complete", "complete the word", &State::complete_word);
    ::el_set(edit, EL_BIND, "^I", "complete", nullptr);
    // While a line is typed, Ctrl-C is a key: it cancels the line.
    ::el_set(edit, EL_SETTY, "-d", "-isig", nullptr);
    ::el_set(edit, EL_ADDFN, "cancel", "cancel the line", &State::cancel_line);
    ::el_set(edit, EL_BIND, "^C", "cancel", nullptr);
  }
  ~State() {
    ::el_end(edit);
    ::history_end(history);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void remember(const char* line) {
    HistEvent event{};
    ::history(history, &event, H_ENTER, line);
    if (file.empty()) return;
    const mode_t mask = ::umask(S_IRWXG | S_IRWXO);
    ::history(history, &event, H_SAVE, file.c_str());
    ::umask(mask);
  }

  static State& of(EditLine* edit) {
    void* data = nullptr;
    ::el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }

  static char* prompt_of(EditLine* edit) { return of(edit).prompt.data(); }

  static unsigned char cancel_line(EditLine* edit, int) {
    of(edit).is_cancelled = true;
    return CC_NEWLINE;
  }

  static unsigned char complete_word(EditLine* edit, int) {
    State& state = of(edit);
    const LineInfo* line = ::el_line(edit);
    const std::string_view before(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    const std::string_view word = before.substr(before.find_last_of(" \t,()=<>+-*/'\";|") + 1);
    std::vector<std::string> found = state.complete(word);
    if (found.empty()) return CC_ERROR;
    std::string common = found[0];
    for (const std::string& one : found) {
      common.resize(static_cast<std::size_t>(std::mismatch(common.begin(), common.end(), one.begin(), one.end()).first -
                                             common.begin()));
    }
    if (common.size() > word.size()) {
      ::el_deletestr(edit, static_cast<int>(word.size()));
      ::el_insertstr(edit, (common + (found.size() == 1 ? " " : "")).c_str());
      return CC_REFRESH;
    }
    constexpr std::size_t kMostShown = 100;
    std::cout << '\n';
    for (std::size_t i = 0; i < std::min(found.size(), kMostShown); ++i) std::cout << found[i] << "  ";
    std::cout << (found.size() > kMostShown ? "...\n" : "\n") << std::flush;
    return CC_REDISPLAY;
  }

  std::string file;
  Complete complete;
  History* history;
  EditLine* edit = nullptr;
  std::string prompt;
  bool is_cancelled = false;
};

std::optional<TypedLine> LineReader::read(const std::string& prompt) {
  state_->prompt = prompt;
  state_->is_cancelled = false;
  int length = 0;
  const char* line = ::el_gets(state_->edit, &length);
  if (state_->is_cancelled) {
    std::cout << "^C\n" << std::flush;
    ::el_reset(state_->edit);
    return TypedLine{{}, true};
  }
  if (line == nullptr || length <= 0) return std::nullopt;
  std::string text(line, static_cast<std::size_t>(length));
  if (text.find_first_not_of(" \t\r\n") != std::string::npos) state_->remember(line);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return TypedLine{text};
}

#else

bool has_line_editing() { return false; }

struct LineReader::State {
  State(std::string, Complete) {}
};

// By read(), which an interruption ends.
std::optional<TypedLine> LineReader::read(const std::string& prompt) {
  std::cout << prompt << std::flush;
  std::string text;
  char c = 0;
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) {
      std::cout << '\n';
      return TypedLine{{}, true};
    }
    if (got <= 0) return text.empty() ? std::nullopt : std::optional(TypedLine{text});
    if (c == '\n') return TypedLine{text};
    text += c;
  }
}

#endif

LineReader::LineReader(std::string history, Complete complete)
    : state_(std::make_unique<State>(std::move(history), std::move(complete))) {}

LineReader::~LineReader() = default;

}  // namespace tracedb
