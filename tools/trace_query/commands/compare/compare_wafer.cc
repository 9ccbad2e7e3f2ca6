#include "trace_query/commands/compare/compare_wafer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/saturating.h"
#include "base/text/closest_name.h"
#include "base/text/counted.h"
#include "compare/wafer/read_trace.h"
#include "passes/columns/group_stats.h"
#include "report/json_text.h"
#include "trace_query/commands/compare/compare_wafer_tables.h"
#include "trace_query/open.h"
#include "trace_query/output.h"

namespace tracedb {
namespace {

struct WaferRequest {
  std::set<std::string, std::less<>> sections;
  wafer::PhaseFilter phase;
};

wafer::PhaseFilter parse_phase(const std::string& text) {
  if (text == "all") return std::nullopt;
  for (const wafer::Phase phase : {wafer::Phase::kPrefill, wafer::Phase::kDecode}) {
    if (text == to_string(phase)) return phase;
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("--phase {}: with --method wafer there are all, prefill and decode", text));
}

WaferRequest parse_request(const CommandLine& line) {
  WaferRequest out;
  out.phase = parse_phase(line.text("phase").value_or("all"));
  const std::vector<std::string> known(std::begin(kWaferSections), std::end(kWaferSections));
  for (const std::string& section : line.names("section")) {
    if (std::find(known.begin(), known.end(), section) == known.end()) {
      throw Error(ErrorCode::kUsage, fmt::format("--section {}: with --method wafer there are {}{}", section,
                                                 fmt::join(known, ", "), did_you_mean(section, known)));
    }
    out.sections.insert(section);
  }
  if (out.sections.empty()) out.sections.insert(known.begin(), known.end());
  return out;
}

// Passes the first rows on, and one that sums up the rest.
class LimitedRows {
 public:
  LimitedRows(const std::vector<Column>& columns, std::size_t limit, RowSink sink)
      : columns_(columns), limit_(limit), sink_(std::move(sink)), others_(columns.size()) {}

  void row(Row row) {
    if (++seen_ <= limit_ || limit_ == 0) return sink_(std::move(row));
    for (std::size_t i = 0; i < row.size(); ++i) add(columns_[i], row[i], others_[i]);
  }

  // Returns how many rows there were.
  std::size_t finish() {
    if (limit_ == 0 || seen_ <= limit_) return seen_;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].others == OthersAggregate::kLabel) others_[i] = std::string("[others]");
    }
    sink_(std::move(others_));
    return seen_;
  }

 private:
  static void add(const Column& column, const Cell& cell, Cell& sum) {
    const auto* more = std::get_if<std::int64_t>(&cell);
    if (column.others != OthersAggregate::kSum || more == nullptr) return;
    const auto* known = std::get_if<std::int64_t>(&sum);
    sum = saturating_add(*more, known == nullptr ? 0 : *known);
  }

  const std::vector<Column>& columns_;
  std::size_t limit_;
  RowSink sink_;
  Row others_;
  std::size_t seen_ = 0;
};

// Of facts, the first ones are not the most important.
std::size_t limit_of(const WaferTable& table, const CommandLine& line) {
  return table.section == "summary" ? 0 : row_limit(line);
}

void note_rows(const Output& output, const CommandLine& line, const WaferTable& table, std::size_t rows) {
  const std::size_t limit = limit_of(table, line);
  if (rows == 0) output.note(fmt::format("{}: none", table.title));
  if (limit == 0 || rows <= limit || line.has("limit")) return;
  output.note(fmt::format("{}: [others] is {}; --limit 0 shows all", table.title, counted(rows - limit, "more row")));
}

// The places of the columns to print.
std::vector<std::size_t> shown_columns(const WaferTable& table, const CommandLine& line) {
  const bool all = table.essential.empty() || line.renderer().name != "table" || line.has("wide");
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& wanted = table.essential;
    if (all || std::find(wanted.begin(), wanted.end(), table.columns[i].key) != wanted.end()) places.push_back(i);
  }
  return places;
}

template <class Value>
std::vector<Value> pick(const std::vector<Value>& values, const std::vector<std::size_t>& places) {
  std::vector<Value> out;
  for (const std::size_t place : places) out.push_back(values[place]);
  return out;
}

void print_table(const WaferTable& table, const std::vector<std::string>& inputs, const CommandLine& line,
                 Output& output) {
  const auto renderer = output.renderer();
  const std::vector<std::size_t> places = shown_columns(table, line);
  std::vector<Column> columns = pick(table.columns, places);
  const bool named = line.renderer().name == "jsonl";  // one stream of rows: each says where it belongs
  if (named) columns.insert(columns.begin(), {"section", "Section", Unit::kText, OthersAggregate::kNone});
  output.separate(std::string(table.title));
  renderer->begin({"compare-wafer", inputs}, columns);
  LimitedRows rows(table.columns, limit_of(table, line), [&](const Row& all) {
    Row row = pick(all, places);
    if (named) row.insert(row.begin(), std::string(table.key));
    renderer->row(row);
  });
  table.produce([&](Row row) { rows.row(std::move(row)); });
  note_rows(output, line, table, rows.finish());
  if (places.size() < table.columns.size()) output.note(fmt::format("{}: --wide has more columns", table.title));
  renderer->end({});
}

std::string units_of(const std::vector<WaferTable>& tables) {
  std::set<std::string> units;
  for (const WaferTable& table : tables) {
    for (const Column& column : table.columns) {
      if (column.unit == Unit::kAny || column.unit == Unit::kText) continue;
      units.insert(fmt::format("{}: {}", json_string(column.key), json_string(to_string(column.unit))));
    }
  }
  return fmt::format("{}", fmt::join(units, ", "));
}

void print_document(const std::vector<WaferTable>& tables, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& notes, const CommandLine& line, Output& output) {
  std::ostream& out = output.stream();
  out << "{\"schema\": \"tracedb.compare-wafer/1\",\n \"inputs\": " << json_list(inputs) << ",\n \"units\": {"
      << units_of(tables) << "},\n \"sections\": {";
  const char* separator = "\n  ";
  for (const WaferTable& table : tables) {
    out << separator << json_string(table.key) << ": [";
    separator = ",\n  ";
    const char* row_separator = "\n   ";
    const JsonObjects objects(table.columns);
    LimitedRows rows(table.columns, limit_of(table, line), [&](const Row& row) {
      std::string text = row_separator;
      objects.append(text, row);
      out << text;
      row_separator = ",\n   ";
    });
    table.produce([&](Row row) { rows.row(std::move(row)); });
    rows.finish();
    out << ']';
  }
  out << "\n },\n \"warnings\": " << json_list(notes) << "}\n";
}

std::vector<std::string> notes_of(const WaferResult& result) {
  std::vector<std::string> notes;
  const auto add = [&](const wafer::Trace& trace, std::int64_t kernels, const char* side) {
    if (trace.kernels.empty()) {
      notes.push_back(fmt::format("the {} has no kernels", side));
    } else if (kernels == 0) {
      notes.push_back(fmt::format("no kernel of the {} is of phase {}", side, to_string(*result.phase)));
    }
  };
  add(result.baseline, result.comparison.first.kernels, "baseline");
  add(result.candidate, result.comparison.second.kernels, "candidate");
  if (result.baseline.platform != wafer::Platform::kAmd || result.candidate.platform != wafer::Platform::kNvidia) {
    notes.emplace_back(
        "as in that tool, alignment and fusion treat the baseline as AMD and the candidate as NVIDIA, even if they are "
        "not: a trace may differ from itself");
  }
  return notes;
}

struct TwoTraces {
  std::vector<OpenedTrace> opened;  // as given
  std::array<const Index*, 2> indexes;
  std::vector<std::string> names;
  std::vector<std::string> notes;
};

TwoTraces open_both(const CommandLine& line) {
  const auto inputs = line.inputs();
  if (inputs.size() != 2) {
    throw Error(ErrorCode::kUsage,
                fmt::format("compare --method wafer: {} traces given, it compares two", inputs.size()));
  }
  TwoTraces out;
  out.opened.reserve(inputs.size());
  for (const std::string& input : inputs) {
    out.names.push_back(input);
    out.opened.push_back(open_trace(input, line));
    for (const std::string& note : out.opened.back().notes) out.notes.push_back(fmt::format("{}: {}", input, note));
  }
  out.indexes = {&out.opened[0].index, &out.opened[1].index};
  if (wafer::is_swapped(wafer::platform_of(*out.indexes[0]), wafer::platform_of(*out.indexes[1]))) {
    std::swap(out.names[0], out.names[1]);
    std::swap(out.indexes[0], out.indexes[1]);
    out.notes.push_back(fmt::format("as in that tool, the AMD trace comes first: the baseline is {}", out.names[0]));
  }
  return out;
}

}  // namespace

int run_wafer_comparison(const CommandLine& line) {
  const WaferRequest request = parse_request(line);
  Output output(line);
  TwoTraces both = open_both(line);
  WaferResult result{wafer::read_trace(*both.indexes[0], wafer::Side::kFirst),
                     wafer::read_trace(*both.indexes[1], wafer::Side::kSecond),
                     {},
                     request.phase};
  result.comparison = wafer::compare(result.baseline, result.candidate, request.phase);
  const std::vector<std::string> notes = notes_of(result);
  both.notes.insert(both.notes.end(), notes.begin(), notes.end());
  std::vector<WaferTable> tables = wafer_tables(result);
  std::erase_if(tables, [&](const WaferTable& table) { return !request.sections.contains(table.section); });
  if (line.renderer().name == "json") {
    print_document(tables, both.names, both.notes, line, output);
  } else {
    for (const WaferTable& table : tables) print_table(table, both.names, line, output);
  }
  for (const std::string& note : both.notes) output.note(note);
  output.finish();
  return 0;
}

}  // namespace tracedb
