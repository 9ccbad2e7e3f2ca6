#include "report/renderers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/characters.h"
#include "report/escape.h"
#include "report/json_text.h"

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

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 8);
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + '"';
}

// CSV and TSV: rows as they come, headers with their units, times in ns unless requested otherwise. Tabs and line ends
// are escaped like every control character, so nothing of TSV needs quotes.
template <char kDelimiter>
class RenderedDelimited final : public TableRenderer {
 public:
  RenderedDelimited(std::ostream& out, const RenderOptions& options) : out_(out), options_(options) {}

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
    if (column > 0) line_ += kDelimiter;
  }
  void put_text(std::string_view text) {
    const std::size_t begin = line_.size();
    append_escaped_cell(line_, text);
    if (options_.guard_formulas && is_formula(std::string_view(line_).substr(begin))) line_.insert(begin, 1, '\'');
    const std::string_view cell = std::string_view(line_).substr(begin);
    const bool needs_quotes = cell.find(',') != std::string_view::npos || cell.find('"') != std::string_view::npos;
    if (kDelimiter == ',' && needs_quotes) line_.replace(begin, std::string::npos, in_quotes(cell));
  }
  void end_line() {
    out_ << line_ << '\n';
    line_.clear();
  }

  std::ostream& out_;
  const RenderOptions options_;
  std::vector<Column> columns_;
  std::string line_;  // so far
};

class RenderedJson final : public TableRenderer {
 public:
  RenderedJson(std::ostream& out, const RenderOptions&) : out_(out) {}

  void begin(const ReportHead& head, std::span<const Column> columns) override {
    columns_.assign(columns.begin(), columns.end());
    objects_ = JsonObjects(columns);
    if (begun_ && !in_section_) return;
    if (begun_) {
      close_table();
      out_ << ",\n";
    } else {
      out_ << "{\"schema\": " << json_string(fmt::format("tracedb.{}/{}", head.name, head.version))
           << ",\n \"inputs\": " << json_list(head.inputs) << ",\n";
      if (head.page && head.page->total != kAllRows) out_ << " \"total_rows\": " << head.page->total << ",\n";
      in_section_ = !head.section.empty();
    }
    begun_ = true;
    any_ = false;
    open_table(head);
  }

  void row(std::span<const Cell> cells) override {
    line_ = any_ ? ",\n  " : "\n  ";
    objects_.append(line_, cells);
    out_ << line_;
    any_ = true;
  }

  void end(std::span<const std::string> warnings) override {
    close_table();
    if (in_section_) out_ << (in_list_ ? "]" : ",\n \"sections\": []");
    out_ << ",\n \"warnings\": " << json_list(warnings) << "}\n";
  }

 private:
  void open_table(const ReportHead& head) {
    in_member_ = head.member;
    if (head.member) {
      out_ << ' ' << json_string(head.section) << ": [";
      return;
    }
    if (in_section_) {
      if (!in_list_) out_ << " \"sections\": [\n";
      in_list_ = true;
      out_ << "{\"section\": " << json_string(head.section) << ",\n";
    }
    units();
  }
  void units() {
    out_ << " \"units\": {";
    const char* separator = "";
    for (const Column& column : columns_) {
      if (column.unit == Unit::kAny || column.unit == Unit::kText) continue;
      out_ << separator << json_string(column.key) << ": " << json_string(to_string(column.unit));
      separator = ", ";
    }
    out_ << "},\n \"rows\": [";
  }
  void close_table() {
    out_ << (any_ ? "\n ]" : "]");
    if (in_section_ && !in_member_) out_ << '}';
  }

  std::ostream& out_;
  std::vector<Column> columns_;
  JsonObjects objects_;
  std::string line_;
  bool begun_ = false;
  bool in_section_ = false;  // the document has sections
  bool in_list_ = false;     // the list of those is open
  bool in_member_ = false;   // the table is a member of the document
  bool any_ = false;
};

class RenderedJsonLines final : public TableRenderer {
 public:
  RenderedJsonLines(std::ostream& out, const RenderOptions&) : out_(out) {}
  void begin(const ReportHead&, std::span<const Column> columns) override { objects_ = JsonObjects(columns); }
  void row(std::span<const Cell> cells) override {
    line_.clear();
    objects_.append(line_, cells);
    out_ << line_ << '\n';
  }
  void end(std::span<const std::string>) override {}

 private:
  std::ostream& out_;
  JsonObjects objects_;
  std::string line_;
};

// One line of JSON for who pays by the byte: columns once, those without a value left out, numbers with six digits,
// long texts without their middle. With a budget it ends at a row, and next_offset says where the rest begins;
// Error{kUsage}: not one row fits.
class RenderedCompact final : public TableRenderer {
 public:
  RenderedCompact(std::ostream& out, const RenderOptions& options) : out_(out), budget_(options.budget) {}

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

template <class Rendered>
std::unique_ptr<TableRenderer> make(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<Rendered>(out, options);
}

constexpr Renderer kRenderers[] = {
    {"table", "aligned columns for a terminal", "txt", Audience::kHuman, Tables::kSeparate, make_table_renderer},
    {"csv", "RFC 4180 but for lines that end with \\n, times in ns unless --timeunit says otherwise", "csv",
     Audience::kMachine, Tables::kSeparate, make<RenderedDelimited<','>>},
    {"tsv", "tab-separated, never quoted", "tsv", Audience::kMachine, Tables::kSeparate, make<RenderedDelimited<'\t'>>},
    {"json", "one document with rows, units and warnings", "json", Audience::kMachine, Tables::kOneDocument,
     make<RenderedJson>},
    {"jsonl", "one JSON object per row and line", "jsonl ndjson", Audience::kMachine, Tables::kOneDocument,
     make<RenderedJsonLines>},
    {"compact", "JSON for agents: columns once, rows as lists, what is empty left out; --budget bounds its bytes", "",
     Audience::kMachine, Tables::kSeparate, make<RenderedCompact>},
    {"markdown", "a table for documents", "md markdown", Audience::kHuman, Tables::kSeparate, make_markdown_renderer},
};

}  // namespace

std::span<const Renderer> renderers() { return kRenderers; }

const Renderer* find_renderer(std::string_view name) {
  const auto* const found = std::ranges::find(kRenderers, name, &Renderer::name);
  return found == std::end(kRenderers) ? nullptr : found;
}

const Renderer* find_renderer_of_file(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == path.size() || path.find('/', dot) != std::string_view::npos)
    return nullptr;
  const std::string ending = fmt::format(" {} ", path.substr(dot + 1));
  for (const Renderer& renderer : kRenderers) {
    if (fmt::format(" {} ", renderer.endings).find(ending) != std::string::npos) return &renderer;
  }
  return nullptr;
}

}  // namespace tracedb
