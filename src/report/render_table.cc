#include <algorithm>
#include <numeric>

#include "report/buffered_table.h"
#include "report/escape.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 12;  // no text is shortened below this

class RenderedTable final : public BufferedTable {
 public:
  using BufferedTable::BufferedTable;

 private:
  std::string escape(const std::string& text) const override { return escape_text(text); }

  void print(const Text& text) override {
    const std::vector<std::size_t> widths = fit(text);
    line(text.heads, widths, text.right_aligned);
    std::vector<std::string> rules;
    for (const std::size_t width : widths) rules.emplace_back(width, '-');
    line(rules, widths, text.right_aligned);
    for (const auto& row : text.rows) line(row, widths, text.right_aligned);
  }

  // Natural widths; on a terminal the widest text columns give way until the line fits.
  std::vector<std::size_t> fit(const Text& text) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < text.heads.size(); ++c) {
      std::size_t width = code_points(text.heads[c]);
      for (const auto& row : text.rows) width = std::max(width, code_points(row[c]));
      widths.push_back(width);
    }
    if (options_.width == 0 || widths.empty()) return widths;
    const std::size_t gaps = kGap * (widths.size() - 1);
    std::size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
    while (total > options_.width) {
      std::size_t widest = widths.size();
      for (std::size_t c = 0; c < widths.size(); ++c) {
        const bool may_give = !text.right_aligned[c] && widths[c] > kNarrowest;
        if (may_give && (widest == widths.size() || widths[c] > widths[widest])) widest = c;
      }
      if (widest == widths.size()) break;
      const std::size_t excess = std::min(total - options_.width, widths[widest] - kNarrowest);
      widths[widest] -= excess;
      total -= excess;
    }
    return widths;
  }

  void line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
            const std::vector<bool>& right_aligned) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) text.append(kGap, ' ');
      const std::string cell = shorten_middle(cells[c], widths[c]);
      const std::size_t length = code_points(cell);
      const std::string padding(widths[c] > length ? widths[c] - length : 0, ' ');
      text += right_aligned[c] ? padding + cell : cell + padding;
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
