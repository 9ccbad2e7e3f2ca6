#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "base/text/closest_name.h"
#include "compare/wafer/comparison.h"
#include "report/json_text.h"
#include "report/sql_report.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/open.h"

namespace tracedb {
namespace {

using Rows = std::vector<Row>;

struct WaferResult {
  const wafer::Trace &baseline, &candidate;
  wafer::Comparison comparison;
  wafer::PhaseFilter phase;
};

struct WaferTable {
  std::string_view section;  // of --section; one section may have several tables
  std::string_view key;      // in JSON
  std::string_view title;
  void (*add_rows)(const WaferResult& result, Rows& rows);
  std::string_view essential = {};  // columns that are worth the width of a page; "": all
  std::vector<Column> columns = declared_columns(fmt::format("wafer_{}", key));
};

// The AMD trace first, as that tool has them.
struct TwoTraces {
  std::vector<OpenedTrace> opened;
  std::vector<std::string> names, notes;
};

TwoTraces open_both(const CommandLine& line) {
  TwoTraces out{{}, line.inputs(), {}};
  if (out.names.size() != 2)
    throw usage_error("compare --method wafer: {} traces given, it compares two", out.names.size());
  for (const std::string& input : out.names) {
    const OpenedTrace& opened = out.opened.emplace_back(open_trace(input, line));
    for (const std::string& note : opened.notes) out.notes.push_back(fmt::format("{}: {}", input, note));
    if (wafer::is_comparable(opened.index)) continue;
    throw usage_error("compare --method wafer: {}: its vendor is {}, and that tool knows AMD and NVIDIA",
                      printable_path(input), opened.index.meta("vendor").value_or("unknown"));
  }
  if (wafer::is_swapped(wafer::platform_of(out.opened[0].index), wafer::platform_of(out.opened[1].index))) {
    std::ranges::reverse(out.names);
    std::ranges::reverse(out.opened);
    out.notes.push_back(fmt::format("as in that tool, the AMD trace comes first: the baseline is {}", out.names[0]));
  }
  return out;
}

void add_notes(const WaferResult& result, std::vector<std::string>& notes) {
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
}

// Of facts, the first ones are not the most important.
std::size_t limit_of(const WaferTable& table, const CommandLine& line) {
  return table.section == "summary" ? 0 : row_limit(line);
}

// The first rows of a table, and one that sums up the rest; `all`: how many rows there are.
Report report_of(const WaferResult& result, const WaferTable& table, const CommandLine& line, std::size_t& all) {
  Report out{table.columns, {}};
  table.add_rows(result, out.rows);
  all = out.rows.size();
  limit_rows(out, limit_of(table, line));
  return out;
}

void note_rows(const Output& output, const CommandLine& line, const WaferTable& table, std::size_t rows) {
  const std::size_t limit = limit_of(table, line);
  if (rows == 0) output.note(fmt::format("{}: none", table.title));
  if (limit == 0 || rows <= limit || line.has("limit")) return;
  output.note(fmt::format("{}: [others] is {}; --limit 0 shows all", table.title, counted(rows - limit, "more row")));
}

void print_table(const WaferResult& result, const WaferTable& table, const std::vector<std::string>& inputs,
                 const CommandLine& line, Output& output) {
  std::size_t rows = 0;
  Report report = report_of(result, table, line, rows);
  const bool fewer = !table.essential.empty() && line.renderer().name == "table" && !line.has("wide");
  if (fewer) choose_columns(report, table.essential);
  if (line.renderer().name == "jsonl") add_text_column(report, "section", "Section", std::string(table.key));
  output.separate(std::string(table.title));
  note_rows(output, line, table, rows);
  if (fewer) output.note(fmt::format("{}: --wide has more columns", table.title));
  render(report, {"compare-wafer", inputs}, {}, *output.renderer());
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

void print_document(const WaferResult& result, const std::vector<WaferTable>& tables, const TwoTraces& both,
                    const CommandLine& line, std::ostream& out) {
  out << "{\"schema\": \"tracedb.compare-wafer/1\",\n \"inputs\": " << json_list(both.names) << ",\n \"units\": {"
      << units_of(tables) << "},\n \"sections\": {";
  const char* separator = "\n  ";
  for (const WaferTable& table : tables) {
    out << separator << json_string(table.key) << ": [";
    separator = ",\n  ";
    const char* row_separator = "\n   ";
    const JsonObjects objects(table.columns);
    std::size_t all = 0;
    for (const Row& row : report_of(result, table, line, all).rows) {
      std::string text = row_separator;
      objects.append(text, row);
      out << text;
      row_separator = ",\n   ";
    }
    out << ']';
  }
  out << "\n },\n \"warnings\": " << json_list(both.notes) << "}\n";
}

using wafer::mean;
using wafer::Side;

std::string text_of(std::string_view text) { return std::string(text); }
Cell known_text(std::string_view text) { return text.empty() ? Cell() : Cell(text_of(text)); }
Cell count_of(std::size_t count) { return static_cast<std::int64_t>(count); }
std::string name_of(Side side) { return side == Side::kFirst ? "baseline" : "candidate"; }

double ratio_of(double first, double second) {
  return second == 0 ? std::numeric_limits<double>::infinity() : first / second;
}

void operations(const WaferResult& result, Rows& rows) {
  for (const wafer::OperationRecord& record : result.comparison.operations) {
    const auto& [first, second] = std::tie(record.first, record.second);
    const bool decode = first.decode || second.decode;
    const bool prefill = first.prefill || second.prefill;
    rows.push_back({record.operation, first.count, second.count, mean(first.total, first.count),
                    mean(second.total, second.count), first.total, second.total, record.ratio, record.gap,
                    text_of(to_string(record.status)),
                    std::string(decode ? prefill ? "decode, prefill" : "decode" : "prefill"), first.pattern,
                    second.pattern, known_text(first.cpu_op), known_text(second.cpu_op)});
  }
}

void operation_kernels(const WaferResult& result, Rows& rows) {
  for (const wafer::OperationRecord& record : result.comparison.operations) {
    for (const Side side : {Side::kFirst, Side::kSecond}) {
      const bool first = side == Side::kFirst;
      const wafer::Trace& trace = first ? result.baseline : result.candidate;
      for (const wafer::NameTotal& kernel : (first ? record.first : record.second).kernels) {
        rows.push_back({record.operation, name_of(side), kernel.total, kernel.count, mean(kernel.total, kernel.count),
                        trace.names[kernel.name].text});
      }
    }
  }
}

void layers(const WaferResult& result, Rows& rows) {
  for (const wafer::LayerRecord& record : result.comparison.layers) {
    rows.push_back({count_of(record.layer), text_of(to_string(record.status)), record.first.kernels,
                    record.second.kernels, record.first.total, record.second.total, record.ratio, record.gap,
                    count_of(record.in_both ? 1 : 0)});
  }
}

void aligned_layers(const WaferResult& result, Rows& rows) {
  std::size_t number = 0;
  for (const wafer::AlignedLayer& layer : result.comparison.alignment.layers) {
    const double ratio = ratio_of(static_cast<double>(layer.first_total), static_cast<double>(layer.second_total));
    rows.push_back({count_of(number++), count_of(layer.pairs.size()), layer.first_total, layer.second_total, ratio,
                    layer.first_total - layer.second_total});
  }
}

const wafer::KernelName& name_at(const wafer::Trace& trace, const wafer::PairSide& side) {
  static const wafer::KernelName kNone;
  return side.name == wafer::kNoName ? kNone : trace.names[side.name];
}

Row pair_row(const WaferResult& result, std::size_t layer, const wafer::KernelPair& pair) {
  const std::string& op = result.comparison.alignment.ops[pair.op];
  const wafer::KernelName& first = name_at(result.baseline, pair.first);
  const wafer::KernelName& second = name_at(result.candidate, pair.second);
  const wafer::FusionNote note = fusion_note(pair, op);
  const bool noted = note.kind != wafer::NoteKind::kNone;
  const double first_avg = mean(pair.first.total, pair.first.count);
  const double second_avg = mean(pair.second.total, pair.second.count);
  return {count_of(layer),
          count_of(pair.position),
          op,
          std::int64_t{pair.first.count},
          std::int64_t{pair.second.count},
          first_avg,
          second_avg,
          pair.first.total,
          pair.second.total,
          ratio_of(first_avg, second_avg),
          first_avg - second_avg,
          known_text(wafer::operation_detail(op, first.lower, second.lower)),
          known_text(to_string(note.kind)),
          noted ? Cell(name_of(note.fused_by)) : Cell(),
          note.kind == wafer::NoteKind::kCountRatio ? Cell(note.ratio) : Cell(),
          count_of(is_same_kernel(pair, result.baseline, result.candidate) ? 1 : 0),
          known_text(first.text),
          known_text(second.text)};
}

void pairs(const WaferResult& result, Rows& rows) {
  for (std::size_t layer = 0; layer < result.comparison.alignment.layers.size(); ++layer) {
    for (const wafer::KernelPair& pair : result.comparison.alignment.layers[layer].pairs) {
      rows.push_back(pair_row(result, layer, pair));
    }
  }
}

void fusion(const WaferResult& result, Rows& rows) {
  for (const wafer::Fusion& found : result.comparison.fusions) {
    rows.push_back({found.type, name_of(found.fused_by), found.count, found.confidence, name_of(other(found.fused_by)),
                    fmt::format("{}", fmt::join(found.unfused, " > ")), found.fused_kernel});
  }
}

void same_kernels(const WaferResult& result, Rows& rows) {
  for (const wafer::SameKernel& same : result.comparison.same_kernels.kernels) {
    const auto& [first, second] = std::tie(same.pair.first, same.pair.second);
    const double first_avg = mean(first.total, first.count);
    const double second_avg = mean(second.total, second.count);
    rows.push_back({count_of(same.layer), result.comparison.alignment.ops[same.pair.op], std::int64_t{first.count},
                    std::int64_t{second.count}, first_avg, second_avg, wafer::ratio_of(same.pair),
                    first_avg - second_avg, name_at(result.baseline, first).text});
  }
}

void warnings(const WaferResult& result, Rows& rows) {
  for (const wafer::Warning& warning : result.comparison.warnings) {
    rows.push_back({text_of(warning.code), text_of(warning.severity), text_of(warning.message)});
  }
}

void summary(const WaferResult& result, Rows& rows) {
  const wafer::Comparison& all = result.comparison;
  const wafer::SameKernels& same = all.same_kernels;
  const auto both = [&](const char* item, Cell first, Cell second) {
    rows.push_back({std::string(item), std::move(first), std::move(second)});
  };
  const auto common = [&](const char* item, const Cell& value) { both(item, value, value); };
  const auto milliseconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  const std::string phase(result.phase ? to_string(*result.phase) : "all");
  const wafer::Device &a = result.baseline.device, &b = result.candidate.device;
  const auto platform = [](const wafer::Trace& trace) {
    return std::string(trace.platform == wafer::Platform::kAmd ? "AMD" : "NVIDIA");
  };
  both("platform", platform(result.baseline), platform(result.candidate));
  both("device", a.name, b.name);
  both("compute capability", a.compute_capability, b.compute_capability);
  both("memory (GiB)", a.total_memory_gb, b.total_memory_gb);
  both("multiprocessors", a.sm_count, b.sm_count);
  both("warp size", a.warp_size, b.warp_size);
  both("threads per block", a.max_threads_per_block, b.max_threads_per_block);
  both("shared memory per block (KiB)", a.shared_mem_per_block_kb, b.shared_mem_per_block_kb);
  common("phase", phase);
  both("kernels", all.first.kernels, all.second.kernels);
  both("kernel time (ms)", milliseconds(all.first.total), milliseconds(all.second.total));
  both("correlations in layers", count_of(all.first.layers), count_of(all.second.layers));
  common("architecture", text_of(to_string(all.architecture)));
  both("forward passes", count_of(all.alignment.passes.all), Cell());
  both("passes of prefill", count_of(all.alignment.passes.prefill), Cell());
  both("passes of decode", count_of(all.alignment.passes.decode), Cell());
  common("aligned layers", count_of(all.alignment.layers.size()));
  common("same kernels", count_of(same.kernels.size()));
  common("average ratio of same kernels", same.average_ratio);
  both("same kernels faster here", same.first_faster, same.second_faster);
}

std::vector<WaferTable> wafer_tables() {
  return {{"summary", "summary", "Summary", summary},
          {"operations", "operations", "Operations both have", operations,
           "operation,baseline_count,candidate_count,baseline_total,candidate_total,ratio,gap,status"},
          {"operations", "operation_kernels", "Their kernels", operation_kernels},
          {"layers", "layers", "Layers by correlation", layers},
          {"alignment", "aligned_layers", "Layers by attention kernels", aligned_layers},
          {"alignment", "pairs", "Pairs of kernels by operation and position", pairs,
           "layer,position,operation,ratio,gap,baseline_kernel,candidate_kernel"},
          {"fusion", "fusion", "Fusion findings", fusion},
          {"same-kernels", "same_kernels", "Pairs of the same kernel", same_kernels},
          {"warnings", "warnings", "Its warnings", warnings}};
}

// Those of --section; none: all.
std::vector<WaferTable> requested_tables(const CommandLine& line) {
  std::vector<WaferTable> tables = wafer_tables();
  std::vector<std::string> known;
  for (const WaferTable& table : tables) {
    if (known.empty() || known.back() != table.section) known.emplace_back(table.section);
  }
  const std::vector<std::string> asked = line.names("section");
  const bool every = asked.empty() || std::ranges::find(asked, "all") != asked.end();
  for (const std::string& section : asked) {
    if (section == "all" || std::ranges::find(known, section) != known.end()) continue;
    throw usage_error("--section {}: with --method wafer there are {} and all{}", section, fmt::join(known, ", "),
                      did_you_mean(section, known));
  }
  std::erase_if(tables, [&](const WaferTable& table) {
    return !every && std::ranges::find(asked, table.section) == asked.end();
  });
  return tables;
}

}  // namespace

int run_wafer_comparison(const CommandLine& line) {
  const auto phase = line.choice<wafer::PhaseFilter>(
      "phase", {{"all", std::nullopt}, {"prefill", wafer::Phase::kPrefill}, {"decode", wafer::Phase::kDecode}},
      "with --method wafer there are all, prefill and decode");
  const std::vector<WaferTable> tables = requested_tables(line);
  Output output(line);
  TwoTraces both = open_both(line);
  const wafer::Trace baseline = wafer::read_trace(both.opened[0].index, wafer::Side::kFirst);
  const wafer::Trace candidate = wafer::read_trace(both.opened[1].index, wafer::Side::kSecond);
  const WaferResult result{baseline, candidate, wafer::compare(baseline, candidate, phase), phase};
  add_notes(result, both.notes);
  if (line.renderer().name == "json") {
    print_document(result, tables, both, line, output.stream());
  } else {
    for (const WaferTable& table : tables) print_table(result, table, both.names, line, output);
  }
  for (const std::string& note : both.notes) output.note(note);
  output.finish();
  return 0;
}

}  // namespace tracedb
