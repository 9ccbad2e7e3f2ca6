#include <algorithm>
#include <numeric>

#include "report/buffered_table.h"
#include "report/escape.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 12;   // no text is shortened below this
constexpr std::size_t kReadable = 32;    // before a text gets narrower than this, figures are left out
constexpr std::size_t kKeptColumns = 3;  // but not these: share, total, count

class RenderedTable final : public BufferedTable {
 public:
  using BufferedTable::BufferedTable;

 private:
  std::string escape(const std::string& text) const override { return escape_text(text); }

  void print(const Text& whole) override {
    Text text = whole;
    const std::string left_out = leave_out_figures(text);
    const std::vector<std::size_t> widths = fit(text);
    line(text.heads, widths, text.right_aligned);
    std::vector<std::string> rules;
    rules.reserve(widths.size());
    for (const std::size_t width : widths) rules.emplace_back(width, '-');
    line(rules, widths, text.right_aligned);
    for (const auto& row : text.rows) line(row, widths, text.right_aligned);
    if (!left_out.empty()) out_ << "(no room for " << left_out << "; --wide shows all)\n";
  }

  static std::vector<std::size_t> natural_widths(const Text& text) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < text.heads.size(); ++c) {
      std::size_t width = code_points(text.heads[c]);
      for (const auto& row : text.rows) width = std::max(width, code_points(row[c]));
      widths.push_back(width);
    }
    return widths;
  }

  static std::size_t line_width(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  }

  // On a terminal so narrow that names would be unreadable, figures go, the last first. Returns their heads.
  [[nodiscard]] std::string leave_out_figures(Text& text) const {
    if (options_.width == 0 || text.heads.empty()) return {};
    std::vector<std::size_t> widths = natural_widths(text);
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (!text.right_aligned[c]) widths[c] = std::min(widths[c], kReadable);
    }
    std::string heads;
    for (std::size_t c = widths.size(); c-- > kKeptColumns && line_width(widths) > options_.width;) {
      if (!text.optional[c]) continue;
      heads.insert(0, text.heads[c] + (heads.empty() ? "" : ", "));
      const auto at = static_cast<std::ptrdiff_t>(c);
      widths.erase(widths.begin() + at);
      text.heads.erase(text.heads.begin() + at);
      text.right_aligned.erase(text.right_aligned.begin() + at);
      text.optional.erase(text.optional.begin() + at);
      for (auto& row : text.rows) row.erase(row.begin() + at);
    }
    return heads;
  }

  // Natural widths; on a terminal the widest text columns give way until the line fits.
  [[nodiscard]] std::vector<std::size_t> fit(const Text& text) const {
    std::vector<std::size_t> widths = natural_widths(text);
    if (options_.width == 0 || widths.empty()) return widths;
    std::size_t total = line_width(widths);
    while (total > options_.width) {
      std::size_t widest = widths.size();
      std::size_t second = kNarrowest;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (text.right_aligned[c] || widths[c] <= kNarrowest) continue;
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
    return widths;
  }

  // Verdicts carry a mark, so that they can be told without colours; with them, worse is red and better green.
  [[nodiscard]] std::string colored(const std::string& cell) const {
    if (!options_.color) return cell;
    if (cell.starts_with(kWorseMark)) return "\x1b[31m" + cell + "\x1b[0m";
    if (cell.starts_with(kBetterMark)) return "\x1b[32m" + cell + "\x1b[0m";
    return cell;
  }

  void line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
            const std::vector<bool>& right_aligned) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) text.append(kGap, ' ');
      const std::string cell = shorten_middle(cells[c], widths[c]);
      const std::size_t length = code_points(cell);
      const std::string padding(widths[c] > length ? widths[c] - length : 0, ' ');
      text += (right_aligned[c] ? padding : "") + colored(cell) + (right_aligned[c] ? "" : padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out_ << text << '\n';
  }
};

}  // namespace

std::unique_ptr<TableRenderer> make_table_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedTable>(out, options);
}

}  // namespace tracedb
