// CSV and TSV: rows as they come, headers with their units, times in ns unless requested otherwise.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/characters.h"
#include "report/cell_text.h"
#include "report/escape.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

// "-5", "+1.25", "-5.000 us": a sign, digits, and no more than a word behind a blank.
bool is_measure(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.", 1);
  if (digits == 1) return false;
  if (digits == std::string_view::npos) return text.size() > 1;
  return text[digits] == ' ' && std::ranges::all_of(text.substr(digits + 1), is_ascii_letter);
}

// The same signs in full width, which a spreadsheet takes for them where such are written.
constexpr std::array<std::string_view, 4> kWideSigns = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

// A spreadsheet runs a cell that begins like this; numbers are meant as numbers, with their unit too.
bool is_formula(std::string_view text) {
  if (std::ranges::any_of(kWideSigns, [&](std::string_view sign) { return text.starts_with(sign); })) return true;
  if (text.empty() || std::string_view("=+-@").find(text[0]) == std::string_view::npos) return false;
  return text[0] == '=' || text[0] == '@' || !is_measure(text);
}

// Tabs and line ends are escaped like every control character, so nothing of TSV needs quotes.
struct Delimiters {
  char field;
  bool quotes;
};

bool needs_quotes(std::string_view text) {
  bool needs = false;
  for (const char c : text) needs |= c == ',' || c == '"';
  return needs;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 8);
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + '"';
}

class RenderedDelimited final : public TableRenderer {
 public:
  RenderedDelimited(std::ostream& out, const RenderOptions& options, Delimiters delimiters)
      : out_(out), options_(options), delimiters_(delimiters) {}

  void begin(const ReportHead&, std::span<const Column> columns) override {
    columns_.assign(columns.begin(), columns.end());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      begin_cell(c);
      put_text(head_text(columns_[c], options_.time_unit));
    }
    end_line();
  }
  void row(std::span<const Cell> cells) override {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      begin_cell(c);
      if (const auto* text = std::get_if<std::string>(&cells[c])) {
        put_text(*text);
      } else {
        append_plain_text(line_, cells[c], columns_[c].unit, options_.time_unit);
      }
    }
    end_line();
  }
  void end(std::span<const std::string>) override {}

 private:
  void begin_cell(std::size_t column) {
    if (column > 0) line_ += delimiters_.field;
  }
  void put_text(std::string_view text) {
    const std::size_t begin = line_.size();
    append_escaped_cell(line_, text);
    if (options_.guard_formulas && is_formula(std::string_view(line_).substr(begin))) line_.insert(begin, 1, '\'');
    const std::string_view cell = std::string_view(line_).substr(begin);
    if (delimiters_.quotes && needs_quotes(cell)) line_.replace(begin, std::string::npos, in_quotes(cell));
  }
  void end_line() {
    out_ << line_ << '\n';
    line_.clear();
  }

  std::ostream& out_;
  const RenderOptions options_;
  const Delimiters delimiters_;
  std::vector<Column> columns_;
  std::string line_;  // so far
};

}  // namespace

std::unique_ptr<TableRenderer> make_csv_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedDelimited>(out, options, Delimiters{',', true});
}

std::unique_ptr<TableRenderer> make_tsv_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedDelimited>(out, options, Delimiters{'\t', false});
}

}  // namespace tracedb
