#include <algorithm>
#include <numeric>

#include "report/buffered_table.h"
#include "report/escape.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 12;  // no text is shortened below this before numbers are left out
constexpr std::size_t kLeast = 10;      // nor below this before other columns are
constexpr std::size_t kReadable = 32;   // before a text gets narrower than this, minor columns are left out

// How narrow texts may get before a column of this priority is left out.
std::size_t narrowest_beside(int priority) {
  constexpr int kMinor = 2, kMiddle = 4, kMajor = 7;
  constexpr std::size_t kHalf = 16;
  return priority <= kMinor ? kReadable : priority <= kMiddle ? kHalf : priority <= kMajor ? kNarrowest : kLeast;
}

class RenderedTable final : public BufferedTable {
 public:
  using BufferedTable::BufferedTable;

 private:
  std::string escape(const std::string& text) const override { return escape_text(text); }

  void print(const Text& whole) override {
    Text text = whole;
    const std::string left_out = make_room(text);
    const std::vector<std::size_t> widths = fit(text);
    shorten_names(text, widths);
    line(text.heads, widths, text, Cells::kHeads);
    std::vector<std::string> rules;
    rules.reserve(widths.size());
    for (const std::size_t width : widths) rules.emplace_back(width, '-');
    line(rules, widths, text, Cells::kRow);
    for (const auto& row : text.rows) line(row, widths, text, Cells::kRow);
    if (left_out.empty() || text.rows.empty()) return;
    for (const std::string& note : wrap_text("(no room for " + left_out + "; --wide shows all)", options_.width)) {
      out_ << note << '\n';
    }
  }

  // Of a head in two lines.
  static std::size_t folded_width(const std::string& head) {
    std::size_t best = display_width(head);
    for (std::size_t blank = head.find(' '); blank != std::string::npos; blank = head.find(' ', blank + 1)) {
      best = std::min(best, std::max(display_width(head.substr(0, blank)), display_width(head.substr(blank + 1))));
    }
    return best;
  }

  static std::size_t natural_width(const Text& text, std::size_t column) {
    std::size_t width = text.fold_heads ? folded_width(text.heads[column]) : display_width(text.heads[column]);
    for (const auto& row : text.rows) width = std::max(width, display_width(row[column]));
    return width;
  }

  static std::vector<std::size_t> natural_widths(const Text& text) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < text.heads.size(); ++c) widths.push_back(natural_width(text, c));
    return widths;
  }

  static std::size_t line_width(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  }

  static void erase_column(Text& text, std::size_t column) {
    const auto erase = [&](auto& of) { of.erase(of.begin() + static_cast<std::ptrdiff_t>(column)); };
    erase(text.heads);
    erase(text.right_aligned);
    erase(text.empty);
    erase(text.fit);
    for (auto& row : text.rows) erase(row);
  }

  // The widths at which texts are shortened to `shortest`, where they are longer.
  static std::size_t least_width(const Text& text, std::size_t shortest) {
    std::vector<std::size_t> widths = natural_widths(text);
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (!text.right_aligned[c]) widths[c] = std::min(widths[c], shortest);
    }
    return line_width(widths);
  }

  // Columns are left out where texts would be unreadable otherwise: those of little priority first, and the last of
  // them first; what says nothing goes before them. Returns their heads, in the order of the table.
  [[nodiscard]] std::string make_room(Text& text) const {
    if (options_.width == 0) return {};
    const std::vector<std::string> heads = text.heads;
    constexpr int kMostImportant = 9;
    text.fold_heads = least_width(text, kReadable) > options_.width;
    for (int priority = 0; priority <= kKeyPriority && !text.rows.empty(); ++priority) {
      leave_out(text, kReadable,
                [&](std::size_t c) { return c > 0 && text.empty[c] && text.fit[c].priority == priority; });
    }
    for (int priority = 0; priority < kMostImportant; ++priority) {
      leave_out(text, narrowest_beside(priority), [&](std::size_t c) { return text.fit[c].priority == priority; });
    }
    leave_out(text, kLeast, [](std::size_t c) { return c > 0; });
    std::string gone;
    std::size_t kept = 0;
    for (const std::string& head : heads) {
      if (kept < text.heads.size() && text.heads[kept] == head) {
        ++kept;
      } else {
        gone += (gone.empty() ? "" : ", ") + head;
      }
    }
    return gone;
  }

  template <class May>
  void leave_out(Text& text, std::size_t shortest, May may) const {
    for (std::size_t c = text.heads.size(); c-- > 0 && least_width(text, shortest) > options_.width;) {
      const bool key = text.fit[c].priority == kKeyPriority && !text.empty[c];
      if (may(c) && !key && text.heads.size() > 1) erase_column(text, c);
    }
  }

  // Natural widths; on a terminal the widest text columns give way until the line fits: prose first, which loses
  // nothing.
  [[nodiscard]] std::vector<std::size_t> fit(const Text& text) const {
    std::vector<std::size_t> widths = natural_widths(text);
    if (options_.width == 0 || widths.empty()) return widths;
    shrink(widths, kReadable, [&](std::size_t c) { return text.fit[c].wrapped; });
    for (const std::size_t shortest : {kNarrowest, kLeast, kGap}) {
      shrink(widths, shortest, [&](std::size_t c) { return !text.right_aligned[c]; });
    }
    shrink(widths, 1, [](std::size_t) { return true; });  // of what is left where nothing has room
    return widths;
  }

  // Down to `shortest`, the widest first.
  template <class May>
  void shrink(std::vector<std::size_t>& widths, std::size_t shortest, May may) const {
    std::size_t total = line_width(widths);
    while (total > options_.width) {
      std::size_t widest = widths.size();
      std::size_t second = shortest;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (!may(c) || widths[c] <= shortest) continue;
        const bool wider = widest == widths.size() || widths[c] > widths[widest];
        if (widest != widths.size()) second = std::max(second, std::min(widths[c], widths[widest]));
        if (wider) widest = c;
      }
      if (widest == widths.size()) break;
      // Down to the next widest, from where they give way in turns.
      const std::size_t step = std::max<std::size_t>(widths[widest] - second, 1);
      const std::size_t excess = std::min(total - options_.width, step);
      widths[widest] -= excess;
      total -= excess;
    }
  }

  // Names, and what tells the rows, differ when they are shortened where they did before.
  static void shorten_names(Text& text, const std::vector<std::size_t>& widths) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (!text.fit[c].names && (c > 0 || text.right_aligned[c] || text.fit[c].wrapped)) continue;
      std::vector<std::string> names;
      for (const auto& row : text.rows) names.push_back(row[c]);
      names = shorten_distinct(names, widths[c]);
      for (std::size_t r = 0; r < names.size(); ++r) text.rows[r][c] = names[r];
    }
  }

  // Verdicts carry a mark, so that they can be told without colours; with them, worse is red and better green.
  [[nodiscard]] std::string colored(const std::string& cell) const {
    if (!options_.color) return cell;
    if (cell.starts_with(kWorseMark)) return "\x1b[31m" + cell + "\x1b[0m";
    if (cell.starts_with(kBetterMark)) return "\x1b[32m" + cell + "\x1b[0m";
    return cell;
  }

  enum class Cells { kHeads, kRow };

  // A row, in as many lines as its prose needs; heads stand on the line below them.
  void line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, const Text& text,
            Cells kind) {
    std::vector<std::vector<std::string>> parts;
    std::size_t lines = 1;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const bool wrapped = text.fit[c].wrapped || kind == Cells::kHeads;
      parts.push_back(wrapped ? wrap_text(cells[c], widths[c]) : std::vector{shorten_middle(cells[c], widths[c])});
      lines = std::max(lines, parts.back().size());
    }
    for (std::size_t i = 0; i < lines; ++i) {
      std::vector<std::string> row;
      for (const auto& part : parts) {
        const std::size_t above = kind == Cells::kHeads ? lines - part.size() : 0;
        row.push_back(i >= above && i - above < part.size() ? part[i - above] : std::string());
      }
      out_ << aligned(row, widths, text.right_aligned) << '\n';
    }
  }

  [[nodiscard]] std::string aligned(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                                    const std::vector<bool>& right_aligned) const {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) text.append(kGap, ' ');
      const std::size_t length = display_width(cells[c]);
      const std::string padding(widths[c] > length ? widths[c] - length : 0, ' ');
      text += (right_aligned[c] ? padding : "") + colored(cells[c]) + (right_aligned[c] ? "" : padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
};

class RenderedMarkdown final : public BufferedTable {
 public:
  using BufferedTable::BufferedTable;

 private:
  std::string escape(const std::string& text) const override { return escape_markdown(text); }

  void print(const Text& text) override {
    line(text.heads);
    out_ << '|';
    for (const bool right : text.right_aligned) out_ << (right ? " ---: |" : " --- |");
    out_ << '\n';
    for (const auto& row : text.rows) line(row);
  }

  void line(const std::vector<std::string>& cells) {
    out_ << '|';
    for (const std::string& cell : cells) out_ << ' ' << cell << " |";
    out_ << '\n';
  }
};

}  // namespace

std::unique_ptr<TableRenderer> make_table_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedTable>(out, options);
}

std::unique_ptr<TableRenderer> make_markdown_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedMarkdown>(out, options);
}

}  // namespace tracedb
