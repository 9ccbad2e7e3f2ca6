// A page of sentences, as plain text of a given width or as Markdown. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/sentence.h"

namespace tracedb {

enum class BlockKind {
  kHeadline,  // a paragraph at the top
  kHeading,   // of the blocks that follow
  kItem,      // of a list: `mark` before the first line, the other lines below its text
  kCommand,   // of a shell, to be copied: broken with backslashes; indented by `mark`
};

// Where to look next: a command of trace-query as a value, for those who do not read a shell.
struct NextStep {
  std::string command;                                         // "gaps"
  std::vector<std::string> sides;                              // "$T"; "$A" the baseline, "$B" the candidate
  std::vector<std::pair<std::string, std::string>> options{};  // "phase", "decode"
};

std::string shell_text(const NextStep& step);  // "trace-query gaps $T --phase decode"
std::string json_text(const NextStep& step);   // {"command": "gaps", "sides": ["$T"], "options": {"phase": "decode"}}

struct Block {
  BlockKind kind = BlockKind::kItem;
  std::string mark, text;
  std::string id = {};  // of a sentence: as in sentence.h
  Figures figures = {};
  std::string next_step = {};  // of a command: json_text()
};

using Page = std::vector<Block>;

// Quotes the sides in its commands for a shell, where one of the paths that they stand for needs that.
void quote_sides(Page& page, const std::string& paths);

// The mark of an item without a name or number: the bullet of a text. Markdown and HTML have their own.
inline constexpr const char* kBullet = "-";

// What writes a page of sentences derives from this. What a block says is a sentence, or a text without figures.
class PageWriter {
 protected:
  void add_headline(auto said) { add(BlockKind::kHeadline, std::move(said)); }
  void add_heading(auto said) { add(BlockKind::kHeading, std::move(said)); }
  void add_item(auto said, std::string mark = "") { add(BlockKind::kItem, std::move(said), std::move(mark)); }
  void add_command(std::string text, std::string mark = "") {
    add(BlockKind::kCommand, std::move(text), std::move(mark));
  }
  void add_command(const NextStep& step, std::string mark = "") {
    page_.push_back({BlockKind::kCommand, std::move(mark), shell_text(step), {}, {}, json_text(step)});
  }
  // Below an item, once in a page.
  void add_below(const NextStep& step) {
    if (said_.insert(shell_text(step)).second) add_command(step, "   ");
  }
  // Of so many things in a list, `said` were; `text` says of {n} others where they are.
  void add_more(std::string id, std::string_view text, std::size_t all, std::size_t said) {
    if (all > said) add_item(say(std::move(id), text, {{"n", all - said}}));
  }
  [[nodiscard]] Page take() { return std::move(page_); }

 private:
  void add(BlockKind kind, Sentence sentence, std::string mark = "") {
    page_.push_back(
        {kind, std::move(mark), std::move(sentence.text), std::move(sentence.id), std::move(sentence.figures)});
  }
  void add(BlockKind kind, std::string text, std::string mark = "") {
    add(kind, Sentence{std::move(text)}, std::move(mark));
  }

  Page page_;
  std::set<std::string> said_;  // commands
};

std::string page_text(const Page& page, std::size_t width);
// The page that says most, write(most) .. write(1), of those that take no more than `lines` of `width`; else write(1).
Page fitting_page(std::size_t most, std::size_t lines, std::size_t width,
                  const std::function<Page(std::size_t)>& write);
std::string page_markdown(const Page& page);

// A word of a shell's command: quoted where it holds more than letters, digits and _ . / - = + , : @ %.
std::string shell_word(std::string_view text);

}  // namespace tracedb
