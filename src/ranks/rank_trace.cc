#include "ranks/rank_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/ascii.h"
#include "base/text/counted.h"
#include "index/validity.h"
#include "passes/select/device_columns.h"
#include "passes/time/timeline.h"

namespace tracedb {
namespace {

// What table `collective` says, by kernel id.
struct Described {
  std::uint32_t name = 0, group = 0;
  std::int64_t sequence = kUnknownValue;
  bool named = false, point_to_point = false;
};

bool is_point_to_point(std::string_view name) {
  const std::string text = ascii_lower(name);
  return text == "send" || text == "recv" || text == "isend" || text == "irecv" || text == "receive";
}

std::string group_text(const Statement& row) {
  const std::string name(row.is_null(1) ? std::string_view() : row.text(1));
  if (row.is_null(2)) return name;
  return fmt::format("{} {}", name, row.text(2));
}

std::unordered_map<std::uint32_t, Described> read_descriptions(const Index& index, JobTexts& texts) {
  std::unordered_map<std::uint32_t, Described> out;
  Statement rows(index.database(), "SELECT kernel_id, group_name, ranks, name, sequence FROM collective");
  while (rows.step()) {
    Described described;
    described.group = texts.groups.number(group_text(rows));
    described.named = !rows.is_null(3);
    if (described.named) {
      const std::string name(rows.text(3));
      described.name = texts.collectives.number(name);
      described.point_to_point = is_point_to_point(name);
    }
    if (!rows.is_null(4)) described.sequence = rows.int64(4);
    out.emplace(rows.id(0), described);
  }
  return out;
}

std::vector<std::string> short_names(const Index& index) {
  std::vector<std::string> out;
  Statement rows(index.database(), "SELECT id, short_name FROM kernel_name");
  while (rows.step()) {
    const std::uint32_t id = rows.id(0);
    if (id >= out.size()) out.resize(id + std::size_t{1});
    out[id] = rows.text(1);
  }
  return out;
}

// The device that communicates most: a lane.
std::uint32_t main_lane(const DeviceWork& work) {
  std::vector<std::size_t> collectives(work.lanes, 0);
  std::vector<std::size_t> kernels(work.lanes, 0);
  for_each_in_order(work, [&](const DeviceEvent& event) {
    if (communicates(event.work)) ++collectives[event.lane];
    ++kernels[event.lane];
  });
  std::uint32_t best = 0;
  for (std::uint32_t lane = 1; lane < work.lanes; ++lane) {
    if (std::pair(collectives[lane], kernels[lane]) > std::pair(collectives[best], kernels[best])) best = lane;
  }
  return best;
}

// Fills what a rank did, event by event.
class RankReader {
 public:
  RankReader(Workload& workload, JobTexts& texts, std::int64_t shift, RankTrace& out)
      : workload_(workload),
        texts_(texts),
        shift_(shift),
        out_(out),
        described_(read_descriptions(workload.index(), texts)),
        short_names_(short_names(workload.index())),
        names_(workload.events().kernels.ids("name_id")) {
    for (const std::string& name : workload.classes().names()) class_numbers_.push_back(texts.classes.number(name));
  }

  void read() {
    const DeviceColumns columns(workload_, LaneBy::kDevice, Times::kWindow);
    const DeviceWork work = columns.work();
    const std::uint32_t lane = main_lane(work);
    std::size_t elsewhere = 0;
    for_each_in_order(work, [&](const DeviceEvent& event) {
      if (event.lane == lane) return add(event);
      if (communicates(event.work)) ++elsewhere;
    });
    if (elsewhere > 0) {
      out_.notes.push_back(fmt::format("rank {}: {} on its other devices not looked at", out_.rank,
                                       counted(elsewhere, "collective is", "collectives are")));
    }
    add_figures(columns);
  }

 private:
  void add(const DeviceEvent& event) {
    const std::int64_t start = event.ts + shift_, end = event.end + shift_;
    out_.working.add(start, end);
    if (event.work != Work::kCopy) out_.computing_or_comm.add(start, end);
    if (event.work == Work::kCompute) {
      out_.computing.add(start, end);
      if (!event.ref.is_memory_op) add_compute(event, start, end);
    }
    if (communicates(event.work)) add_collective(event, start, end);
  }

  void add_compute(const DeviceEvent& event, std::int64_t start, std::int64_t end) {
    const auto& entry = workload_.classes().of(names_[event.ref.id - 1]);
    out_.compute.push_back({start, end - start, class_numbers_[entry.class_id]});
  }

  void add_collective(const DeviceEvent& event, std::int64_t start, std::int64_t end) {
    CollectiveEvent out;
    out.start = start;
    out.end = end;
    out.stream = event.stream;
    const auto& steps = workload_.steps().of_kernel;
    if (event.ref.id <= steps.size()) out.step = steps[event.ref.id - 1];
    out.selected = !event.left_out;
    const auto found = described_.find(event.ref.id);
    const bool described = found != described_.end();
    out.group = described ? found->second.group : texts_.groups.number("");
    if (described) {
      out.sequence = found->second.sequence;
      out.point_to_point = found->second.point_to_point;
    }
    out.name = described && found->second.named ? found->second.name : name_of_kernel(event.ref.id);
    out_.collectives.push_back(out);
  }

  std::uint32_t name_of_kernel(std::uint32_t kernel) {
    const std::uint32_t id = names_[kernel - 1];
    return texts_.collectives.number(id < short_names_.size() ? short_names_[id] : std::string());
  }

  void add_figures(const DeviceColumns& columns) {
    const LaunchColumns launches(workload_.index());
    TimelineOptions options;
    options.window = window_of(workload_.selection());
    for (const LaneTimeline& lane : timelines(columns.work(), launches.calls(), options)) {
      RankFigures& sum = out_.figures;
      sum.kernels += lane.kernels;
      sum.span += lane.span;
      sum.busy += lane.busy;
      sum.computation += lane.computation;
      sum.idle += lane.idle;
      sum.comm += lane.comm;
      sum.exposed_comm += lane.exposed_comm;
      sum.exposed_copy += lane.exposed_copy;
    }
  }

  Workload& workload_;
  JobTexts& texts_;
  std::int64_t shift_;
  RankTrace& out_;
  std::unordered_map<std::uint32_t, Described> described_;
  std::vector<std::string> short_names_;
  std::span<const std::uint32_t> names_;
  std::vector<std::uint32_t> class_numbers_;
};

SteppedEvents stepped(const EventColumns& columns, std::span<const std::uint32_t> step) {
  return {columns.int64s("ts"), columns.int64s("dur"), columns.ids("stream_id"), step};
}

}  // namespace

TimeParts RankTrace::parts(std::int64_t from, std::int64_t to) const {
  const std::int64_t computed = computing.covered(from, to);
  const std::int64_t with_comm = computing_or_comm.covered(from, to);
  const std::int64_t all = working.covered(from, to);
  return {computed, with_comm - computed, all - with_comm, to - from - all};
}

RankTrace read_rank_trace(Workload& workload, std::int64_t rank, std::int64_t base, JobTexts& texts) {
  RankTrace out;
  out.rank = rank;
  const Index& index = workload.index();
  out.complete = index.complete();
  out.trace = source_of(index).empty() ? index.path().string() : source_of(index).string();
  const std::int64_t shift = index.meta_int64("base_time_ns").value_or(0) - base;
  RankReader(workload, texts, shift, out).read();
  const StepSet& steps = workload.steps();
  out.steps = steps.steps;
  const EventTables& events = workload.events();
  out.step_stats = step_stats(stepped(events.kernels, steps.of_kernel), stepped(events.memory, steps.of_memory),
                              events.device_of_stream, steps.steps.size());
  return out;
}

}  // namespace tracedb
