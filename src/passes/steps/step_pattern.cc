#include "passes/steps/step_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr StepField kFields[] = {{"kind", nullptr},
                                 {"context", &StepInfo::context_tokens},
                                 {"generation", &StepInfo::generation_tokens},
                                 {"context_requests", &StepInfo::context_requests},
                                 {"context_tokens", &StepInfo::context_tokens},
                                 {"generation_requests", &StepInfo::generation_requests},
                                 {"generation_tokens", &StepInfo::generation_tokens}};
constexpr std::size_t kByPlace = 3;  // the first of them are what groups without a name say

[[noreturn]] void refuse_pattern(std::string_view pattern, std::string_view reason) {
  throw Error(ErrorCode::kUsage, fmt::format("--step-regex {}: {}", pattern, reason));
}

const StepField* field_named(std::string_view name, std::string_view pattern) {
  const auto* const found = std::ranges::find(kFields, name, &StepField::name);
  if (found != std::end(kFields)) return found;
  refuse_pattern(pattern,
                 fmt::format("no group '{}'; known: kind, context_requests, context_tokens, generation_requests and "
                             "generation_tokens",
                             name));
}

// What each group of the expression means, by its number; those by name, or else the first by their places.
std::vector<const StepField*> fields_of(const RegularExpression& expression, std::string_view pattern) {
  std::vector<const StepField*> fields(expression.groups() + 1);
  for (const auto& [group, name] : expression.names()) {
    fields[static_cast<std::size_t>(group)] = field_named(name, pattern);
  }
  if (!expression.names().empty()) return fields;
  for (std::size_t i = 0; i < kByPlace && i + 1 < fields.size(); ++i) fields[i + 1] = &kFields[i];
  return fields;
}

StepKind kind_word(std::string_view text) {
  const std::string word = ascii_lower(text);
  if (word == "extend" || word == "context") return StepKind::kPrefill;
  if (word == "generation") return StepKind::kDecode;
  return step_kind_from(word).value_or(StepKind::kUnknown);
}

void complete(StepInfo& info) {
  if (info.kind != StepKind::kUnknown) return;
  const bool context = info.context_requests.value_or(0) > 0 || info.context_tokens.value_or(0) > 0;
  const bool generation = info.generation_requests.value_or(0) > 0 || info.generation_tokens.value_or(0) > 0;
  if (context) info.kind = generation ? StepKind::kMixed : StepKind::kPrefill;
  if (generation && !context) info.kind = StepKind::kDecode;
}

struct NamedMatch {
  std::optional<StepInfo> info;
  std::string name;
  bool on_thread = false;  // an annotation of a thread has the name
  StepScope scope = StepScope::kThread;
};

// By string id: what the pattern says of the names that annotations have.
std::vector<NamedMatch> match_names(const Index& index, std::span<const std::uint32_t> names,
                                    std::span<const std::uint32_t> streams, const StepPattern& pattern) {
  std::vector<NamedMatch> out;
  std::vector<bool> seen;
  TextById text(index);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t name = names[i];
    if (!for_id(seen, name)) {
      seen[name] = true;
      const auto own = text.of(names[i]);
      if (const auto info = own ? pattern.match(*own) : std::nullopt)
        for_id(out, name) = {info, std::string(*own), false, step_scope(*own)};
    }
    if (name < out.size() && streams[i] == 0) out[name].on_thread = true;
  }
  return out;
}

class PatternSteps {
 public:
  PatternSteps(const Index& index, const StepPattern& pattern)
      : index_(index),
        annotations_(index, "annotation", {"ts", "dur", "name_id", "parent_id", "thread_id", "stream_id"}),
        matches_(match_names(index, names_, streams_, pattern)) {
    mark();
  }

  StepSet result(const EventTables& events) {
    set_.source = StepSource::kPattern;
    const CallSteps calls(index_, marks_);
    set_.of_kernel = assigned(events.kernels, calls);
    set_.of_memory = assigned(events.memory, calls);
    return std::move(set_);
  }

 private:
  struct Interval {
    std::int64_t begin, end;
    std::uint32_t step;
  };

  // Rows are in time order, a parent before its children.
  void mark() {
    const auto parents = annotations_.ids("parent_id");
    step_of_.resize(annotations_.size() + 1, 0);
    for (std::size_t i = 0; i < annotations_.size(); ++i) {
      std::uint32_t around = parents[i] <= i ? step_of_[parents[i]] : 0;
      if (around != 0 && follows(ts_[i], dur_[i], set_.steps[around - 1])) around = 0;
      step_of_[i + 1] = around;
      const bool matches = names_[i] < matches_.size() && matches_[names_[i]].info;
      if (around != 0 || !matches || (streams_[i] != 0 && matches_[names_[i]].on_thread)) continue;
      step_of_[i + 1] = streams_[i] != 0 ? device_step(i) : new_step(i);
      if (streams_[i] != 0) {
        intervals_.push_back({ts_[i], end(i), step_of_[i + 1]});
      } else {
        marks_.push_back({ts_[i], end(i), threads_[i], step_of_[i + 1], matches_[names_[i]].scope});
      }
    }
  }

  std::uint32_t new_step(std::size_t i) {
    const NamedMatch& match = matches_[names_[i]];
    const bool on_device = streams_[i] != 0;
    set_.steps.push_back({*match.info, match.name, ts_[i], dur_[i], on_device, on_device ? streams_[i] : threads_[i]});
    return static_cast<std::uint32_t>(set_.steps.size());
  }

  // One step where the streams of a device show the same one.
  std::uint32_t device_step(std::size_t i) {
    if (!intervals_.empty()) {
      const Interval& last = intervals_.back();
      const StepFacts& step = set_.steps[last.step - 1];
      const bool same_name = step.name == matches_[names_[i]].name;
      if (same_name && step.track != streams_[i] && ts_[i] < last.end) return last.step;
    }
    return new_step(i);
  }

  [[nodiscard]] std::int64_t end(std::size_t i) const { return saturating_add(ts_[i], duration_or_zero(dur_[i])); }

  [[nodiscard]] LargeVector<std::uint32_t> assigned(const EventColumns& events, const CallSteps& calls) const {
    const auto annotation = events.ids("annotation_id");
    const auto launch = events.ids("launch_id");
    const auto pass = events.ids("pass");
    const auto ts = events.int64s("ts");
    LargeVector<std::uint32_t> out(events.size(), 0);
    std::size_t next = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (annotation[i] < step_of_.size()) out[i] = step_of_[annotation[i]];
      if (out[i] == 0) out[i] = calls.of(launch[i], pass[i]);
      if (out[i] != 0) continue;
      while (next < intervals_.size() && intervals_[next].end <= ts[i]) ++next;
      if (next < intervals_.size() && intervals_[next].begin <= ts[i]) out[i] = intervals_[next].step;
    }
    return out;
  }

  const Index& index_;
  EventColumns annotations_;
  std::span<const std::int64_t> ts_ = annotations_.int64s("ts"), dur_ = annotations_.int64s("dur");
  std::span<const std::uint32_t> names_ = annotations_.ids("name_id"), threads_ = annotations_.ids("thread_id"),
                                 streams_ = annotations_.ids("stream_id");
  std::vector<NamedMatch> matches_;
  std::vector<std::uint32_t> step_of_;  // by id of annotation
  std::vector<Interval> intervals_;     // on the device, in time order
  std::vector<HostMark> marks_;         // on threads, in time order
  StepSet set_;
};

}  // namespace

StepPattern::StepPattern(std::string_view pattern) : expression_(pattern) {
  if (!expression_.fault().empty()) refuse_pattern(pattern, expression_.fault());
  fields_ = fields_of(expression_, pattern);
}

std::optional<StepInfo> StepPattern::match(std::string_view name) const {
  const auto groups = expression_.find(name);
  if (!groups) return std::nullopt;
  StepInfo info;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto& text = (*groups)[i];
    if (fields_[i] == nullptr || !text) continue;
    if (fields_[i]->number == nullptr) {
      info.kind = kind_word(*text);
    } else {
      info.*fields_[i]->number = parse_int64(*text);
    }
  }
  complete(info);
  return info;
}

StepSet steps_by_pattern(const Index& index, std::string_view pattern, const EventTables& events) {
  StepSet set = PatternSteps(index, StepPattern(pattern)).result(events);
  if (set.steps.empty()) {
    set.source = StepSource::kNone;
    set.notes.push_back(fmt::format("no annotation matches --step-regex {}", pattern));
  }
  return set;
}

}  // namespace tracedb
