#include "compare/runs/roll_up.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "base/failure.h"
#include "base/files/partial_file.h"
#include "base/files/small_file.h"
#include "base/stream/content_hash.h"
#include "base/text/amounts.h"
#include "base/unknown.h"
#include "base/version.h"
#include "index/locate.h"
#include "passes/layers/model_names.h"

namespace tracedb {
namespace {

// ---- of a trace

constexpr std::string_view kNoClass = "other";

class GroupSummer {
 public:
  GroupSummer(const ComparedTrace& trace, const KernelNameTable& kernel_names, const GroupSide& group, RollUpGroup& out)
      : trace_(trace), kernel_names_(kernel_names), group_(group), out_(out) {}

  void run() {
    out_.by_period = group_.by_period;
    out_.load_known = !group_.device_steps.empty();
    out_.sums.bar = bar_of(group_);
    out_.sums.rare_steps = static_cast<std::int64_t>(count_steps(trace_, group_.rare));
    const std::vector<std::uint32_t>& steps = group_.device_steps;
    for (std::size_t i = 0; i < steps.size();) {
      std::size_t end = i;
      const std::uint32_t step = trace_.work.steps[steps[i]].step;
      while (end < steps.size() && trace_.work.steps[steps[end]].step == step) ++end;
      add_step(std::span(steps).subspan(i, end - i));
      i = end;
    }
    std::map<std::int64_t, std::pair<double, double>> devices;  // times and numbers of steps
    const std::vector<std::int64_t> numbers = device_numbers(trace_.events);
    for (const std::uint32_t i : steps) {
      auto& [time, n] = devices[numbers[trace_.work.steps[i].device]];
      time += static_cast<double>(trace_.work.steps[i].span);
      ++n;
    }
    for (const auto& [device, sums] : devices) {
      if (sums.first > 0) out_.devices.emplace_back(device, sums.first / sums.second);
    }
    if (!out_.load_known) {
      out_.sums.load = out_.sums.load_squares = 0;
      for (PartSums& part : out_.sums.parts) part.time_load = 0;
    }
    const double rare = mean_over(group_.rare, [&](std::uint32_t i) { return time_of(trace_, group_, i); });
    const auto n = static_cast<double>(out_.sums.steps), n_rare = static_cast<double>(out_.sums.rare_steps);
    if (n > 0) out_.sums.mean_period = (out_.sums.period + rare * n_rare) / (n + n_rare);
  }

 private:
  void add_step(std::span<const std::uint32_t> devices) {
    for (const std::uint32_t i : devices) add_device(trace_.work.steps[i]);
    const StepInfo& info = trace_.steps.steps[trace_.work.steps[devices.front()].step - 1].info;
    const auto load = load_of(info);
    out_.load_known = out_.load_known && load && *load > 0;
    const double n = static_cast<double>(std::max<std::int64_t>(load.value_or(0), 0));
    RunSums& sums = out_.sums;
    ++sums.steps;
    sums.load += n;
    sums.load_squares += n * n;
    const auto count = static_cast<double>(devices.size());
    double period = 0;
    for (const std::size_t part : opened_) {
      const double time = now_[part] / count;
      period += time;
      sums.parts[part].time += time;
      sums.parts[part].time_squares += time * time;
      sums.parts[part].time_load += time * n;
      now_[part] = 0;
    }
    opened_.clear();
    sums.period += period;
    sums.period_squares += period * period;
  }

  void add_device(const DeviceStep& step) {
    for_each_event(trace_, step, [this](const StepEvent& event) {
      if (event.work == Work::kCompute) {
        add(kernel_part(event.name, event.role), event.accounted());
      } else {
        add(event.work == Work::kComm ? "[exposed communication]" : "[exposed copies]", event.accounted());
      }
    });
    add("[concurrent kernels]", step.at_once);
    add("[other steps]", step.shared);
    add("[idle]", step.idle);
    add("[no step]", step.other);
    if (!group_.by_period) return;
    add("[between steps]", step.between);
    add("[no step, between steps]", step.between_other);
  }

  std::size_t kernel_part(NameId name, Role role) {
    const auto [known, is_new] = of_kernel_.try_emplace({name, role}, 0);
    if (is_new) {
      const KernelNameEntry& entry = kernel_names_.entries()[name];
      const OpId op = entry.host.value_or(entry.op);
      const std::string& op_name = kernel_names_.op_name(op);
      const std::string detail = op_name == kNoClass   ? entry.short_name
                                 : role == Role::kNone ? std::string()
                                                       : std::string(to_string(role));
      known->second = part({op_name, kernel_names_.op_name(kernel_names_.family_of(op)), detail});
    }
    return known->second;
  }
  std::size_t part(RollUpPart named) {
    const auto key = std::tie(named.op, named.detail);
    const auto [known, is_new] = of_name_.try_emplace(key, out_.parts.size());
    if (is_new) {
      out_.parts.push_back(std::move(named));
      out_.sums.parts.emplace_back();
      now_.push_back(0);
    }
    return known->second;
  }
  void add(const char* name, std::int64_t time) {
    if (time != 0) add(part({name, "", ""}), time);
  }
  void add(std::size_t part, std::int64_t time) {
    if (now_[part] == 0) opened_.push_back(part);
    now_[part] += static_cast<double>(time);
  }

  const ComparedTrace& trace_;
  const KernelNameTable& kernel_names_;
  const GroupSide& group_;
  RollUpGroup& out_;
  std::map<std::pair<NameId, Role>, std::size_t> of_kernel_;
  std::map<std::tuple<std::string, std::string>, std::size_t> of_name_;
  std::vector<double> now_;          // of the step, by part
  std::vector<std::size_t> opened_;  // parts that have some; one twice where times cancel
};

RollUpGroup group_of(const ComparedTrace& trace, const KernelNameTable& kernel_names, std::string kind,
                     std::string batch, const GroupSide& group) {
  RollUpGroup out;
  out.kind = std::move(kind);
  out.batch = std::move(batch);
  out.matched_steps = static_cast<std::int64_t>(count_steps(trace, group.matched));
  if (!group.device_steps.empty()) out.work = work_facts(trace, group);
  GroupSummer(trace, kernel_names, group, out).run();
  return out;
}

// Of the steps, and, by the kind that follows, of those of them that another kind follows.
void add_groups(const ComparedTrace& trace, const KernelNameTable& kernel_names, const StepsOfBatch& of,
                std::vector<RollUpGroup>& groups) {
  const std::string kind(to_string(of.kind));
  groups.push_back(group_of(trace, kernel_names, kind, of.batch, group_side(trace, of.kind, of.device_steps)));
  std::set<StepKind> following;
  for (const std::uint32_t step : of.device_steps) {
    const Transition& next = trace.periods.transitions[step];
    if (next.period != kUnknownValue) following.insert(next.to);
  }
  for (const StepKind to : following) {
    groups.push_back(group_of(trace, kernel_names, transition_kind(kind, to_string(to)), of.batch,
                              transition_side(trace, of.kind, to, of.device_steps)));
  }
}

// ---- as text: fields, each behind a tab

class TextWriter {
 public:
  void operator()(const auto&... fields) { (write(fields), ...); }
  template <class Items, class Visit>
  void list(const Items& items, Visit visit) {
    write(static_cast<std::int64_t>(items.size()));
    for (const auto& item : items) visit(*this, item);
  }
  std::string take() { return std::move(text_); }

 private:
  void write(const std::string& text) {
    text_ += '\t';
    for (const char c : text) {
      if (c == '\\' || c == '\t' || c == '\n') text_ += '\\';
      text_ += c == '\t' ? 't' : c == '\n' ? 'n' : c;
    }
  }
  void write(bool value) { text_ += value ? "\t1" : "\t0"; }
  void write(auto number) { fmt::format_to(std::back_inserter(text_), "\t{}", number); }

  std::string text_;
};

// After the first field that is not as it should be, all are empty.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}
  void operator()(auto&... fields) { (read(fields), ...); }
  template <class Item, class Visit>
  void list(std::vector<Item>& items, Visit visit) {
    std::int64_t n = 0;
    read(n);
    for (std::int64_t i = 0; i < n && !failed_; ++i) visit(*this, items.emplace_back());
  }
  template <class Key, class Value, class Visit>
  void list(std::map<Key, Value>& items, Visit visit) {
    std::vector<std::pair<Key, Value>> all;
    list(all, visit);
    items.insert(all.begin(), all.end());
  }
  [[nodiscard]] bool complete() const { return !failed_ && text_.empty(); }

 private:
  void fail() {
    failed_ = true;
    text_ = {};
  }
  void read(std::string& out) {
    out.clear();
    if (text_.empty() || text_.front() != '\t') return fail();
    std::size_t at = 1;
    for (; at < text_.size() && text_[at] != '\t'; ++at) {
      const bool escaped = text_[at] == '\\' && at + 1 < text_.size();
      if (escaped) ++at;
      out += !escaped ? text_[at] : text_[at] == 't' ? '\t' : text_[at] == 'n' ? '\n' : text_[at];
    }
    text_.remove_prefix(at);
  }
  void read(bool& out) {
    std::int64_t value = 0;
    read(value);
    out = value != 0;
  }
  void read(auto& number) {
    number = 0;
    if (text_.empty() || text_.front() != '\t') return fail();
    const auto [end, error] = std::from_chars(text_.data() + 1, text_.data() + text_.size(), number);
    if (error != std::errc()) return fail();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  }

  std::string_view text_;
  bool failed_ = false;
};

// All fields in their order.
template <class Archive, class One>
void visit_roll_up(Archive& archive, One& one) {
  archive(one.gpu, one.framework, one.world_size, one.recording, one.date_ns);
  archive.list(one.groups, [](Archive& to, auto& group) {
    auto& sums = group.sums;
    to(group.kind, group.batch, group.matched_steps, group.by_period, group.load_known, group.work.model,
       group.work.architecture, group.work.layers, group.work.by_rhythm, group.work.tokens, group.work.requests,
       group.work.ranks);
    to.list(group.work.shapes, [](Archive& kinds, auto& kind) {
      kinds(kind.first);
      kinds.list(kind.second, [](Archive& shapes, auto& shape) { shapes(shape.first, shape.second); });
    });
    to.list(group.devices, [](Archive& device, auto& mean) { device(mean.first, mean.second); });
    to(sums.bar, sums.steps, sums.rare_steps, sums.load, sums.load_squares, sums.period, sums.period_squares,
       sums.mean_period);
    to.list(group.parts, [](Archive& part, auto& named) { part(named.op, named.family, named.detail); });
    to.list(sums.parts, [](Archive& part, auto& sum) { part(sum.time, sum.time_squares, sum.time_load); });
  });
}

std::string heading() { return fmt::format("tracedb roll-up 7 {}\n", kVersion); }

constexpr std::size_t kHashDigits = 32;
constexpr std::size_t kMostFiles = 5000;  // beyond, all are made anew

void make_room(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) files.push_back(entry.path());
  if (files.size() < kMostFiles) return;
  for (const auto& file : files) std::filesystem::remove(file, error);
}

}  // namespace

RollUp roll_up(const Index& index, const ComparedTrace& trace, const KernelNameTable& kernel_names) {
  RollUp out;
  out.gpu = index.database()
                .query_text("SELECT name FROM device WHERE name IS NOT NULL ORDER BY used DESC, id LIMIT 1")
                .value_or("");
  out.framework = framework_name(index).value_or("");
  out.world_size = trace.description.world_size;
  out.recording = to_string(trace.recorded.recording);
  const std::int64_t date = index.meta_int64("base_time_ns").value_or(0);
  out.date_ns = date >= kFirstDate ? date : 0;
  const std::vector<StepsOfBatch> by_batch = steps_by_batch(trace);
  for (std::size_t i = 0; i < by_batch.size();) {
    StepsOfBatch all{by_batch[i].kind, "", {}};
    std::size_t end = i;
    for (; end < by_batch.size() && by_batch[end].kind == all.kind; ++end) {
      all.device_steps.insert(all.device_steps.end(), by_batch[end].device_steps.begin(),
                              by_batch[end].device_steps.end());
    }
    add_groups(trace, kernel_names, all, out.groups);
    for (; i < end; ++i) add_groups(trace, kernel_names, by_batch[i], out.groups);
  }
  return out;
}

double attention_share(const RollUpGroup& group) {
  AttentionShare out;
  for (std::size_t i = 0; i < group.parts.size(); ++i) {
    if (!group.parts[i].family.empty()) out.add(group.parts[i].op, group.sums.parts[i].time);
  }
  return out.share();
}

std::string to_text(const RollUp& one) {
  TextWriter writer;
  visit_roll_up(writer, one);
  std::string text = heading() + writer.take();
  return text + to_hex(hash_bytes(text));
}

std::optional<RollUp> roll_up_of(std::string_view text) {
  const std::string head = heading();
  if (!text.starts_with(head) || text.size() < head.size() + kHashDigits) return std::nullopt;
  const std::string_view whole = text.substr(0, text.size() - kHashDigits);
  if (text.substr(whole.size()) != to_hex(hash_bytes(whole))) return std::nullopt;
  RollUp out;
  TextReader reader(whole.substr(head.size()));
  visit_roll_up(reader, out);
  for (const RollUpGroup& group : out.groups) {
    if (group.parts.size() != group.sums.parts.size()) return std::nullopt;
  }
  return reader.complete() ? std::optional(std::move(out)) : std::nullopt;
}

RollUpCache::RollUpCache(const std::filesystem::path& directory) {
  if (!directory.empty()) directory_ = directory / "runs";
}

void RollUpCache::make_folder() const {
  std::error_code error;
  if (directory_.empty()) return;
  if (std::filesystem::create_directories(directory_.parent_path(), error)) mark_as_cache(directory_.parent_path());
  std::filesystem::create_directory(directory_, error);
}

RollUp RollUpCache::of(const Index& index, const StepOptions& options, const RuleSet& rules, bool built_in) const {
  std::filesystem::path file;
  const auto hash = index.meta("source_hash");
  if (built_in && !options.pattern && hash && !directory_.empty()) {
    file = directory_ / to_hex(hash_bytes(fmt::format(
                            "{}{} {} {} {}", heading(), *hash, index.meta("tool_version").value_or(""),
                            index.meta("ingest_options").value_or(""), built_in_rules_hash() + step_rules_hash())));
    std::string content;
    if (!catch_error([&] { content = read_small_file(file); })) {
      if (auto known = roll_up_of(content)) return std::move(*known);
    }
  }
  const TraceSource source{index, ""};
  const ComparedTraces loaded = load_traces(std::span(&source, 1), options, rules);
  RollUp out = roll_up(index, loaded.traces.front(), loaded.kernel_names);
  if (file.empty()) return out;
  catch_error([&] {
    make_folder();
    make_room(directory_);
    const std::string content = to_text(out);
    PartialFile partial(file);
    std::ofstream stream(partial.path(), std::ios::binary | std::ios::trunc);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (stream) partial.publish(std::nullopt);
  });
  return out;
}

}  // namespace tracedb
