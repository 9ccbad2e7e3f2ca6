#include "report_page/html/html_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "present/cells.h"
#include "report/buffered_table.h"
#include "report_page/html/safe_text.h"

namespace tracedb {
namespace {

class RenderedHtml final : public BufferedTable {
 public:
  RenderedHtml(std::ostream& out, std::size_t footer_rows, const TableLinks& links)
      : BufferedTable(out, {.one_row_as_list = false}), footer_rows_(footer_rows), links_(links) {}

 private:
  std::string escape(const std::string& text) const override { return html_text(inert_name(text)); }

  void print(const Text& text) override {
    out_ << "<table class=\"data\">\n<thead><tr>";
    for (std::size_t c = 0; c < columns().size(); ++c) print_head(columns()[c], text, c);
    out_ << "</tr></thead>\n<tbody>\n";
    const std::size_t body = text.rows.size() - footer_rows_;
    for (std::size_t r = 0; r < text.rows.size(); ++r) {
      if (r == body) out_ << "</tbody>\n<tfoot>\n";
      print_row(text, r);
    }
    out_ << (footer_rows_ > 0 ? "</tfoot>\n</table>\n" : "</tbody>\n</table>\n");
  }

  // The text, which is HTML already, as a link where it leads somewhere.
  static std::string linked(const std::string& text, const std::string& to) {
    return to.empty() ? text : fmt::format("<a href=\"{}\">{}</a>", html_text(to), text);
  }

  void print_head(const Column& column, const Text& text, std::size_t c) {
    const bool time = column.unit == Unit::kTime;
    out_ << fmt::format("<th scope=\"col\" data-type=\"{}\"", time                    ? "time"
                                                              : text.right_aligned[c] ? "number"
                                                                                      : "text");
    const bool has_unit = column.unit != Unit::kAny && column.unit != Unit::kText;
    if (has_unit) out_ << fmt::format(" data-unit=\"{}\"", to_string(column.unit));
    if (!column.meaning.empty()) out_ << fmt::format(" title=\"{}\"", html_text(column.meaning));
    out_ << '>' << linked(text.heads[c], links_.head ? links_.head(column) : "") << "</th>";
  }

  void print_row(const Text& text, std::size_t r) {
    out_ << "<tr>";
    for (std::size_t c = 0; c < columns().size(); ++c) {
      const Cell& cell = cells()[r][c];
      if (std::holds_alternative<std::string>(cell) || !text.right_aligned[c]) {
        out_ << "<td>";
      } else {
        std::string value;
        append_plain_text(value, cell, columns()[c].unit, TimeUnit::kNs);
        out_ << fmt::format("<td data-value=\"{}\">", value);
      }
      out_ << linked(text.rows[r][c], links_.cell ? links_.cell(columns(), cells()[r], c) : "") << "</td>";
    }
    out_ << "</tr>\n";
  }

  std::size_t footer_rows_;
  const TableLinks& links_;
};

// The column that names a row comes first, where it stays in view.
void put_names_first(Report& report) {
  const auto name = std::ranges::find_if(report.columns,
                                         [](const Column& column) { return column.others == OthersAggregate::kLabel; });
  if (name == report.columns.end()) return;
  const auto place = name - report.columns.begin();
  const auto move_first = [place](auto& list) {
    std::rotate(list.begin(), list.begin() + place, list.begin() + place + 1);
  };
  move_first(report.columns);
  for (Row& row : report.rows) move_first(row);
  for (Row& row : report.footer) move_first(row);
}

// How many of its rows, with tags and all, take so many bytes: an estimate from above.
std::size_t rows_within(const Report& report, std::size_t most_bytes) {
  constexpr std::size_t kOfNumber = 48, kOfTags = 12, kMostOfText = 1800;
  std::size_t bytes = 0, rows = 0;
  for (const Row& row : report.rows) {
    for (const Cell& cell : row) {
      const auto* text = std::get_if<std::string>(&cell);
      bytes += text == nullptr ? kOfNumber : kOfTags + std::min(6 * text->size(), kMostOfText);
    }
    if (bytes > most_bytes) break;
    ++rows;
  }
  return rows;
}

}  // namespace

std::string html_table(Report report, const ReportHead& head, std::size_t most_rows, std::size_t most_bytes,
                       const TableLinks& links) {
  // A column in which nothing is known takes room and says nothing.
  drop_columns(
      report, [](std::string_view) { return true; },
      [](const Cell& cell) { return std::holds_alternative<std::monostate>(cell); });
  put_names_first(report);
  const std::size_t rows = std::max<std::size_t>(std::min(most_rows, rows_within(report, most_bytes)), 1);
  if (report.rows.size() > rows) {
    report.whole = false;  // here, a limit does cut it
    limit_rows(report, rows);
    report.footer.insert(report.footer.begin(), std::move(report.rows.back()));
    report.rows.pop_back();
  }
  std::ostringstream out;
  RenderedHtml renderer(out, report.footer.size(), links);
  render(report, head, {}, renderer);
  return std::move(out).str();
}

}  // namespace tracedb
