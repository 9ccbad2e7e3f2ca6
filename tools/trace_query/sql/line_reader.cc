#include "trace_query/sql/line_reader.h"

#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cwchar>
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

// SIGINT is held while it exists, and let in only while input is waited for: one that comes between a prompt and the
// wait is not lost.
class InputWait {
 public:
  explicit InputWait(const std::atomic<bool>& interrupted) : interrupted_(interrupted) {
    sigset_t interrupts;
    ::sigemptyset(&interrupts);
    ::sigaddset(&interrupts, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
  }
  ~InputWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InputWait(const InputWait&) = delete;
  InputWait& operator=(const InputWait&) = delete;

  // True: there is input, or it has ended. False: SIGINT came.
  [[nodiscard]] bool wait() const {
    while (!interrupted_) {
      fd_set input;
      FD_ZERO(&input);
      FD_SET(STDIN_FILENO, &input);
      if (::pselect(STDIN_FILENO + 1, &input, nullptr, nullptr, nullptr, &before_) >= 0 || errno != EINTR) return true;
    }
    return false;
  }

 private:
  const std::atomic<bool>& interrupted_;
  sigset_t before_{};
};

std::optional<TypedLine> read_plain_line(const std::string& prompt, const InputWait& input) {
  std::cout << prompt << std::flush;
  std::string text;
  while (input.wait()) {
    char c = 0;
    if (::read(STDIN_FILENO, &c, 1) <= 0) return text.empty() ? std::nullopt : std::optional(TypedLine{text});
    if (c == '\n') return TypedLine{text};
    text += c;
  }
  std::cout << '\n';
  return TypedLine{{}, true};
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

// TERM of a terminal that moves no cursor: a buffer of an editor, a log.
bool has_line_editing() {
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

struct LineReader::State {
  static constexpr wchar_t kCancel = L'\x03';  // Ctrl-C

  State(std::string history_file, Complete completions)
      : file(std::move(history_file)), complete(std::move(completions)) {
    if (!has_line_editing()) return;
    constexpr int kLines = 2000;
    history = ::history_init();
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
    ::el_set(edit, EL_GETCFN, &State::read_character);
    ::el_set(edit, EL_ADDFN, "complete", "complete the word", &State::complete_word);
    ::el_set(edit, EL_BIND, "^I", "complete", nullptr);
    // While a line is typed, Ctrl-C is a key: it cancels the line. Between the prompt and the terminal's change of mode
    // it still is a signal, which read_character() takes for that key.
    ::el_set(edit, EL_SETTY, "-d", "-isig", nullptr);
    ::el_set(edit, EL_ADDFN, "cancel", "cancel the line", &State::cancel_line);
    ::el_set(edit, EL_BIND, "^C", "cancel", nullptr);
  }
  ~State() {
    if (edit == nullptr) return;
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

  static int read_character(EditLine* edit, wchar_t* character) {
    if (!of(edit).input->wait()) {
      *character = kCancel;
      return 1;
    }
    std::mbstate_t state{};
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) == 1) {
      // A Ctrl-D before the terminal has changed its mode arrives as this; libedit would quote the next key.
      if (byte == '\0') continue;
      const std::size_t length = std::mbrtowc(character, &byte, 1, &state);
      if (length == 1) return 1;
      if (length == static_cast<std::size_t>(-1)) state = {};  // no character in this encoding: it is left out
    }
    return 0;
  }

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
  History* history = nullptr;
  EditLine* edit = nullptr;
  std::string prompt;
  const InputWait* input = nullptr;  // of the line that is read
  bool is_cancelled = false;
};

std::optional<TypedLine> LineReader::read(const std::string& prompt) {
  const InputWait input(interrupted_);
  if (state_->edit == nullptr) return read_plain_line(prompt, input);
  state_->input = &input;
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

std::optional<TypedLine> LineReader::read(const std::string& prompt) {
  return read_plain_line(prompt, InputWait(interrupted_));
}

#endif

LineReader::LineReader(std::string history, Complete complete, const std::atomic<bool>& interrupted)
    : interrupted_(interrupted), state_(std::make_unique<State>(std::move(history), std::move(complete))) {}

LineReader::~LineReader() = default;

}  // namespace tracedb
