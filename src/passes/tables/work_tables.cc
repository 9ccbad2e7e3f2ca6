// What framework operators compute and move, by name and arguments, with the time of what they launch: the reports
// `gemms` and `roofline` (schema/reports) select from it. Linear but for the sorting of device events.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/dense_index.h"
#include "base/statistics.h"
#include "base/text/split.h"
#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/tables/pass_tables.h"
#include "passes/time/timeline.h"
#include "passes/work/device_peaks.h"
#include "passes/work/operator_work.h"

namespace tracedb {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

enum class Multiplies : std::uint8_t { kNo, kMaybe, kYes };

// By id of kernel_name: whether kernels of its class, or of a part of it ("dense_gemm+norm"), multiply matrices, as far
// as rules tell (schema/rules/classes.rules).
std::vector<Multiplies> multiply_matrices(const KernelClasses& classes) {
  std::vector<Multiplies> out(classes.end());
  for (std::uint32_t id = 0; id < classes.end(); ++id) {
    for (const std::string_view part : split_text(classes.class_of(id), '+')) {
      const bool does = part.ends_with("gemm") || part.starts_with("attention") || part == "convolution";
      const bool may = part == "other" || part == "ssm";
      out[id] = std::max(out[id], does ? Multiplies::kYes : may ? Multiplies::kMaybe : Multiplies::kNo);
    }
  }
  return out;
}

// Of one operator with the same arguments.
struct WorkGroup {
  std::uint32_t shape = 0;  // id in op_shape
  std::string operator_name;
  OperatorArguments arguments;
  OperatorWork work;
  bool needs_lengths = false;              // of the step, for its FLOPs and bytes
  std::int64_t calls = 0;                  // all
  std::int64_t launching = 0;              // with device work of its own
  std::int64_t rated = 0, rated_busy = 0;  // those whose FLOPs and bytes are summed, with the time they took
  std::int64_t left_out = 0;               // those of which some device work is not selected, or has no duration
  std::int64_t busy = 0, kernels = 0, waiting = 0, short_calls = 0;
  Amount flops = 0, bytes = 0;
  Amount step_flops = 0;  // of `flops`: of calls in a step, of all where there are no steps
  bool varies = false;    // in FLOPs or bytes, from call to call
  bool crosses = false;   // some of its device work copies to or from the host: the device's memory does not bound it
  std::vector<std::int64_t> busy_of_calls;
  std::unordered_map<std::uint32_t, std::int64_t> names;  // kernel time by name id
  std::uint32_t last_name = 0;                            // the next kernel often has the same name
  std::int64_t* last_time = nullptr;

  [[nodiscard]] bool is_wrong() const { return !arguments.problem.empty(); }
  // Calls whose work is that of an operator inside them.
  [[nodiscard]] std::int64_t outer() const { return launching - rated - left_out; }
  [[nodiscard]] Amount of_size(Amount value) const { return is_wrong() ? std::nullopt : value; }
  [[nodiscard]] Amount of_one(Amount value) const { return varies ? std::nullopt : of_size(value); }
  [[nodiscard]] Amount of_all(Amount value) const { return rated > 0 ? value : std::nullopt; }
  [[nodiscard]] std::string_view missing() const {
    return is_wrong()              ? arguments.problem
           : !work.missing.empty() ? work.missing
           : left_out > 0          ? "of some calls not all device work is selected, or has a duration"
           : outer() > 0           ? "of some calls the work is that of an operator inside"
           : crosses               ? "no roof: copies to or from the host"
                                   : "";
  }

  void add_kernel(std::uint32_t id, std::int64_t time) {
    ++kernels;
    if (last_time == nullptr || id != last_name) last_time = &names[id];
    last_name = id;
    *last_time = saturating_add(*last_time, time);
  }
};

// Device work belongs to the innermost operator around its launch that is known, of convolutions to the outermost.
class WorkSummer {
 public:
  explicit WorkSummer(Workload& workload)
      : workload_(workload),
        index_(workload.index()),
        steps_(workload.steps()),
        call_ts_(workload.events().calls.int64s("ts")),
        call_dur_(workload.events().calls.int64s("dur")),
        annotations_(index_,
                     "SELECT s.value, a.parent_id FROM annotation a JOIN string s ON s.id = a.name_id WHERE a.id = ?"),
        copies_of_host_(ids_in(index_, "SELECT id FROM memory_op WHERE direction IN ('HtoD', 'DtoH') ORDER BY id")) {
    find_groups();
    add_events();
    add_work();
  }

  std::vector<WorkGroup> groups;
  std::int64_t unmodelled = 0;  // ns of device work of no known operator
  // ns of kernels that multiply matrices, of no known operator that does; with those that may, if they are many.
  std::int64_t matrix_unmodelled = 0;
  std::int64_t span = 0;     // ns from the first to the last device work that is selected, summed over devices
  std::int64_t devices = 0;  // that have some

 private:
  struct Call {
    std::int64_t until = kNever, busy = 0, delay = 0;
    std::int64_t matrix = 0;  // ns of kernels of its own that multiply matrices
    std::uint32_t annotation = 0, lane = 0;
    bool in_step = false;     // its first device work is
    bool is_partial = false;  // some of its device work is not selected, or of unknown duration
    bool is_outer = false;    // an operator inside it that does the same has device work

    void add(std::int64_t ts, std::int64_t end) {
      if (end > until) busy = saturating_add(busy, end - std::max(ts, until));
      until = std::max(until, end);
    }
  };

  void find_groups() {
    const EventColumns& operators = workload_.events().operators;
    operators.read({"name_id", "shape_id", "parent_id"});
    const auto names = operators.ids("name_id"), shapes = operators.ids("shape_id"),
               parents = operators.ids("parent_id");
    DenseIndex name_places;
    std::vector<WorkFamily> families;  // by place
    TextById name_of(index_);
    TextById shape_of(index_,
                      "SELECT coalesce(dims, ''), coalesce(types, ''), coalesce(strides, ''), "
                      "coalesce(concrete_inputs, '') FROM op_shape WHERE id = ?");
    DenseIndex keys;
    owner_.reserve(names.size());
    group_.assign(names.size(), 0);
    around_.assign(names.size(), 0);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto [name, is_new] = name_places.index_of(names[i]);
      if (is_new) families.push_back(family_of(name_of.of(names[i]).value_or("")));
      // A parent that comes later is one of a damaged index.
      const std::uint32_t around = parents[i] > 0 && parents[i] <= i ? owner_[parents[i] - 1] : 0;
      // The call of cuDNN or MIOpen inside aten::convolution is that convolution.
      const bool is_backend = families[name] == WorkFamily::kConvolution && around != 0 &&
                              groups[group_[around - 1]].work.family == WorkFamily::kConvolution;
      if (families[name] == WorkFamily::kNone || is_backend) {
        owner_.push_back(around);
        continue;
      }
      around_[i] = around;
      owner_.push_back(static_cast<std::uint32_t>(i + 1));
      const auto [place, fresh] = keys.index_of(std::uint64_t{names[i]} << 32U | shapes[i]);
      group_[i] = static_cast<std::uint32_t>(place);
      if (fresh) {
        WorkGroup& group = groups.emplace_back();
        group.shape = shapes[i];
        group.operator_name = name_of.of(names[i]).value_or("");
        group.needs_lengths = needs_step_lengths(group.operator_name);
        if (const Statement* const shape = shape_of.row(shapes[i])) {
          group.arguments = read_arguments(shape->text(0), shape->text(1), shape->text(2), shape->text(3));
        }
        group.work = work_of(group.operator_name, group.arguments.list);
      }
      ++groups[place].calls;
    }
    call_of_.resize(names.size());
  }

  void add_events() {
    const EventIds op_of(workload_.events(), "cpu_op_id"), annotation_of(workload_.events(), "annotation_id");
    const auto name = workload_.events().kernels.ids("name_id");
    const std::vector<Multiplies> multiplies = multiply_matrices(workload_.classes());
    const EventTables& tables = workload_.events();
    const auto kernel_dur = tables.kernels.int64s("dur"), memory_dur = tables.memory.int64s("dur");
    const DeviceColumns columns(workload_, LaneBy::kDevice, Times::kOfStart);
    const DeviceWork work = columns.work();
    std::vector<std::int64_t> stream_until;
    std::vector<Extent> extents(work.lanes, {std::numeric_limits<std::int64_t>::max(), kNever});
    std::vector<std::int64_t> worked(work.lanes);
    for_each_in_order(work, [&](const DeviceEvent& event) {
      const std::uint32_t owner = owner_of(op_of[event.ref]);
      const auto& durations = event.ref.is_memory_op ? memory_dur : kernel_dur;
      const bool is_partial = event.left_out || durations[event.ref.id - 1] == kUnknownValue;
      if (is_partial && owner != 0) call_of_[owner - 1].is_partial = true;
      std::int64_t& until = for_id(stream_until, event.stream, kNever);
      if (event.left_out) {
        until = std::max(until, event.end);
        return;
      }
      Extent& extent = extents[event.lane];
      extent = {std::min(extent.begin, event.ts), std::max(extent.end, event.end)};
      const std::int64_t dur = event.end - event.ts;
      worked[event.lane] = saturating_add(worked[event.lane], dur);
      const bool named = !event.ref.is_memory_op && name[event.ref.id - 1] < multiplies.size();
      add_product(owner, named ? multiplies[name[event.ref.id - 1]] : Multiplies::kNo, dur);
      if (owner == 0) {
        unmodelled = saturating_add(unmodelled, dur);
      } else {
        WorkGroup& group = groups[group_[owner - 1]];
        Call& call = call_of_[owner - 1];
        if (call.until == kNever) {
          start(group, owner - 1, annotation_of[event.ref], steps_.steps.empty() || steps_.of(event.ref) != 0);
          call.lane = event.lane;
        }
        call.delay = saturating_add(call.delay, waited(event, until));
        call.add(event.ts, event.end);
        if (event.ref.is_memory_op) {
          group.crosses = group.crosses || has_id(copies_of_host_, event.ref.id);
        } else {
          group.add_kernel(name[event.ref.id - 1], dur);
        }
      }
      until = std::max(until, event.end);
    });
    sum_up(extents, worked);
  }

  void add_product(std::uint32_t owner, Multiplies multiplied, std::int64_t dur) {
    all_ = saturating_add(all_, dur);
    if (multiplied == Multiplies::kNo) return;
    std::int64_t& sum = is_of_product(owner)             ? call_of_[owner - 1].matrix
                        : multiplied == Multiplies::kYes ? matrix_unmodelled
                                                         : maybe_;
    sum = saturating_add(sum, dur);
  }

  void sum_up(const std::vector<Extent>& extents, const std::vector<std::int64_t>& worked) {
    constexpr double kMany = 0.03;
    if (static_cast<double>(maybe_) >= kMany * static_cast<double>(all_))
      matrix_unmodelled = saturating_add(matrix_unmodelled, maybe_);
    const std::int64_t most = worked.empty() ? 0 : std::ranges::max(worked);
    for (std::size_t lane = 0; lane < extents.size(); ++lane) {
      takes_part_.push_back(static_cast<double>(worked[lane]) >= kHardlyWorks * static_cast<double>(most));
      if (extents[lane].end == kNever || !takes_part_.back()) continue;
      span = saturating_add(span, extents[lane].length());
      ++devices;
    }
  }

  // From the return of its launch, or the end of its stream's work before, `until`, to the start of an event.
  std::int64_t waited(const DeviceEvent& event, std::int64_t until) const {
    if (event.launch == 0 || event.launch > call_ts_.size() || call_dur_[event.launch - 1] == kUnknownValue) return 0;
    const std::int64_t returned = saturating_add(call_ts_[event.launch - 1], call_dur_[event.launch - 1]);
    return std::max<std::int64_t>(event.ts - std::max(returned, until), 0);
  }

  // The innermost known operator around one, itself included; 0: none is.
  std::uint32_t owner_of(std::uint32_t op) const { return op > 0 && op <= owner_.size() ? owner_[op - 1] : 0; }

  // `owner`: 0, no operator that is known.
  bool is_of_product(std::uint32_t owner) const {
    return owner != 0 && uses_matrix_units(groups[group_[owner - 1]].work.family);
  }

  // Whether the figures of an operator hold those of one inside it.
  static bool does_same(WorkFamily outer, WorkFamily inner) {
    using enum WorkFamily;
    return outer == inner || (inner == kGemm && (outer == kMoe || outer == kConvolution));
  }

  void start(WorkGroup& group, std::uint32_t op, std::uint32_t annotation, bool in_step) {
    ++group.launching;
    launching_.push_back(op);
    call_of_[op].annotation = annotation;
    call_of_[op].in_step = in_step;
    for (std::uint32_t id = around_[op]; id != 0; id = around_[id - 1])
      call_of_[id - 1].is_outer |= does_same(groups[group_[id - 1]].work.family, group.work.family);
  }

  // Of the innermost annotation around that gives them; null: none does.
  const StepLengths* lengths_at(std::uint32_t annotation) {
    const auto [known, is_new] = lengths_.try_emplace(annotation);
    if (is_new && annotation != 0) {
      constexpr int kMostAround = 64;
      std::uint32_t id = annotation;
      for (int depth = 0; id != 0 && depth < kMostAround && !known->second; ++depth) {
        const Statement* const around = annotations_.row(id);
        if (around == nullptr) break;
        known->second = step_lengths(around->text(0));
        id = around->id(1);
      }
    }
    return known->second ? &*known->second : nullptr;
  }

  void add_work() {
    for (const std::uint32_t op : launching_) {
      WorkGroup& group = groups[group_[op]];
      const Call& call = call_of_[op];
      group.busy = saturating_add(group.busy, call.busy);
      if (call.is_partial) ++group.left_out;
      // The work of one inside is not that of its own kernels.
      if (call.is_outer) matrix_unmodelled = saturating_add(matrix_unmodelled, call.matrix);
      if (call.is_outer || call.is_partial) continue;
      add_call(group, call);
    }
  }

  void add_call(WorkGroup& group, const Call& call) {
    constexpr std::int64_t kShort = 5'000;  // ns
    Amount flops = group.work.flops, bytes = group.work.bytes;
    if (group.needs_lengths) {
      OperatorWork own = work_of(group.operator_name, group.arguments.list, lengths_at(call.annotation));
      flops = own.flops;
      bytes = own.bytes;
      if (group.rated == 0 || group.work.missing.empty()) std::swap(group.work, own);
      group.varies |= group.rated > 0 && (group.work.flops != own.flops || group.work.bytes != own.bytes);
    }
    ++group.rated;
    group.rated_busy = saturating_add(group.rated_busy, call.busy);
    if (call.delay > call.busy) group.waiting = saturating_add(group.waiting, call.busy);
    if (call.busy < kShort) group.short_calls = saturating_add(group.short_calls, call.busy);
    group.busy_of_calls.push_back(call.busy);
    group.flops = plus(group.flops, group.of_size(flops));
    if (call.in_step && takes_part_[call.lane]) group.step_flops = plus(group.step_flops, group.of_size(flops));
    group.bytes = plus(group.bytes, group.of_size(bytes));
  }

  Workload& workload_;
  const Index& index_;
  const StepSet& steps_;
  std::span<const std::int64_t> call_ts_, call_dur_;
  TextById annotations_;
  std::vector<bool> copies_of_host_;  // by id of memory_op
  // By operator, the ids of the innermost known ones: itself included, and around it.
  LargeVector<std::uint32_t> group_, owner_, around_;
  LargeVector<Call> call_of_;             // by operator
  std::vector<std::uint32_t> launching_;  // operators with device work of their own, in its order
  std::unordered_map<std::uint32_t, std::optional<StepLengths>> lengths_;
  std::vector<bool> takes_part_;      // by device
  std::int64_t all_ = 0, maybe_ = 0;  // ns of device work; of kernels that may multiply, of no operator known to
};

struct GroupKernels {
  std::string names;  // short ones, longest time first, separated by commas
  bool tf32 = false;  // most of their time is of kernels whose whole names say so
};

GroupKernels kernels_of(const WorkGroup& group, TextById& texts) {
  GroupKernels out;
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  double all = 0, tf32 = 0;
  for (const auto& [id, time] : group.names) {
    const Statement* const names = texts.row(id);
    sorted.emplace_back(-time, names == nullptr ? "" : names->text(0));
    all += static_cast<double>(time);
    if (names != nullptr && says_tf32(names->text(1))) tf32 += static_cast<double>(time);
  }
  out.tf32 = 2 * tf32 > all;
  std::ranges::sort(sorted);
  constexpr std::size_t kMostNames = 3;
  for (std::size_t i = 0; i < sorted.size() && i < kMostNames; ++i) out.names += (i > 0 ? ", " : "") + sorted[i].second;
  return out;
}

void add_spread(TableRows& rows, std::vector<std::int64_t>& values) {
  if (values.empty()) {
    rows.add_null(4);
    return;
  }
  const double middle = median(std::span(values));
  const auto [least, most] = std::ranges::minmax(values);
  rows.add(least, middle, most);
  double sum = 0, squares = 0;
  for (const std::int64_t value : values) sum += 1 / static_cast<double>(value);
  const double mean = sum / static_cast<double>(values.size());
  for (const std::int64_t value : values) squares += std::pow(1 / static_cast<double>(value) - mean, 2);
  const bool known = values.size() > 1 && least > 0;
  rows.add(known ? std::optional(std::sqrt(squares / static_cast<double>(values.size() - 1))) : std::nullopt);
}

}  // namespace

void fill_work(Workload& workload, const PassOptions& options, TableRows& rows) {
  WorkSummer summer(workload);
  const Index& index = workload.index();
  const OwnPeaks own = options.own_peaks ? OwnPeaks(*options.own_peaks) : OwnPeaks();
  const DevicePeaks* peaks = peaks_of(index, own, workload.selection().devices);
  TextById shape_of(index, "SELECT dims, types FROM op_shape WHERE id = ?"),
      kernel_of(index, "SELECT short_name, name FROM kernel_name WHERE id = ?");
  for (WorkGroup& group : summer.groups) {
    const OperatorWork& work = group.work;
    const GroupKernels kernels = kernels_of(group, kernel_of);
    rows.add(std::string_view(group.operator_name), family_name(family_of(group.operator_name)));
    const Statement* const shape = shape_of.row(group.shape);
    for (const int column : {0, 1}) rows.add(shape == nullptr ? std::nullopt : known_text(shape->text(column)));
    rows.add(group.shape, group.of_size(work.b), group.of_size(work.m), group.of_size(work.n), group.of_size(work.k));
    rows.add(known_text(work.type), known_text(work.layout), group.calls, group.launching);
    rows.add(group.kernels, group.busy, group.waiting, group.short_calls);
    rows.add(group.of_one(work.flops), group.of_one(work.bytes));
    rows.add(group.of_all(group.flops), group.of_all(group.bytes), group.of_all(group.step_flops));
    rows.add(peaks != nullptr ? peaks->rate(work.family, work.type, kernels.tf32) : std::nullopt);
    rows.add(peaks != nullptr && !group.crosses ? peaks->memory_gb_s : std::nullopt);
    const bool all_outer = group.outer() > 0 && group.outer() == group.launching;
    rows.add(uses_matrix_units(work.family) && !all_outer, kernels.tf32, known_text(kernels.names));
    rows.add(known_text(group.missing()), group.is_wrong(), summer.span, summer.devices, summer.matrix_unmodelled);
    rows.add(group.rated, group.left_out, group.rated_busy);
    add_spread(rows, group.busy_of_calls);
  }
  if (summer.unmodelled == 0) return;
  constexpr std::size_t kUntilBusy = 14, kBehindBusy = 14;
  rows.add(std::string_view("[not modelled]"));
  rows.add_null(kUntilBusy - 1).add(summer.unmodelled).add_null(kBehindBusy);
  rows.add(summer.span, summer.devices, summer.matrix_unmodelled).add_null(7);
}

}  // namespace tracedb
