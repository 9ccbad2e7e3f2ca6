#include "ingest/link/step_annotations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/unknown.h"
#include "ingest/link/open_intervals.h"

namespace tracedb {
namespace {

struct NamedAnnotation {
  AnnotationRecord event;
  std::uint32_t annotation;
  std::int64_t end;
  std::uint32_t step = 0;
};

// What the name of a mark says.
struct Name {
  StepInfo info;
  StepScope scope;
};

bool usable(std::int64_t external_id) { return external_id != kUnknownValue && external_id != 0; }

class Finder {
 public:
  explicit Finder(TraceStore& store) : store_(store) {}

  StepAnnotations run() {
    read_marks();
    steps_of_threads();
    steps_of_images();
    number_in_time_order();
    for (const NamedAnnotation& mark : marks_) {
      out_.marks.push_back({mark.annotation, mark.step, names_.at(mark.event.name)->scope});
      if (mark.event.on_device == 0) continue;
      if (mark.step != 0) {
        out_.on_device.push_back({mark.event.ts, mark.end, mark.event.track, mark.step});
      } else {
        store_.issues.add(IssueKind::kAmbiguousStep, -1, store_.strings.text(mark.event.name));
      }
    }
    return std::move(out_);
  }

 private:
  void read_marks() {
    std::uint32_t annotation = 0;
    store_.annotations.start();
    for (; const AnnotationRecord* event = store_.annotations.peek(); store_.annotations.pop()) {
      ++annotation;
      if (name_of(event->name)) marks_.push_back({*event, annotation, end_of(event->ts, event->dur)});
    }
  }

  const std::optional<Name>& name_of(std::uint32_t name) {
    const auto [entry, is_new] = names_.try_emplace(name);
    const std::string_view text = store_.strings.text(name);
    if (!is_new) return entry->second;
    if (const auto info = parse_step(text)) entry->second = Name{*info, step_scope(text)};
    return entry->second;
  }

  std::uint32_t new_step(const NamedAnnotation& mark) {
    out_.steps.push_back({mark.annotation, name_of(mark.event.name)->info, mark.event.ts});
    return static_cast<std::uint32_t>(out_.steps.size());
  }

  void steps_of_threads() {
    for (NamedAnnotation& mark : marks_) {
      if (mark.event.on_device != 0) continue;
      mark.step = new_step(mark);
      by_name_[{mark.event.name, store_.threads[mark.event.track - 1].process}].push_back(mark.step);
      if (usable(mark.event.external_id)) by_external_id_[{mark.event.external_id, mark.event.name}].insert(mark.step);
    }
  }

  void steps_of_images() {
    std::vector<std::uint32_t> unnumbered;  // positions in marks_
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> images;
    for (std::uint32_t i = 0; i < marks_.size(); ++i) {
      NamedAnnotation& mark = marks_[i];
      if (mark.event.on_device == 0) continue;
      const auto known = by_external_id_.find({mark.event.external_id, mark.event.name});
      if (known != by_external_id_.end() && known->second.size() == 1) {
        mark.step = *known->second.begin();
      } else if ((usable(mark.event.external_id) && known == by_external_id_.end()) || !on_cpu(mark.event.name)) {
        mark.step = step_of_device(mark);
      } else {
        unnumbered.push_back(i);
        ++images[{mark.event.name, mark.event.track}];
      }
    }
    match_in_order(unnumbered, images);
  }

  [[nodiscard]] bool on_cpu(std::uint32_t name) const {
    const auto found = by_name_.lower_bound({name, 0});
    return found != by_name_.end() && found->first.first == name;
  }

  void match_in_order(const std::vector<std::uint32_t>& unnumbered,
                      const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& images) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> next;
    for (const std::uint32_t position : unnumbered) {
      NamedAnnotation& mark = marks_[position];
      const std::pair key(mark.event.name, mark.event.track);
      if (const std::vector<std::uint32_t>* steps = only_process_with(mark.event.name)) {
        if (steps->size() == images.at(key)) mark.step = (*steps)[next[key]++];
      }
    }
  }

  // The steps of this name, if one process has them all.
  [[nodiscard]] const std::vector<std::uint32_t>* only_process_with(std::uint32_t name) const {
    const auto first = by_name_.lower_bound({name, 0});
    if (first == by_name_.end() || first->first.first != name) return nullptr;
    const auto second = std::next(first);
    return second != by_name_.end() && second->first.first == name ? nullptr : &first->second;
  }

  // A step known only from its images.
  std::uint32_t step_of_device(const NamedAnnotation& mark) {
    const bool has_id = usable(mark.event.external_id);
    if (has_id) {
      const auto known = device_by_external_id_.find({mark.event.external_id, mark.event.name});
      if (known != device_by_external_id_.end()) return known->second;
    } else if (const std::uint32_t overlapping = overlapping_image(mark)) {
      return overlapping;
    }
    const std::uint32_t step = new_step(mark);
    if (has_id) device_by_external_id_[{mark.event.external_id, mark.event.name}] = step;
    latest_images_[mark.event.name].push(mark.end, {mark.event.ts, mark.end, mark.event.track, step});
    return step;
  }

  std::uint32_t overlapping_image(const NamedAnnotation& mark) {
    OpenIntervals<DeviceStepInterval>& recent = latest_images_[mark.event.name];
    recent.advance(mark.event.ts);
    const DeviceStepInterval* found = recent.find(mark.event.ts + 1, [&](const DeviceStepInterval& image) {
      return image.stream != mark.event.track && image.ts < mark.end;
    });
    return found == nullptr ? 0 : found->step;
  }

  void number_in_time_order() {
    std::vector<std::uint32_t> order(out_.steps.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(out_.steps[a].ts, out_.steps[a].annotation) <
             std::pair(out_.steps[b].ts, out_.steps[b].annotation);
    });
    std::vector<StepRow> sorted;
    std::vector<std::uint32_t> renumbered(order.size() + 1);
    for (const std::uint32_t old : order) {
      sorted.push_back(out_.steps[old]);
      renumbered[old + 1] = static_cast<std::uint32_t>(sorted.size());
    }
    out_.steps = std::move(sorted);
    for (NamedAnnotation& mark : marks_) mark.step = renumbered[mark.step];
  }

  TraceStore& store_;
  StepAnnotations out_;
  std::vector<NamedAnnotation> marks_;
  std::unordered_map<std::uint32_t, std::optional<Name>> names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> by_name_;  // by name and process
  std::map<std::pair<std::int64_t, std::uint32_t>, std::set<std::uint32_t>> by_external_id_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> device_by_external_id_;
  std::unordered_map<std::uint32_t, OpenIntervals<DeviceStepInterval>> latest_images_;
};

}  // namespace

StepAnnotations find_steps(TraceStore& store) { return Finder(store).run(); }

}  // namespace tracedb
