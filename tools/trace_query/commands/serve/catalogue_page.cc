// The first page, and series over time: see view_parts.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/failure.h"
#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/text/split.h"
#include "present/page_text.h"
#include "report/sql_report.h"
#include "report_page/html/safe_text.h"
#include "report_page/served/served_page.h"
#include "shared/usage_error.h"
#include "sql/database.h"
#include "trace_query/commands/serve/view_parts.h"

namespace tracedb {
namespace {

using python::Value;

// An index as the trend sees it.
struct Point {
  std::string date, change, index;
  double value = std::nan("");
  std::int64_t level = 0;
};

struct Series {
  std::string label, headline;
  double change_pct = std::nan("");  // of its last change
  double newest_pct = std::nan("");  // of its newest values, which are beyond all others of their level
  double newest = 0;                 // how many these are: too few for a change
  std::vector<Point> points = {};    // in order of time

  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> out;
    for (const Point& point : points) {
      if (std::isfinite(point.value)) out.push_back(point.value);
    }
    return out;
  }
  [[nodiscard]] bool is_sure() const { return std::isfinite(change_pct); }
  [[nodiscard]] double last_change() const { return is_sure() ? change_pct : newest_pct; }
};

std::vector<Series> read_series(const Value& document) {
  std::vector<Series> out;
  std::map<std::string, std::size_t> places;
  for (const Value& row : rows_of(document, "series")) {
    places[text_at(row, "series")] = out.size();
    out.push_back({text_at(row, "series"), text_at(row, "headline"), number_at(row, "change_pct"),
                   number_at(row, "newest_pct"), number_at(row, "newest")});
  }
  for (const Value& row : rows_of(document, "points")) {
    const auto found = places.find(text_at(row, "series"));
    if (found == places.end()) continue;
    out[found->second].points.push_back({text_at(row, "date"), text_at(row, "change"), text_at(row, "index_path"),
                                         number_at(row, "value"), static_cast<std::int64_t>(number_at(row, "level"))});
  }
  return out;
}

std::string trace_link(const std::string& index, const std::string& text) {
  return html_link({text, "t?i=" + url_text(index)});
}
std::string comparison_link(const std::string& a, const std::string& b, const std::string& text) {
  return html_link({text, fmt::format("c?a={}&b={}", url_text(a), url_text(b))});
}

// The last run before the level that the last run is on, or before the newest values in that; null: there is none.
const Point* before_change(const Series& series, bool is_sure) {
  const Point* out = nullptr;
  auto older = static_cast<double>(series.values().size()) - series.newest;
  for (const Point& point : series.points) {
    if (!std::isfinite(point.value)) continue;
    if (is_sure ? point.level + 1 == series.points.back().level : older-- > 0) out = &point;
  }
  return out;
}

std::string percent_text(double percent) { return fmt::format("{:+.1f} %", percent); }

// What became slower, with the way to the reason; and of what that cannot be said.
std::string sentence_html(const Value& trend, std::span<const Series> series) {
  if (trend.find("sections") == nullptr) return "<h1>What became slower is not known: trend did not answer</h1>\n";
  std::vector<const Series*> slower, perhaps;
  for (const Series& one : series) {
    if (one.change_pct > 0) {
      slower.push_back(&one);
    } else if (one.newest_pct > 0) {
      perhaps.push_back(&one);
    }
  }
  std::ranges::sort(slower, std::greater(), &Series::change_pct);
  std::ranges::sort(perhaps, std::greater(), &Series::newest_pct);
  const std::string all = counted(series.size(), "series", "series");
  std::string out = slower.empty() ? fmt::format("<h1>None of {} is shown to have become slower", all)
                                   : fmt::format("<h1>{} of {} became slower", slower.size(), all);
  if (!perhaps.empty()) out += fmt::format("; the newest runs of {} are slower, too few for a change", perhaps.size());
  out += "</h1>\n<ul class=\"slower\">\n";
  const auto add = [&](const std::vector<const Series*>& list, bool is_sure) {
    for (const Series* one : list) {
      const Point* const before = before_change(*one, is_sure);
      const std::string way = before == nullptr ? "" : comparison_link(before->index, one->points.back().index, "why");
      out += fmt::format("<li><b>{}</b> {}: {}, {}</li>\n", percent_text(is_sure ? one->change_pct : one->newest_pct),
                         way, html_text(inert_name(one->label)), html_text(one->headline));
    }
  };
  add(slower, true);
  add(perhaps, false);
  out += "</ul>\n";
  return out + paragraphs(answer_warnings(trend), "note");
}

struct Entry {
  const Value* row = nullptr;
  std::string index, name;  // index: "" where there is none
  const Series* series = nullptr;
  bool is_last = false;  // of its series

  [[nodiscard]] double change() const {
    return series != nullptr && is_last && std::isfinite(series->last_change()) ? series->last_change() : 0;
  }
  [[nodiscard]] std::string job() const {
    const std::size_t slash = index.rfind('/');
    return slash == std::string::npos ? "" : index.substr(0, slash);
  }
  [[nodiscard]] std::string value(std::string_view key) const {
    if (key == "job") return job();
    if (key == "night") return text_at(*row, "date").substr(0, 10);
    return text_at(*row, key);
  }
};

std::vector<Entry> read_entries(std::span<const Value> rows, std::span<const Series> series) {
  std::map<std::string, std::pair<const Series*, bool>> by_index;
  for (const Series& one : series) {
    for (const Point& point : one.points) {
      const bool is_last = &point == &one.points.back();
      auto& [known, last] = by_index[point.index];
      // Of several phases, the one that changed.
      if (known == nullptr || (std::isfinite(one.last_change()) && !std::isfinite(known->last_change())))
        known = &one, last = is_last;
    }
  }
  std::vector<Entry> out;
  for (const Value& row : rows) {
    Entry one{&row, text_at(row, "index_path"), text_at(row, "name")};
    if (const auto found = by_index.find(one.index); found != by_index.end())
      std::tie(one.series, one.is_last) = found->second;
    out.push_back(one);
  }
  return out;
}

constexpr std::string_view kFacets[] = {"gpu", "framework", "model", "job", "night", "state"};

bool fits(const Entry& entry, const HttpRequest& request, const std::string& words) {
  for (const std::string_view facet : kFacets) {
    const std::string wanted = request.param(facet), value = entry.value(facet);
    if (!wanted.empty() && wanted != (value.empty() ? "[none]" : value)) return false;
  }
  if (words.empty()) return true;
  std::string text = entry.index + " ";
  for (const python::Member& cell : entry.row->members) text += python::str(cell.value) + " ";
  text = ascii_lower(text);
  return std::ranges::all_of(split_text(words, ' '),
                             [&](std::string_view word) { return text.find(ascii_lower(word)) != std::string::npos; });
}

std::string with_param(const HttpRequest& request, std::string_view name, const std::string& value) {
  return url("./", changed(changed(request.params, "offset", ""), name, value));
}

std::string facets_html(std::span<const Entry> entries, const HttpRequest& request) {
  constexpr std::size_t kMostValues = 12;
  std::string out = "<aside class=\"facets\" aria-label=\"Narrow the list\">\n";
  for (const std::string_view facet : kFacets) {
    std::map<std::string, std::size_t> counts;
    for (const Entry& entry : entries) ++counts[entry.value(facet)];
    const std::string chosen = request.param(facet);
    if (counts.size() < 2 && chosen.empty()) continue;
    std::vector<std::pair<std::string, std::size_t>> all(counts.begin(), counts.end());
    std::ranges::stable_sort(all, [facet](const auto& a, const auto& b) {
      if (a.first.empty() != b.first.empty()) return b.first.empty();
      return facet == "night" ? a.first > b.first : a.second > b.second;
    });
    out += fmt::format("<details{}><summary>{}{}</summary><ul>\n", chosen.empty() ? "" : " open", facet,
                       chosen.empty() ? "" : ": " + html_text(inert_name(chosen)));
    if (!chosen.empty()) out += "<li>" + html_link({"all", with_param(request, facet, "")}) + "</li>\n";
    for (std::size_t i = 0; i < std::min(all.size(), kMostValues); ++i) {
      const std::string value = all[i].first.empty() ? "[none]" : all[i].first;
      out += fmt::format("<li>{} {}</li>\n", html_link({value, with_param(request, facet, value)}), all[i].second);
    }
    if (all.size() > kMostValues) out += fmt::format("<li>{} more: use the filter</li>\n", all.size() - kMostValues);
    out += "</ul></details>\n";
  }
  return out + "</aside>\n";
}

void sort_entries(std::vector<Entry>& entries, const std::string& key) {
  const auto date = [](const Entry& entry) { return text_at(*entry.row, "date"); };
  if (key == "name") {
    std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return entry.index + entry.name; });
  } else if (key == "period" || key == "kernels" || key == "steps") {
    std::ranges::stable_sort(entries, std::greater(), [&](const Entry& entry) {
      const double value = number_at(*entry.row, key), span = key == "period" ? number_at(*entry.row, "span") : value;
      return std::isfinite(value) ? value : std::isfinite(span) ? span : -1;
    });
  } else if (key == "gpu" || key == "framework" || key == "model") {
    std::ranges::stable_sort(entries, {}, [&](const Entry& entry) { return text_at(*entry.row, key); });
  } else {
    std::ranges::stable_sort(entries, std::greater(), date);
    if (key != "date") std::ranges::stable_sort(entries, std::greater(), &Entry::change);
  }
}

// What is wrong with an index, and the command that mends it.
std::string state_html(const Entry& entry) {
  const std::string state = text_at(*entry.row, "state"), reason = text_at(*entry.row, "reason");
  if (state == "indexed" || state == "no trace") return html_text(state);
  const bool is_left = entry.index.empty() && !reason.empty();  // a folder, or another form of a run
  const std::string trace = is_left ? "" : text_at(*entry.row, "trace");
  const std::string repair =
      trace.empty() ? "" : fmt::format("trace-ingest {}{}", state == "unusable" ? "--force " : "", shell_word(trace));
  return fmt::format("<b>{}</b> {} <code>{}</code>", html_text(state), html_text(inert_name(reason)),
                     html_text(inert_name(repair)));
}

// How the newest level, or the newest runs of it, changed, with the comparison that says why.
std::string change_html(const Entry& entry) {
  const double change = entry.change();
  const bool is_sure = change != 0 && entry.series->is_sure();
  const Point* const before = change != 0 ? before_change(*entry.series, is_sure) : nullptr;
  if (before == nullptr) return "<td></td>";
  const std::string_view way = change > 0 ? "slower" : "faster";
  return fmt::format(
      "<td class=\"{}\">{}</td>", way,
      comparison_link(before->index, entry.index,
                      fmt::format("{} {}{}", way, percent_text(change), is_sure ? "" : ", too few runs for a change")));
}

std::string row_html(const Entry& entry) {
  const Value& row = *entry.row;
  const auto time = [&](std::string_view key) {
    const double ns = number_at(row, key);
    return std::isfinite(ns) ? short_duration_text(ns) : std::string("-");
  };
  std::string out = "<tr>";
  for (const char side : {'a', 'b'}) {
    out += entry.index.empty() ? "<td></td>"
                               : fmt::format(
                                     "<td><input type=\"radio\" name=\"{0}\" value=\"{1}\" aria-label=\"{2} {1}\">"
                                     "</td>",
                                     side, html_text(entry.index), side == 'a' ? "baseline" : "candidate");
  }
  out += fmt::format("<th scope=\"row\">{}</th>",
                     entry.index.empty() ? html_text(inert_name(entry.name)) : trace_link(entry.index, entry.index));
  const std::string period = time("period");
  out += fmt::format("<td class=\"number\">{}</td>", period == "-" && time("span") != "-"  ? time("span") + " span"
                                                     : text_at(row, "period_on") == "host" ? period + " host"
                                                                                           : period);
  out += fmt::format("<td>{}</td>", entry.series == nullptr ? "" : sparkline(entry.series->values()));
  out += change_html(entry);
  for (const char* key : {"gpu", "framework", "model"})
    out += fmt::format("<td class=\"name\">{}</td>", html_text(inert_name(text_at(row, key))));
  const std::string rank = text_at(row, "rank"), job = entry.job();
  out += fmt::format("<td>{}</td>",
                     rank.empty() || job.empty() ? html_text(rank) : html_link({rank, "j?f=" + url_text(job)}));
  for (const char* key : {"steps", "kernels"})
    out += fmt::format("<td class=\"number\">{}</td>", with_separators(text_at(row, key)));
  out += fmt::format("<td>{}</td><td>{}</td></tr>\n", html_text(text_at(row, "date")), state_html(entry));
  return out;
}

std::string heads_html(const HttpRequest& request) {
  struct Head {
    std::string_view text, key, meaning;
  };
  constexpr Head kHeads[] = {{"A", "", "baseline of a comparison"},
                             {"B", "", "candidate of a comparison"},
                             {"Trace", "name", "name of the index below its folder"},
                             {"Period", "period", "time from one step to the next, of its main phase; else its span"},
                             {"Runs", "", "the period of the runs of its series, in order of time"},
                             {"Change", "change", "of the level of its series, at its last change"},
                             {"GPU", "gpu", ""},
                             {"Framework", "framework", "a guess by its Python code"},
                             {"Model", "model", "a guess by its modules"},
                             {"Rank", "", "leads to all ranks of the job"},
                             {"Steps", "steps", ""},
                             {"Kernels", "kernels", ""},
                             {"Date (UTC)", "date", "first event of the trace"},
                             {"State", "", ""}};
  std::string out = "<thead><tr>";
  for (const Head& head : kHeads) {
    const std::string text =
        head.key.empty() ? html_text(head.text)
                         : html_link({std::string(head.text), with_param(request, "sort", std::string(head.key))});
    out += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", head.meaning, text);
  }
  return out + "</tr></thead>\n";
}

// Whether it is SQL about columns of `ls`. The name of a column of texts alone is a word: no text is true.
bool asks_for_column(const std::string& filter) {
  const std::vector<Column> known = declared_columns("ls");
  const auto same = std::ranges::find(known, filter, &Column::key);
  if (same != known.end()) return same->unit != Unit::kText;
  std::vector<std::string> columns;
  for (const Column& column : known) columns.push_back("NULL AS " + quoted_name(column.key));
  Database database(":memory:", Database::Mode::kMemory);
  const auto is_valid = [&](const std::string& from) {
    return !catch_error([&] { const Statement all(database, fmt::format("SELECT 1{} WHERE ({}\n)", from, filter)); });
  };
  return is_valid(fmt::format(" FROM (SELECT {})", fmt::join(columns, ", "))) && !is_valid("");
}

}  // namespace

std::string catalogue_where(const std::string& filter) {
  const bool is_meant = filter.find_first_of("=<>'") != std::string::npos;  // so that `ls` says what is wrong with it
  return is_meant || asks_for_column(filter) ? filter : "";
}

std::optional<Words> catalogue_options(const HttpRequest& request) {
  constexpr std::pair<std::string_view, std::string_view> kOrders[] = {{"", ""},
                                                                       {"change", ""},
                                                                       {"name", "index_path:asc"},
                                                                       {"period", "period"},
                                                                       {"date", "date"},
                                                                       {"steps", "steps"},
                                                                       {"gpu", "gpu:asc"},
                                                                       {"framework", "framework:asc"},
                                                                       {"model", "model:asc"},
                                                                       {"kernels", "kernels"}};
  const std::string sort = request.param("sort"), filter = request.param("f");
  const auto* order = std::ranges::find(kOrders, sort, [](const auto& one) { return one.first; });
  if (order == std::end(kOrders)) throw usage_error("sort: the list has no order '{}'", sort);
  std::string where = catalogue_where(filter);
  if (where != filter || !request.param("job").empty() || !request.param("night").empty()) return std::nullopt;
  for (const std::string_view facet : {"gpu", "framework", "model", "state"}) {
    const std::string value = request.param(facet);
    if (value.empty()) continue;
    if (!where.empty()) where = fmt::format("({}) AND ", where);
    where += fmt::format("{} IS {}", facet, value == "[none]" ? "NULL" : quoted_text(value));
  }
  Words out;
  if (!where.empty()) out.push_back("--where=" + where);
  if (!order->second.empty()) out.push_back(fmt::format("--sort={}", order->second));
  return out;
}

std::string catalogue_html(const std::string& list, const std::string& trend, const HttpRequest& request) {
  const Value listed = python::read_json(list, "ls");
  const std::vector<Value> rows = rows_of(listed);
  const Value followed = trend.empty() ? Value() : python::read_json(trend, "trend");
  const std::vector<Series> series = read_series(followed);
  std::vector<Entry> entries = read_entries(rows, series);
  const std::size_t all = entries.size();
  const std::string filter = request.param("f");
  const bool is_sql = !catalogue_where(filter).empty();
  std::erase_if(entries, [&](const Entry& entry) { return !fits(entry, request, is_sql ? "" : filter); });
  sort_entries(entries, request.param("sort"));
  std::string out = "<main class=\"catalogue\">\n";
  out += trend.empty() ? "<h1>Looking for what became slower …</h1>\n" : sentence_html(followed, series);
  out += fmt::format(
      "<form class=\"filter\" method=\"get\" action=\"./\"><label>Filter <input name=\"f\" id=\"filter\" "
      "value=\"{}\" placeholder=\"words, or SQL: period &gt; 20e6\"></label>",
      html_text(request.param("f")));
  for (const auto& [key, text] : request.params) {
    if (key != "f" && key != "offset")
      out += fmt::format("<input type=\"hidden\" name=\"{}\" value=\"{}\">", html_text(key), html_text(text));
  }
  out += "<button>Filter</button> " + html_link({"series over time", "trend"}) + "</form>\n";
  out += facets_html(entries, request);
  const std::size_t offset = std::min(offset_of(request), entries.size());
  const std::size_t end = std::min(offset + kRowsOfPage, entries.size());
  out += "<form class=\"choose\" method=\"get\" action=\"c\">\n<p><button>Compare A with B</button> ";
  out += counted(entries.size(), "trace");
  if (!is_sql) out += fmt::format(" of {}", all);  // else `ls` left out some
  if (!filter.empty()) out += is_sql ? " for which this SQL is true" : " with these words";
  if (offset > 0)
    out += " " + html_link({"previous", with_param(request, "offset",
                                                   offset > kRowsOfPage ? std::to_string(offset - kRowsOfPage) : "")});
  if (end < entries.size()) out += " " + html_link({"next", with_param(request, "offset", std::to_string(end))});
  out += "</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"data rows\">\n" + heads_html(request) + "<tbody>\n";
  for (std::size_t i = offset; i < end; ++i) out += row_html(entries[i]);
  out += "</tbody></table></div></form>\n";
  return out + paragraphs(answer_warnings(listed), "note") + "</main>\n";
}

std::string trend_html(const std::string& trend) {
  const Value document = python::read_json(trend, "trend");
  const std::vector<std::string> warnings = answer_warnings(document);
  const CycleWords cycles(counts_cycles(warnings));
  std::vector<Series> all = read_series(document);
  std::ranges::stable_sort(all, std::greater(), [](const Series& one) {
    return std::isfinite(one.last_change()) ? std::abs(one.last_change()) : -1;
  });
  std::string out = paragraphs(warnings, "note");
  if (all.empty()) out += "<p class=\"empty\">No series.</p>\n";
  for (const Series& one : all) {
    out += fmt::format("<section class=\"series\"><h2>{} {}</h2>\n<p>{}</p>\n", html_text(inert_name(one.label)),
                       sparkline(one.values()), html_text(one.headline));
    out += fmt::format(
        "<details{}><summary>{}</summary>\n<table class=\"data rows\"><thead><tr><th>Date (UTC)</th>"
        "<th>Value</th><th>Change</th><th>Trace</th><th>Compare</th></tr></thead><tbody>\n",
        std::isfinite(one.last_change()) ? " open" : "", counted(one.points.size(), "run"));
    const Point* before = nullptr;
    for (const Point& point : one.points) {
      out += fmt::format("<tr{}><td>{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                         point.change.empty() ? "" : " class=\"changed\"", html_text(point.date),
                         std::isfinite(point.value) ? short_duration_text(point.value) : "-", html_text(point.change),
                         trace_link(point.index, point.index),
                         before == nullptr ? "" : comparison_link(before->index, point.index, "with the one before"));
      before = &point;
    }
    out += "</tbody></table></details></section>\n";
  }
  return out;
}

}  // namespace tracedb
