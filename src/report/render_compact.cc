#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "report/escape.h"
#include "report/json_text.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

// One line of JSON for who pays by the byte: columns once, those without a value left out, numbers with six digits,
// long texts without their middle. With a budget it ends at a row, and next_offset says where the rest begins;
// Error{kUsage}: not one row fits.
class RenderedCompact final : public TableRenderer {
 public:
  RenderedCompact(std::ostream& out, std::size_t budget) : out_(out), budget_(budget) {}

  void begin(const ReportHead& head, std::span<const Column> columns) override {
    head_ = head;
    columns_.assign(columns.begin(), columns.end());
    rows_.clear();
  }
  void row(std::span<const Cell> cells) override { rows_.emplace_back(cells.begin(), cells.end()); }

  void end(std::span<const std::string> warnings) override {
    keep_known_columns();
    RowPage page = head_.page.value_or(RowPage{0, kAllRows, kAllRows});
    if (page.listed == kAllRows) page.listed = rows_.size();
    if (page.total == kAllRows) page.total = page.offset + rows_.size();
    const bool is_cut = page.total >= page.counted;
    std::string tail = fmt::format("],\"{}\":{}", is_cut ? "least_rows" : "total_rows", page.total);
    std::string notes;
    for (const std::string& warning : warnings.first(std::min(warnings.size(), kMostWarnings))) {
      const std::string note = (notes.empty() ? "" : ",") + json_string(text_of(warning, kLongestWarning));
      if (budget_ != 0 && notes.size() + note.size() > budget_ / 3) break;  // rows come first
      notes += note;
    }
    const std::string if_cut =
        head_.if_cut.empty() ? "" : (notes.empty() ? "" : ",") + json_string(text_of(head_.if_cut, kLongestWarning));
    std::string text = head_text();
    const std::size_t behind = tail.size() + notes.size() + if_cut.size() + kWarnings + kNextOffset;
    const std::size_t most = budget_ == 0 ? std::string::npos : budget_ - std::min(budget_, behind);
    std::size_t printed = 0;
    for (; printed < rows_.size(); ++printed) {
      const std::string line = (printed > 0 ? "," : "") + row_text(rows_[printed]);
      if (text.size() + line.size() > most) break;
      text += line;
    }
    if (text.size() > most || (printed == 0 && !rows_.empty())) {
      throw Error(ErrorCode::kUsage, fmt::format("a row of {} columns is longer than the {} bytes of an answer: name "
                                                 "fewer columns",
                                                 shown_.size(), budget_));
    }
    const std::size_t next = page.offset + std::min(printed, page.listed);
    const bool goes_on = is_cut || next < page.total;
    if (goes_on) notes += if_cut;
    if (!notes.empty()) tail += fmt::format(",\"warnings\":[{}]", notes);
    if (goes_on) tail += fmt::format(",\"next_offset\":{}", next);
    out_ << text << tail << "}\n";
  }

 private:
  static constexpr std::size_t kMostWarnings = 5, kLongestText = 120, kLongestWarning = 300;
  static constexpr std::size_t kWarnings = 14, kNextOffset = 40;  // bytes for what may follow, besides the warnings

  void keep_known_columns() {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const bool known = std::ranges::any_of(
          rows_, [c](const Row& row) { return c < row.size() && !std::holds_alternative<std::monostate>(row[c]); });
      if (!columns_[c].is_json && (known || rows_.empty())) shown_.push_back(c);
    }
  }
  static std::string text_of(const std::string& text, std::size_t most) {
    return shorten_middle(escape_text(text), most);
  }
  [[nodiscard]] std::string head_text() const {
    std::string units, names;
    for (const std::size_t c : shown_) {
      const Column& column = columns_[c];
      names += (names.empty() ? "" : ",") + json_string(column.key);
      if (column.unit == Unit::kAny || column.unit == Unit::kText || column.unit == Unit::kCount) continue;
      units += (units.empty() ? "" : ",") + json_string(column.key) + ":" + json_string(to_string(column.unit));
    }
    const std::string section = head_.section.empty() ? "" : "\"section\":" + json_string(head_.section) + ",";
    return fmt::format("{{{}\"units\":{{{}}},\"columns\":[{}],\"rows\":[", section, units, names);
  }
  [[nodiscard]] std::string row_text(const Row& row) const {
    std::string out = "[";
    for (const std::size_t c : shown_) {
      if (out.size() > 1) out += ',';
      if (c >= row.size() || std::holds_alternative<std::monostate>(row[c])) {
        out += "null";
      } else if (const auto* integer = std::get_if<std::int64_t>(&row[c])) {
        out += std::to_string(*integer);
      } else if (const auto* real = std::get_if<double>(&row[c])) {
        out += *real - *real == 0 ? fmt::format("{:.6g}", *real) : "null";
      } else {
        out += json_string(text_of(std::get<std::string>(row[c]), kLongestText));
      }
    }
    return out + "]";
  }

  std::ostream& out_;
  std::size_t budget_;
  ReportHead head_;
  std::vector<Column> columns_;
  std::vector<std::size_t> shown_;  // of the columns
  std::vector<Row> rows_;
};

}  // namespace

std::unique_ptr<TableRenderer> make_compact_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedCompact>(out, options.budget);
}

}  // namespace tracedb
