#include "passes/sql/step_words.h"

#include <algorithm>
#include <span>

#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

std::optional<std::int64_t> step_in(std::span<const std::uint32_t> steps, std::int64_t id) {
  if (id < 1 || static_cast<std::uint64_t>(id) > steps.size()) return std::nullopt;
  const std::uint32_t step = steps[static_cast<std::size_t>(id) - 1];
  return step == 0 ? std::nullopt : std::optional<std::int64_t>(step - 1);
}

StepWords::Fact known(std::int64_t value) { return value == kNullCell ? StepWords::Fact{} : StepWords::Fact{value}; }
StepWords::Fact known(const std::optional<std::int64_t>& value) { return known(value.value_or(kNullCell)); }

}  // namespace

const StepWords::Found& StepWords::found() {
  if (!found_) {
    found_.emplace(find_());
    notes_ = found_->set.notes;
  }
  return *found_;
}

std::optional<std::int64_t> StepWords::of_kernel(std::int64_t id) { return step_in(found().set.of_kernel, id); }
std::optional<std::int64_t> StepWords::of_memory(std::int64_t id) { return step_in(found().set.of_memory, id); }

std::int64_t StepWords::count() { return static_cast<std::int64_t>(found().set.steps.size()); }

std::string_view StepWords::phase(std::int64_t step) {
  return to_string(found().set.steps[static_cast<std::size_t>(step)].info.kind);
}

const StepWords::Kernels& StepWords::kernels(std::int64_t step) {
  const Found& all = found();
  if (kernels_.size() != all.set.steps.size()) {
    kernels_.assign(all.set.steps.size(), {});
    const auto ts = all.events.kernels.int64s("ts");
    const auto dur = all.events.kernels.int64s("dur");
    for (std::size_t i = 0; i < all.set.of_kernel.size(); ++i) {
      const std::uint32_t place = all.set.of_kernel[i];
      if (place == 0) continue;
      Kernels& own = kernels_[place - 1];
      own.last_id = static_cast<std::int64_t>(i) + 1;
      if (own.n++ == 0) own.first_id = own.last_id, own.begin = ts[i];
      if (dur[i] == kNullCell) continue;
      own.timed = true;
      own.time = bounded_add(own.time, dur[i]);
      own.end = std::max(own.end, bounded_add(ts[i], dur[i]));
    }
  }
  return kernels_[static_cast<std::size_t>(step)];
}

StepWords::Fact StepWords::fact(std::int64_t step, std::string_view column) {
  if (step < 0 || step >= count()) return {};
  const StepFacts& facts = found().set.steps[static_cast<std::size_t>(step)];
  if (column == "phase") return to_string(facts.info.kind);
  if (column == "name") return facts.name.empty() ? Fact{} : Fact{std::string_view(facts.name)};
  if (column == "timed_on") return std::string_view(facts.on_device ? "gpu" : "cpu");
  if (column == "ts") return known(facts.ts);
  if (column == "dur") return known(facts.dur);
  if (column == "context_requests") return known(facts.info.context_requests);
  if (column == "context_tokens") return known(facts.info.context_tokens);
  if (column == "generation_requests") return known(facts.info.generation_requests);
  if (column == "generation_tokens") return known(facts.info.generation_tokens);
  const Kernels& own = kernels(step);
  if (column == "kernels") return own.n;
  if (column == "kernel_time") return own.timed ? Fact{own.time} : Fact{};
  if (column == "gpu_ts") return known(own.begin);
  if (column == "gpu_ts_end") return known(own.end);
  if (column == "first_kernel_id") return own.n == 0 ? Fact{} : Fact{own.first_id};
  if (column == "last_kernel_id") return own.n == 0 ? Fact{} : Fact{own.last_id};
  return {};
}

}  // namespace tracedb
