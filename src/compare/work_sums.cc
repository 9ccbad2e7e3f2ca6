#include "compare/work_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/dense_index.h"

namespace tracedb {
namespace {

// Sums of one step by a small number, closed at its end.
class StepTimes {
 public:
  void add(std::size_t key, std::int64_t time) {
    if (key >= now_.size()) now_.resize(key + 1, kNone);
    if (now_[key] == kNone) {
      opened_.push_back(key);
      now_[key] = 0;
    }
    now_[key] = saturating_add(now_[key], time);
  }
  template <class Key, class KeyOf>
  void close(std::int64_t devices, std::map<Key, std::vector<std::int64_t>>& out, KeyOf key_of) {
    for (const std::size_t key : opened_) {
      out[key_of(key)].push_back(now_[key] / devices);
      now_[key] = kNone;
    }
    opened_.clear();
  }

 private:
  static constexpr std::int64_t kNone = -1;
  std::vector<std::int64_t> now_;
  std::vector<std::size_t> opened_;
};

std::size_t slot_of(std::int32_t layer) { return static_cast<std::size_t>(layer - kTail); }  // kTail: the least
std::int32_t layer_of(std::size_t slot) { return static_cast<std::int32_t>(slot) + kTail; }

class Summer {
 public:
  Summer(const ComparedTrace& trace, const KernelNameTable& kernel_names, const ClassLevels& levels)
      : trace_(trace), kernel_names_(kernel_names), levels_(levels) {}

  void add(const DeviceStep& step) {
    if (step.step != step_ || devices_ == 0) close();
    step_ = step.step;
    ++devices_;
    for_each_event(trace_, step, [this](const StepEvent& event) {
      count(event, event.is_memory || event.row >= launcher_.size() ? 0 : launcher_[event.row]);
    });
    ++out_.device_steps;
    const auto sum = [](std::int64_t& to, std::int64_t time) { to = saturating_add(to, time); };
    sum(out_.taken, step.taken);
    sum(out_.idle, step.idle);
    sum(out_.other, step.other);
    sum(out_.between, step.between);
    sum(out_.between_other, step.between_other);
    sum(out_.at_once, step.at_once);
    sum(out_.shared, step.shared);
  }
  GroupWork take() {
    close();
    return std::move(out_);
  }

 private:
  // The step that was added last has no more devices.
  void close() {
    out_.steps += devices_ > 0 ? 1 : 0;
    ops_.close(devices_, out_.op_times, [](std::size_t key) { return static_cast<OpId>(key); });
    layers_.close(devices_, out_.layer_times, layer_of);
    devices_ = 0;
  }

  void count(const StepEvent& event, std::uint32_t launcher) {
    const std::uint64_t pair = pairs_.index_of(std::uint64_t{event.name} << 32 | launcher).index;
    const std::uint64_t key = (pair << 40) ^ (std::uint64_t{static_cast<std::uint32_t>(event.layer)} << 8) ^
                              (static_cast<std::uint64_t>(event.role) << 2) ^ static_cast<std::uint64_t>(event.work);
    const auto [position, is_new] = numbers_.index_of(key);
    if (is_new) {
      const bool known = launcher > 0;
      out_.cells.push_back({event.layer,
                            event.name,
                            event.work,
                            {},
                            event.role,
                            known ? std::string_view(trace_.recorded_work.operators[launcher]) : ""});
    }
    out_.cells[position].sum.add({1, event.time, event.own});
    ops_.add(levels_.op_of(event.name, kernel_names_), event.time);
    layers_.add(slot_of(event.layer), event.time);
  }

  const ComparedTrace& trace_;
  const KernelNameTable& kernel_names_;
  const ClassLevels& levels_;
  std::span<const std::uint32_t> launcher_{trace_.recorded_work.operator_of};
  DenseIndex pairs_, numbers_;
  std::uint32_t step_ = 0;
  std::int64_t devices_ = 0;  // of the step
  StepTimes ops_;
  StepTimes layers_;
  GroupWork out_;
};

// See GroupWork::rare.
std::int64_t rare_time(const ComparedTrace& trace, const GroupSide& group) {
  if (group.rare.empty()) return 0;
  const auto sum = [&](const std::vector<std::uint32_t>& steps) {
    double time = 0;
    for (const std::uint32_t i : steps) time += static_cast<double>(time_of(trace, group, i));
    return time;
  };
  const auto usual = static_cast<double>(group.device_steps.size()), rare = static_cast<double>(group.rare.size());
  const double all = sum(group.device_steps) + sum(group.rare);
  return std::llround(all * usual / (usual + rare) - sum(group.device_steps));
}

// The family that a companion counts as; nullopt for other kernels, and for companions of their host's own family.
std::optional<OpId> host_of(const KernelNameEntry& entry, const KernelNameTable& kernel_names) {
  return entry.host && *entry.host != kernel_names.family_of(entry.op) ? entry.host : std::nullopt;
}

// Classes that the alignment pairs with another one of their family.
std::set<OpId> taken_for_others(const GroupAlignment& alignment, const KernelNameTable& kernel_names) {
  std::set<OpId> out;
  for (const AlignedSegment& segment : alignment.segments) {
    for (const KernelPair& pair : segment.pairs) {
      if (!pair.has_both()) continue;
      const OpId a = kernel_names.op_of(pair.baseline.name);
      const OpId b = kernel_names.op_of(pair.candidate.name);
      if (a != b && kernel_names.family_of(a) == kernel_names.family_of(b)) out.insert({a, b});
    }
  }
  return out;
}

std::vector<OpId> missing_in(const std::set<OpId>& other, const std::set<OpId>& own, OpId family,
                             const KernelNameTable& kernel_names) {
  std::vector<OpId> out;
  for (const OpId op : own) {
    if (kernel_names.family_of(op) == family && !other.contains(op)) out.push_back(op);
  }
  return out;
}

}  // namespace

void WorkSum::add(const WorkSum& other) {
  n += other.n;
  time = saturating_add(time, other.time);
  own = saturating_add(own, other.own);
}

GroupWork sum_work(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names,
                   const ClassLevels& levels) {
  Summer summer(trace, kernel_names, levels);
  for (const std::uint32_t step : group.device_steps) summer.add(trace.work.steps[step]);
  GroupWork out = summer.take();
  out.rare = rare_time(trace, group);
  out.periods = sum_periods(trace.steps, trace.work.steps, group.device_steps, trace.periods.within_kind);
  if (group.by_period) out.waits = sum_host_waits(trace.recorded, group.device_steps, trace.periods.within_kind);
  return out;
}

std::set<OpId> classes_of(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names) {
  const auto names = trace.events.kernels.ids("name_id");
  std::vector<bool> met(kernel_names.entries().size(), false);
  for (const std::uint32_t step : group.device_steps) {
    for (const std::uint32_t row : trace.work.kernels(trace.work.steps[step])) met[trace.name(names[row])] = true;
  }
  std::set<OpId> out;
  for (NameId name = 0; name < met.size(); ++name) {
    if (met[name] && !host_of(kernel_names.entries()[name], kernel_names)) out.insert(kernel_names.op_of(name));
  }
  return out;
}

ClassLevels::ClassLevels(const std::set<OpId>& a, const std::set<OpId>& b, const GroupAlignment& alignment,
                         const KernelNameTable& kernel_names) {
  std::set<OpId> coarse = taken_for_others(alignment, kernel_names);
  std::set<OpId> families;
  for (const OpId op : a) families.insert(kernel_names.family_of(op));
  for (const OpId op : b) families.insert(kernel_names.family_of(op));
  for (const OpId family : families) {
    const std::vector<OpId> only_a = missing_in(b, a, family, kernel_names);
    const std::vector<OpId> only_b = missing_in(a, b, family, kernel_names);
    const bool is_shown = std::ranges::any_of(coarse, [&](OpId op) { return kernel_names.family_of(op) == family; });
    // A class without a counterpart in the other trace is new or gone.
    if (!only_b.empty() || b.contains(family) || is_shown) coarse.insert(only_a.begin(), only_a.end());
    if (!only_a.empty() || a.contains(family) || is_shown) coarse.insert(only_b.begin(), only_b.end());
  }
  for (const KernelNameEntry& entry : kernel_names.entries()) {
    const OpId own = coarse.contains(entry.op) ? kernel_names.family_of(entry.op) : entry.op;
    of_name_.push_back(host_of(entry, kernel_names).value_or(own));
  }
}

ClassLevels ClassLevels::coarsest(const KernelNameTable& kernel_names) {
  ClassLevels levels;
  for (const KernelNameEntry& entry : kernel_names.entries()) {
    levels.of_name_.push_back(host_of(entry, kernel_names).value_or(kernel_names.family_of(entry.op)));
  }
  return levels;
}

RoleLevels::RoleLevels(const std::set<Role>& baseline, const std::set<Role>& candidate) {
  const auto add = [&](const std::set<Role>& own, const std::set<Role>& other) {
    for (const Role role : own) {
      if (!other.contains(role)) coarse_.insert(info_of(role).family);
    }
  };
  add(baseline, candidate);
  add(candidate, baseline);
}

}  // namespace tracedb
