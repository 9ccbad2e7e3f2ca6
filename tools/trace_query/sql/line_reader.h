// Lines that a person types on a terminal: with editing, history and completion where the program was built with
// libedit and the terminal can move its cursor, else as the terminal gives them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct TypedLine {
  std::string text;           // without the line break
  bool is_cancelled = false;  // by Ctrl-C; the text is empty
};

class LineReader {
 public:
  // What a word may be completed to; called while a line is typed.
  using Complete = std::function<std::vector<std::string>(std::string_view word)>;

  // `history`: file of earlier lines, made where it is not there, readable to its owner only; empty: none is kept.
  // `interrupted` is set by the handler of SIGINT, on the thread that reads: a line that it finds set is cancelled.
  LineReader(std::string history, Complete complete, const std::atomic<bool>& interrupted);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // nullopt at the end of the input (Ctrl-D).
  std::optional<TypedLine> read(const std::string& prompt);

 private:
  struct State;
  const std::atomic<bool>& interrupted_;
  std::unique_ptr<State> state_;
};

bool has_line_editing();  // the program was built with libedit, and the terminal can be edited on

// $XDG_STATE_HOME/tracedb/NAME, else ~/.local/state/tracedb/NAME, its folder made for its owner only; empty where there
// is no place for it.
std::string state_file(const std::string& name);

}  // namespace tracedb
