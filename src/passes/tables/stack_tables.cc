// Kernel time by Python call path, and the sequences of kernels that repeat.
#include <algorithm>

#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/stacks/stack_times.h"
#include "passes/stacks/sequences.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

std::vector<CallNode> nodes_of(const StackTimes& times, const PassOptions& options) {
  if (options.view == CallTreeView::kFlat) return flat_profile(times.stacks, times.times);
  const TreeSide side = options.view == CallTreeView::kTree ? TreeSide::kOutside : TreeSide::kInside;
  std::vector<CallNode> tree = call_tree(times.stacks, times.times, side);
  const bool all_frames = options.all_frames || options.frames.which != Frames::kAll;
  return all_frames ? tree : without_chains(tree, side);
}

// The texts of the labels, and by name_id which a kernel has: its short name or operation class.
struct SequenceLabels {
  std::vector<std::uint32_t> of_name;
  std::vector<std::string> texts;
};

SequenceLabels labels_of(Workload& workload, bool by_op) {
  std::vector<std::pair<std::string, std::uint32_t>> names;
  Statement rows(workload.index().database(), "SELECT id, short_name FROM kernel_name");
  while (rows.step()) {
    const std::uint32_t id = rows.id(0);
    names.emplace_back(by_op ? workload.classes().class_of(id) : rows.text(1), id);
  }
  std::ranges::sort(names);
  SequenceLabels labels;
  for (const auto& [text, id] : names) {
    if (labels.texts.empty() || labels.texts.back() != text) labels.texts.push_back(text);
    for_id(labels.of_name, id, kNoLabel) = static_cast<std::uint32_t>(labels.texts.size() - 1);
  }
  return labels;
}

}  // namespace

// In reading order: what a limit leaves must be a tree too.
void fill_call_tree(Workload& workload, const PassOptions& options, TableRows& rows) {
  const StackTimes times = stack_times(workload, options.frames);
  const std::vector<CallNode> nodes = nodes_of(times, options);
  std::int64_t all = times.passed_over.time;
  for (const PathTime& path : times.times) all = saturating_add(all, path.time);
  std::int64_t position = 0;
  const auto add = [&](const CallNode& node, std::string_view frame) {
    rows.add(++position).add(node.total).add(node.self).add(node.count).add(node.depth).add(frame).add(all);
    rows.add(std::max<std::int64_t>(node.instances, 1));
  };
  std::size_t most = options.most_frames;
  const auto add_rest = [&](const PathTime& rest, std::string_view name) {
    if (rest.count == 0) return;
    CallNode node;
    node.total = node.self = rest.time;
    node.count = rest.count;
    add(node, name);
    if (most > 1) --most;
  };
  add_rest(times.times[0], kNoStack);
  add_rest(times.passed_over, passed_over_text(options.frames.which));
  if (options.view == CallTreeView::kFlat) most = 0;  // no tree: the rows of the largest self time stay first
  for (const std::uint32_t id : largest_first(nodes, most)) add(nodes[id], times.frames[nodes[id].frame]);
}

void fill_sequences(Workload& workload, const PassOptions& options, TableRows& rows) {
  const EventColumns& kernels = workload.events().kernels;
  const EventFilter filter = workload.filter();
  const SequenceLabels labels = labels_of(workload, options.sequences_by_op);
  const auto dur = kernels.int64s("dur");
  const auto name = kernels.ids("name_id");
  LargeVector<std::uint32_t> label(kernels.size(), kNoLabel);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (!filter.keeps_kernel(i) || name[i] >= labels.of_name.size()) continue;
    label[i] = labels.of_name[name[i]];
    all = saturating_add(all, std::max<std::int64_t>(dur[i], 0));
  }
  std::int64_t position = 0;
  const LabelledKernels labelled{dur, kernels.ids("stream_id"), label};
  for (const SequenceStats& found : find_sequences(labelled, options.sequence_length, options.sequence_least)) {
    std::string text;
    for (const std::uint32_t one : found.labels) {
      const std::string& written = labels.texts[one];
      text += (text.empty() ? "" : " > ") + (options.sequence_name ? options.sequence_name(written) : written);
    }
    rows.add(++position).add(found.count).add(found.total).add(found.min).add(found.max).add(text).add(all);
  }
}

}  // namespace tracedb
