#include "ranks/rank_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/text/split.h"
#include "index/validity.h"
#include "passes/select/device_columns.h"

namespace tracedb {
namespace {

// What table `collective` says, by kernel id.
struct Described {
  std::uint32_t group = 0;
  std::string name, ranks;
  std::int64_t group_size = 0;
  std::int64_t sequence = kUnknownValue, source_rank = kUnknownValue, destination_rank = kUnknownValue;
};

std::string group_text(const Statement& row) {
  const std::string name(row.text(1));
  return row.is_null(2) ? name : fmt::format("{} {}", name, row.text(2));
}

std::unordered_map<std::uint32_t, Described> read_descriptions(const Index& index, JobTexts& texts) {
  std::unordered_map<std::uint32_t, Described> out;
  Statement rows(index.database(),
                 "SELECT kernel_id, group_name, ranks, name, sequence, source_rank, destination_rank, group_size "
                 "FROM collective");
  while (rows.step()) {
    Described described;
    described.group = texts.groups.number(group_text(rows));
    described.ranks = rows.text(2);
    described.name = rows.text(3);
    described.sequence = rows.integer(4).value_or(kUnknownValue);
    described.source_rank = rows.integer(5).value_or(kUnknownValue);
    described.destination_rank = rows.integer(6).value_or(kUnknownValue);
    described.group_size = rows.integer(7).value_or(0);
    out.emplace(rows.id(0), std::move(described));
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

std::uint32_t lane_of(const DeviceColumns& columns, const DeviceWork& work, std::uint32_t device) {
  std::uint32_t lane = 0;
  while (lane < work.lanes && columns.lane_id(lane) != device) ++lane;
  return lane;
}

// Fills what a rank did, event by event.
class RankReader {
 public:
  RankReader(Workload& workload, JobTexts& texts, RankTrace& out)
      : workload_(workload),
        texts_(texts),
        out_(out),
        described_(read_descriptions(workload.index(), texts)),
        short_names_(by_id<std::string>(workload.index(), "SELECT id, short_name FROM kernel_name",
                                        [](const Statement& row) { return std::string(row.text(1)); })),
        names_(workload.events().kernels.ids("name_id")),
        annotations_(workload.events().kernels.ids("annotation_id")),
        annotation_name_(workload.index(),
                         "SELECT s.value FROM annotation a JOIN string s ON s.id = a.name_id WHERE a.id = ?") {
    for (const std::string& name : workload.classes().names()) class_numbers_.push_back(texts.classes.number(name));
  }

  void read(std::optional<std::uint32_t> device) {
    const DeviceColumns columns(workload_, LaneBy::kDevice, Times::kWindow);
    const DeviceWork work = columns.work();
    const std::uint32_t lane = device ? lane_of(columns, work, *device) : main_lane(work);
    std::size_t elsewhere = 0;
    windows_.resize(workload_.steps().steps.size() + 1);
    for_each_in_order(work, [&](const DeviceEvent& event) {
      if (event.lane == lane) return add(event);
      if (communicates(event.work)) ++elsewhere;
    });
    if (elsewhere > 0 && !device) {
      out_.notes.push_back(fmt::format("rank {}: {} on its other devices not looked at", out_.rank,
                                       counted(elsewhere, "collective is", "collectives are")));
    }
    const std::vector<LaneTimeline> lanes =
        timelines(work, launch_calls(workload_.events().calls), {.window = window_of(workload_.selection())});
    for (std::uint32_t place = 0; place < lanes.size(); ++place) {
      if (!device || place == lane) add_figures(lanes[place]);
    }
    add_windows();
  }

 private:
  void add(const DeviceEvent& event) {
    const std::int64_t start = event.ts + out_.shift, end = event.end + out_.shift;
    if (is_selected(event)) {
      auto& [begin, until, has_kernels] = windows_[workload_.steps().of(event.ref)];
      if (until == kUnknownValue) begin = start;
      until = std::max(until, end);
      has_kernels |= !event.ref.is_memory_op;
    }
    out_.working.add(start, end);
    if (event.work != Work::kCopy) out_.computing_or_comm.add(start, end);
    if (event.work == Work::kCompute) {
      out_.computing.add(start, end);
      if (!event.ref.is_memory_op) add_compute(event, start, end);
    }
    if (communicates(event.work)) add_collective(event, start, end);
  }

  void add_windows() {
    std::vector<StepStart> starts;
    for (std::uint32_t step = 1; step < windows_.size(); ++step) {
      if (windows_[step].has_kernels) starts.push_back({step, 0, windows_[step].begin});
    }
    const std::vector<std::int64_t> periods = device_periods(workload_.steps(), starts).within_kind;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto& [step, device, begin] = starts[i];
      const std::int64_t next = periods[i] == kUnknownValue ? kUnknownValue : begin + periods[i];
      out_.windows.push_back({step, workload_.steps().steps[step - 1].info.kind, begin, windows_[step].end, next});
    }
    if (starts.empty() && windows_[0].has_kernels) out_.windows = {{0, {}, windows_[0].begin, windows_[0].end}};
  }

  [[nodiscard]] bool is_selected(const DeviceEvent& event) const {
    const Window window = window_of(workload_.selection());
    return !event.left_out && event.ts >= window.from && event.ts < window.to;
  }

  void add_compute(const DeviceEvent& event, std::int64_t start, std::int64_t end) {
    const auto& entry = workload_.classes().of(names_[event.ref.id - 1]);
    out_.compute.push_back({start, end - start, class_numbers_[entry.class_id], is_selected(event)});
  }

  void add_collective(const DeviceEvent& event, std::int64_t start, std::int64_t end) {
    CollectiveEvent out;
    out.start = start;
    out.end = end;
    out.stream = event.stream;
    out.kernel = event.ref.id;
    const auto& steps = workload_.steps().of_kernel;
    if (event.ref.id <= steps.size()) out.step = steps[event.ref.id - 1];
    out.selected = is_selected(event);
    const auto found = described_.find(event.ref.id);
    static const Described kNothing;
    const bool described = found != described_.end();
    describe(event.ref.id, described ? found->second : kNothing, out);
    out.group = described ? found->second.group : texts_.groups.number("");
    out_.collectives.push_back(out);
  }

  void describe(std::uint32_t kernel, const Described& described, CollectiveEvent& out) {
    const std::string_view short_name = name_of_kernel(kernel);
    const auto by = [&](std::string_view annotation) {
      return exchange_of(
          {described.name, short_name, described.ranks, annotation, described.source_rank, described.destination_rank});
    };
    ExchangeEnd end = by("");
    if (end.exchange == Exchange::kUnknownPeer) {
      end = by(annotation_name_.of(annotations_[kernel - 1]).value_or(""));
    }
    out.exchange = end.exchange;
    if (end.exchange == Exchange::kSend || end.exchange == Exchange::kReceive) {
      const bool sends = end.exchange == Exchange::kSend;
      out.name = texts_.collectives.number(
          fmt::format("send {} to {}", sends ? out_.rank : end.peer, sends ? end.peer : out_.rank));
      return;
    }
    if (end.exchange == Exchange::kCollective) {
      out.sequence = described.sequence;
      out.group_size = described.group_size;
    }
    out.name = texts_.collectives.number(described.name.empty() ? std::string(short_name) : described.name);
  }

  [[nodiscard]] std::string_view name_of_kernel(std::uint32_t kernel) const {
    const std::uint32_t id = names_[kernel - 1];
    return id < short_names_.size() ? std::string_view(short_names_[id]) : std::string_view();
  }

  void add_figures(const LaneTimeline& lane) {
    using Of = LaneTimeline;
    for (const auto figure : {&Of::kernels, &Of::span, &Of::busy, &Of::computation, &Of::idle, &Of::comm,
                              &Of::exposed_comm, &Of::exposed_copy}) {
      out_.figures.*figure += lane.*figure;
    }
  }

  Workload& workload_;
  JobTexts& texts_;
  RankTrace& out_;
  struct Ran {
    std::int64_t begin = kUnknownValue, end = kUnknownValue;
    bool has_kernels = false;
  };
  std::vector<Ran> windows_;  // of what is selected, by step
  std::unordered_map<std::uint32_t, Described> described_;
  std::vector<std::string> short_names_;
  std::span<const std::uint32_t> names_, annotations_;
  TextById annotation_name_;
  std::vector<std::uint32_t> class_numbers_;
};

Exchange by_name(std::string_view name) {
  const std::string text = ascii_lower(name);
  if (text == "send" || text == "isend") return Exchange::kSend;
  if (text == "recv" || text == "irecv" || text == "receive") return Exchange::kReceive;
  return Exchange::kCollective;
}

// "[0, 1, 2]"; empty where it is cut ("[0, 1, ..., 63]") or no such list.
std::vector<std::int64_t> ranks_in(std::string_view list) {
  std::vector<std::int64_t> out;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return out;
  for (const std::string_view part : split_text(list.substr(1, list.size() - 2), ',')) {
    const auto rank = parse_int64(trim_json_space(part));
    if (!rank) return {};
    out.push_back(*rank);
  }
  return out;
}

// "nccl:send 0->1", "nccl:recv 1<-0": the rank at that place of the group.
std::int64_t peer_in(std::string_view annotation, Exchange exchange, std::string_view ranks) {
  const bool sends = exchange == Exchange::kSend;
  const std::size_t begin = annotation.find(sends ? ":send " : ":recv ");
  const std::size_t arrow = annotation.find(sends ? "->" : "<-");
  if (begin == std::string_view::npos || arrow == std::string_view::npos || arrow < begin) return kUnknownValue;
  const auto place = parse_int64(annotation.substr(arrow + 2));
  const std::vector<std::int64_t> group = ranks_in(ranks);
  const bool known = place && *place >= 0 && static_cast<std::size_t>(*place) < group.size();
  return known ? group[static_cast<std::size_t>(*place)] : kUnknownValue;
}

// A kernel that the trace does not describe. NCCL sends and receives all data of an all-to-all by one such kernel.
Exchange by_kernel(std::string_view kernel, std::string_view annotation) {
  if (!contains(ascii_lower(kernel), "sendrecv")) return Exchange::kCollective;
  const bool all_to_all = contains_any(ascii_lower(annotation), {"all_to_all", "alltoall", "all2all"});
  return all_to_all ? Exchange::kCollective : Exchange::kUnknownPeer;
}

}  // namespace

void add_kernels(const RankTrace& rank, const Extent& block, double weight, ClassSums& sums) {
  const std::vector<ComputeKernel>& kernels = rank.compute;
  auto kernel = std::ranges::lower_bound(kernels, block.begin, {}, &ComputeKernel::start);
  while (kernel != kernels.begin() && std::prev(kernel)->start + std::prev(kernel)->dur > block.begin) --kernel;
  for (; kernel != kernels.end() && kernel->start < block.end; ++kernel) {
    const std::int64_t end = std::min(kernel->start + kernel->dur, block.end);
    const auto part = static_cast<double>(end - std::max(kernel->start, block.begin));
    auto& [time, count] = sums[kernel->class_id];
    time += weight * part;
    count += weight * (kernel->dur > 0 ? part / static_cast<double>(kernel->dur) : 1);
  }
}

TimeParts RankTrace::parts(std::int64_t from, std::int64_t to) const {
  const std::int64_t computed = computing.covered(from, to);
  const std::int64_t with_comm = computing_or_comm.covered(from, to);
  const std::int64_t all = working.covered(from, to);
  return {computed, with_comm - computed, all - with_comm, to - from - all};
}

RankTrace read_rank_trace(Workload& workload, std::int64_t rank, std::int64_t base, JobTexts& texts,
                          std::optional<std::uint32_t> device) {
  RankTrace out;
  out.rank = rank;
  const Index& index = workload.index();
  out.complete = index.complete();
  out.trace = source_of(index).empty() ? index.path().string() : source_of(index).string();
  out.shift = index.meta_int64("base_time_ns").value_or(0) - base;
  constexpr std::string_view kBegin =
      "SELECT min(ts) FROM (SELECT ts FROM kernel WHERE id = 1 UNION ALL SELECT ts FROM runtime_call WHERE id = 1 "
      "UNION ALL SELECT ts FROM cpu_op WHERE id = 1)";
  out.begin = index.database().query_int64(kBegin).value_or(0) + out.shift;
  const Window window = window_of(workload.selection());
  out.tasks = task_waits(index, window.from, window.to);
  RankReader(workload, texts, out).read(device);
  const StepSet& steps = workload.steps();
  out.steps = steps.steps;
  const EventTables& events = workload.events();
  out.step_stats = step_stats(stepped(events.kernels, steps.of_kernel), stepped(events.memory, steps.of_memory),
                              events.device_of_stream, steps.steps.size());
  return out;
}

ExchangeEnd exchange_of(const ExchangeFacts& facts) {
  if (facts.name.empty()) return {by_kernel(facts.kernel, facts.annotation), kUnknownValue};
  const Exchange exchange = by_name(facts.name);
  if (exchange == Exchange::kCollective) return {};
  std::int64_t peer = exchange == Exchange::kSend ? facts.destination_rank : facts.source_rank;
  if (peer == kUnknownValue) peer = peer_in(facts.annotation, exchange, facts.ranks);
  return {peer == kUnknownValue ? Exchange::kUnknownPeer : exchange, peer};
}

}  // namespace tracedb
