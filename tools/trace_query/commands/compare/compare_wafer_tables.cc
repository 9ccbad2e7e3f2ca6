#include "trace_query/commands/compare/compare_wafer_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <utility>

namespace tracedb {
namespace {

using wafer::mean;
using wafer::Side;

std::string text_of(std::string_view text) { return std::string(text); }
Cell known_text(std::string_view text) { return text.empty() ? Cell() : Cell(text_of(text)); }
Cell count_of(std::size_t count) { return static_cast<std::int64_t>(count); }
std::string name_of(Side side) { return side == Side::kFirst ? "baseline" : "candidate"; }

double ratio_of(double first, double second) {
  return second == 0 ? std::numeric_limits<double>::infinity() : first / second;
}

Column column(const char* key, const char* head, Unit unit, OthersAggregate others = OthersAggregate::kNone) {
  return {key, head, unit, others};
}
Column label(const char* key, const char* head) { return column(key, head, Unit::kText, OthersAggregate::kLabel); }
Column text(const char* key, const char* head) { return column(key, head, Unit::kText); }
Column count(const char* key, const char* head) { return column(key, head, Unit::kCount, OthersAggregate::kSum); }
Column time(const char* key, const char* head) { return column(key, head, Unit::kTime, OthersAggregate::kSum); }
Column average(const char* key, const char* head) { return column(key, head, Unit::kTime); }
Column number_column(const char* key, const char* head) { return column(key, head, Unit::kCount); }
Column ratio(const char* key, const char* head) { return column(key, head, Unit::kRatio); }

// Count, average and total of each side, then how they compare.
void add_figures(std::vector<Column>& columns, bool totals) {
  columns.push_back(count("baseline_count", "Base Count"));
  columns.push_back(count("candidate_count", "Cand Count"));
  columns.push_back(average("baseline_avg", "Base Avg"));
  columns.push_back(average("candidate_avg", "Cand Avg"));
  if (totals) {
    columns.push_back(time("baseline_total", "Base Total"));
    columns.push_back(time("candidate_total", "Cand Total"));
  }
  columns.push_back(ratio("ratio", "Base/Cand"));
  columns.push_back(totals ? time("gap", "Gap") : average("gap", "Gap"));
}

WaferTable operations(const WaferResult& result) {
  WaferTable table{"operations", "operations", "Operations both have", {label("operation", "Operation")}, {}};
  add_figures(table.columns, true);
  for (const auto& [key, head] :
       {std::pair{"status", "Status"}, std::pair{"phases", "Phases"}, std::pair{"baseline_kernel", "Base Kernel"},
        std::pair{"candidate_kernel", "Cand Kernel"}, std::pair{"baseline_cpu_op", "Base Operator"},
        std::pair{"candidate_cpu_op", "Cand Operator"}}) {
    table.columns.push_back(text(key, head));
  }
  table.essential = {"operation", "baseline_count", "candidate_count", "baseline_total", "candidate_total", "ratio",
                     "gap",       "status"};
  table.produce = [&result](const RowSink& sink) {
    for (const wafer::OperationRecord& record : result.comparison.operations) {
      const auto& [first, second] = std::tie(record.first, record.second);
      const bool decode = first.decode || second.decode;
      const bool prefill = first.prefill || second.prefill;
      sink({record.operation, first.count, second.count, mean(first.total, first.count),
            mean(second.total, second.count), first.total, second.total, record.ratio, record.gap,
            text_of(to_string(record.status)), std::string(decode ? prefill ? "decode, prefill" : "decode" : "prefill"),
            first.pattern, second.pattern, known_text(first.cpu_op), known_text(second.cpu_op)});
    }
  };
  return table;
}

WaferTable operation_kernels(const WaferResult& result) {
  WaferTable table{"operations",
                   "operation_kernels",
                   "Their kernels",
                   {text("operation", "Operation"), text("side", "Side"), time("total_time", "Total Time"),
                    count("instances", "Instances"), average("avg", "Avg"), label("name", "Name")},
                   {}};
  table.produce = [&result](const RowSink& sink) {
    for (const wafer::OperationRecord& record : result.comparison.operations) {
      for (const Side side : {Side::kFirst, Side::kSecond}) {
        const bool first = side == Side::kFirst;
        const wafer::Trace& trace = first ? result.baseline : result.candidate;
        for (const wafer::NameTotal& kernel : (first ? record.first : record.second).kernels) {
          sink({record.operation, name_of(side), kernel.total, kernel.count, mean(kernel.total, kernel.count),
                trace.names[kernel.name].text});
        }
      }
    }
  };
  return table;
}

WaferTable layers(const WaferResult& result) {
  WaferTable table{"layers",
                   "layers",
                   "Layers by correlation",
                   {label("layer", "Layer"), text("status", "Status"), count("baseline_kernels", "Base Kernels"),
                    count("candidate_kernels", "Cand Kernels"), time("baseline_total", "Base Total"),
                    time("candidate_total", "Cand Total"), ratio("ratio", "Base/Cand"), time("gap", "Gap"),
                    number_column("in_both", "In Both")},
                   {}};
  table.produce = [&result](const RowSink& sink) {
    for (const wafer::LayerRecord& record : result.comparison.layers) {
      sink({count_of(record.layer), text_of(to_string(record.status)), record.first.kernels, record.second.kernels,
            record.first.total, record.second.total, record.ratio, record.gap, count_of(record.in_both ? 1 : 0)});
    }
  };
  return table;
}

WaferTable aligned_layers(const WaferResult& result) {
  WaferTable table{"alignment",
                   "aligned_layers",
                   "Layers by attention kernels",
                   {label("layer", "Layer"), count("pairs", "Pairs"), time("baseline_total", "Base Total"),
                    time("candidate_total", "Cand Total"), ratio("ratio", "Base/Cand"), time("gap", "Gap")},
                   {}};
  table.produce = [&result](const RowSink& sink) {
    std::size_t number = 0;
    for (const wafer::AlignedLayer& layer : result.comparison.alignment.layers) {
      const double ratio = ratio_of(static_cast<double>(layer.first_total), static_cast<double>(layer.second_total));
      sink({count_of(number++), count_of(layer.pairs.size()), layer.first_total, layer.second_total, ratio,
            layer.first_total - layer.second_total});
    }
  };
  return table;
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

WaferTable pairs(const WaferResult& result) {
  WaferTable table{"alignment",
                   "pairs",
                   "Pairs of kernels by operation and position",
                   {label("layer", "Layer"), number_column("position", "Position"), text("operation", "Operation")},
                   {}};
  add_figures(table.columns, true);
  table.columns.back() = average("gap", "Gap of Avg");
  for (Column more : {text("detail", "Detail"), text("note", "Note"), text("fused_by", "Fused By"),
                      ratio("count_ratio", "Count Ratio"), number_column("same_kernel", "Same"),
                      text("baseline_kernel", "Base Kernel"), text("candidate_kernel", "Cand Kernel")}) {
    table.columns.push_back(std::move(more));
  }
  table.essential = {"layer", "position", "operation", "ratio", "gap", "baseline_kernel", "candidate_kernel"};
  table.produce = [&result](const RowSink& sink) {
    for (std::size_t layer = 0; layer < result.comparison.alignment.layers.size(); ++layer) {
      for (const wafer::KernelPair& pair : result.comparison.alignment.layers[layer].pairs) {
        sink(pair_row(result, layer, pair));
      }
    }
  };
  return table;
}

WaferTable fusion(const WaferResult& result) {
  WaferTable table{"fusion",
                   "fusion",
                   "Fusion findings",
                   {label("type", "Type"), text("fused_by", "Fused By"), count("count", "Count"),
                    ratio("confidence", "Confidence"), text("unfused_by", "Unfused By"),
                    text("unfused_sequence", "Unfused Sequence"), text("fused_kernel", "Fused Kernel")},
                   {}};
  table.produce = [&result](const RowSink& sink) {
    for (const wafer::Fusion& found : result.comparison.fusions) {
      sink({found.type, name_of(found.fused_by), found.count, found.confidence, name_of(other(found.fused_by)),
            fmt::format("{}", fmt::join(found.unfused, " > ")), found.fused_kernel});
    }
  };
  return table;
}

WaferTable same_kernels(const WaferResult& result) {
  WaferTable table{"same-kernels",
                   "same_kernels",
                   "Pairs of the same kernel",
                   {label("layer", "Layer"), text("operation", "Operation")},
                   {}};
  add_figures(table.columns, false);
  table.columns.push_back(text("name", "Name"));
  table.produce = [&result](const RowSink& sink) {
    for (const wafer::SameKernel& same : result.comparison.same_kernels.kernels) {
      const auto& [first, second] = std::tie(same.pair.first, same.pair.second);
      const double first_avg = mean(first.total, first.count);
      const double second_avg = mean(second.total, second.count);
      sink({count_of(same.layer), result.comparison.alignment.ops[same.pair.op], std::int64_t{first.count},
            std::int64_t{second.count}, first_avg, second_avg, wafer::ratio_of(same.pair), first_avg - second_avg,
            name_at(result.baseline, first).text});
    }
  };
  return table;
}

WaferTable warnings(const WaferResult& result) {
  WaferTable table{"warnings",
                   "warnings",
                   "Its warnings",
                   {label("code", "Code"), text("severity", "Severity"), text("message", "Message")},
                   {}};
  table.produce = [&result](const RowSink& sink) {
    for (const wafer::Warning& warning : result.comparison.warnings) {
      sink({text_of(warning.code), text_of(warning.severity), text_of(warning.message)});
    }
  };
  return table;
}

void summarise_device(const WaferResult& result, const RowSink& sink) {
  const wafer::Device& a = result.baseline.device;
  const wafer::Device& b = result.candidate.device;
  const auto platform = [](const wafer::Trace& trace) {
    return std::string(trace.platform == wafer::Platform::kAmd ? "AMD" : "NVIDIA");
  };
  sink({std::string("platform"), platform(result.baseline), platform(result.candidate)});
  sink({std::string("device"), a.name, b.name});
  sink({std::string("compute capability"), a.compute_capability, b.compute_capability});
  sink({std::string("memory (GiB)"), a.total_memory_gb, b.total_memory_gb});
  sink({std::string("multiprocessors"), a.sm_count, b.sm_count});
  sink({std::string("warp size"), a.warp_size, b.warp_size});
  sink({std::string("threads per block"), a.max_threads_per_block, b.max_threads_per_block});
  sink({std::string("shared memory per block (KiB)"), a.shared_mem_per_block_kb, b.shared_mem_per_block_kb});
}

WaferTable summary(const WaferResult& result) {
  WaferTable table{
      "summary",
      "summary",
      "Summary",
      {label("item", "Item"), column("baseline", "Baseline", Unit::kAny), column("candidate", "Candidate", Unit::kAny)},
      {}};
  table.produce = [&result](const RowSink& sink) {
    const wafer::Comparison& all = result.comparison;
    const wafer::SameKernels& same = all.same_kernels;
    const auto both = [&](const char* item, Cell first, Cell second) {
      sink({std::string(item), std::move(first), std::move(second)});
    };
    const auto common = [&](const char* item, const Cell& value) { both(item, value, value); };
    const auto milliseconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
    const std::string phase(result.phase ? to_string(*result.phase) : "all");
    summarise_device(result, sink);
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
  };
  return table;
}

}  // namespace

std::vector<WaferTable> wafer_tables(const WaferResult& result) {
  std::vector<WaferTable> tables;
  for (const auto make :
       {summary, operations, operation_kernels, layers, aligned_layers, pairs, fusion, same_kernels, warnings}) {
    tables.push_back(make(result));
  }
  return tables;
}

}  // namespace tracedb
