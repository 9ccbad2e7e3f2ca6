#include "report_page/pictures/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unknown.h"
#include "report_page/html/safe_text.h"
#include "sql/scripts.h"

namespace tracedb {
const std::string& PictureInput::kernel(NameId name) const {
  const KernelNameEntry& entry = kernel_names.entries()[name];
  return entry.short_name.empty() ? entry.name : entry.short_name;
}

const std::string& PictureInput::op(const GroupComparison& group, NameId name) const {
  return kernel_names.op_name(group.levels.op_of(name, kernel_names));
}

std::span<const GroupComparison> shown_groups(const PictureInput& in) {
  constexpr std::size_t kMostPictured = 3;
  const std::span<const GroupComparison> all = in.comparison.groups;
  return all.first(std::min(all.size(), kMostPictured));
}

std::vector<PictureGroupSide> sides_of(const PictureInput& in, const GroupComparison& group) {
  const PictureGroupSide last = {*in.traces.back(), group.group.candidate, group.candidate, group.candidate_units};
  if (!in.compares()) return {last};
  return {{*in.traces.front(), group.group.baseline, group.baseline, group.baseline_units}, last};
}

std::string phase_of(const GroupComparison& group) { return group.group.whole_trace ? "all" : group.group.label; }

std::string id_of(std::string_view kind, std::string_view phase) {
  std::string id = fmt::format("{}-{}", kind, phase);
  std::ranges::replace(id, ' ', '-');
  return id;
}

std::string unit_words(const PictureInput& in, const GroupComparison& group) {
  if (in.comparison.normalise == Normalise::kToken) return "a token";
  if (in.comparison.normalise == Normalise::kNone || group.group.whole_trace) return "all of it";
  const std::string& label = group.group.label;  // "decode", "prefill 4096..8191 tokens"
  if (label == "unknown" || label == "other") return "a step";
  return label.find(' ') == std::string::npos ? fmt::format("a {} step", label) : fmt::format("a step of {}", label);
}

std::int64_t SharedOut::next(std::int64_t sum) {
  sum_ = saturating_add(sum_, sum);
  const std::int64_t remainder = sum_ % units_;
  const std::int64_t rounded = sum_ / units_ + (remainder >= units_ - remainder ? 1 : 0);
  const std::int64_t out = rounded - given_;
  given_ = rounded;
  return out;
}

Pictures memory_curves(const PictureInput& in) {
  constexpr std::size_t kMostDevices = 4;
  Pictures out;
  Statement rows(in.indexes.front()->database(), script("pictures/memory_curve"));
  DataWriter data;
  std::string device;
  bool relative = false;
  const auto finish = [&] {
    if (device.empty()) return;
    data.close(']');
    out.push_back(
        {fmt::format("memory-{}", out.size()), "memory", fmt::format("Memory of {} over time", device),
         fmt::format("Allocated by the framework, at most in each piece of the time, and what its allocator reserves, "
                     "where that is recorded; of the whole trace, whatever is selected.{}",
                     relative ? " Counted from the first event: not all totals are recorded." : ""),
         data.take()});
  };
  while (rows.step()) {
    if (rows.text(0) != device) {
      finish();
      if (out.size() == kMostDevices) return out;
      device = rows.text(0);
      relative = false;
      data = DataWriter();
      data.member("device", device).key("points").open('[');
    }
    relative = relative || rows.int64(6) != 0;
    data.row(rows.int64(1), rows.int64(2), rows.int64(3), rows.int64(4), rows.is_null(5) ? 0 : rows.int64(5));
  }
  finish();
  return out;
}

}  // namespace tracedb
