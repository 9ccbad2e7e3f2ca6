#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ascend/model_comparison.h"
#include "base/stream/byte_source.h"
#include "base/stream/csv_reader.h"
#include "base/text/decimal.h"
#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "passes/time/timeline.h"
#include "trace/ascend_columns.h"

namespace tracedb {
namespace {

constexpr std::string_view kCollective = "hcom_";
constexpr std::string_view kAicpu = "AicpuKernel";
constexpr std::int64_t kMicrosecond = 1000;

// Sums the kernels of a profile, wherever they come from; see ProfileSide for what is one kernel and what is left
// out.
class ProfileSums {
 public:
  struct Task {
    std::string name, shapes;
  };
  struct Kernel {
    std::uint32_t type = 0;                // as named by name_type()
    std::uint32_t task = 0;                // as described by describe_task(); 0: nothing is known
    std::uint32_t device = 0, stream = 0;  // 0: not known
    std::optional<std::int64_t> start;     // ns; unknown: the kernel is never a duplicate
    std::optional<std::int64_t> ns;
  };

  // `base_ns`: what to add to times for those of the profile's own clock.
  ProfileSums(KeyBy key, const DuplicatePolicy& policy, std::int64_t base_ns)
      : key_(key), policy_(policy), base_ns_(base_ns) {}

  void name_type(std::uint32_t id, std::string name) { types_[id] = std::move(name); }
  void describe_task(std::uint32_t id, Task task) { tasks_[id] = std::move(task); }

  void add(const Kernel& kernel) {
    const std::int64_t ns = kernel.ns.value_or(0);
    const std::string& type = types_[kernel.type];
    ++side_.kernels;
    if (!kernel.ns) ++side_.unknown_durations;
    if (type.ends_with(kAicpu)) {
      ++side_.aicpu;
      side_.aicpu_ns = saturating_add(side_.aicpu_ns, ns);
      return;
    }
    if (kernel.start && type.starts_with(kCollective) && policy_.rule != DuplicateRule::kNone) {
      collectives_.push_back({kernel.type, kernel.device, *kernel.start, ns, kernel.stream, kernel.task});
      return;
    }
    Device& device = count(kernel.device, kernel.type, kernel.task, ns);
    if (kernel.start) device.intervals.push_back({*kernel.start, saturating_add(*kernel.start, ns)});
    without_start_ = without_start_ || (!kernel.start && ns > 0);
  }

  // Call once, after all.
  ProfileSide finish() {
    merge();
    std::int64_t most = 0;
    for (const auto& [id, device] : devices_) most = std::max(most, id == 0 ? 0 : device.ns);
    if (without_start_) side_.busy_ns.reset();
    for (const auto& [id, device] : devices_) {
      const bool works = static_cast<double>(device.ns) >= kHardlyWorks * static_cast<double>(most);
      if (id != 0 && !works) {
        ++side_.idle_devices;
        side_.idle_device_ns = saturating_add(side_.idle_device_ns, device.ns);
        continue;
      }
      side_.devices += id != 0 ? 1 : 0;
      add_up(device);
    }
    return std::move(side_);
  }

 private:
  struct Collective {
    std::uint32_t type, device;
    std::int64_t start, ns;
    std::uint32_t stream;
    std::uint32_t task;
  };
  struct Device {
    std::int64_t ns = 0;                                                     // of what is not left out
    std::map<std::pair<std::uint32_t, std::uint32_t>, ProfileTotal> totals;  // by type and task
    std::vector<Extent> intervals;
  };
  // Collectives that are one.
  struct Group {
    const Collective* first;
    std::int64_t ns;  // of the longest
    std::int64_t end;
    std::vector<std::uint32_t> streams;
  };

  [[nodiscard]] const Task& task_of(std::uint32_t id) const {
    static const Task kNone;
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? kNone : found->second;
  }

  Device& count(std::uint32_t id, std::uint32_t type, std::uint32_t task, std::int64_t ns) {
    Device& device = devices_[id];
    device.ns = saturating_add(device.ns, ns);
    add_to(device.totals[{type, key_ == KeyBy::kTypeAndShapes ? task : 0}], {ns, 1});
    return device;
  }

  void add_up(const Device& device) {
    for (const auto& [place, total] : device.totals) {
      const auto& [type, task] = place;
      add_to(side_.totals[{types_[type], task == 0 ? std::string() : task_of(task).shapes}], total);
    }
    const TimeCover busy(device.intervals);
    if (side_.busy_ns)
      side_.busy_ns = saturating_add(*side_.busy_ns, busy.covered(busy.bounds().begin, busy.bounds().end));
  }

  static void add_to(ProfileTotal& sum, const ProfileTotal& one) {
    sum.ns = saturating_add(sum.ns, one.ns);
    sum.count += one.count;
  }

  // By the profile's own clock; times of the index begin with its first event.
  [[nodiscard]] std::int64_t microsecond_of(const Collective& collective) const {
    return saturating_add(base_ns_, collective.start) / kMicrosecond;
  }

  // A profile that gives collectives names of their own says which are different.
  [[nodiscard]] bool named_apart(const Collective& a, const Collective& b) const {
    const std::string& type = types_.at(a.type);
    const std::string& x = task_of(a.task).name;
    const std::string& y = task_of(b.task).name;
    return x != y && x.starts_with(type) && y.starts_with(type);
  }

  [[nodiscard]] bool is_duplicate(const Group& group, const Collective& next) const {
    const Collective& first = *group.first;
    switch (policy_.rule) {
      case DuplicateRule::kTruncate:
        return microsecond_of(first) == microsecond_of(next);
      case DuplicateRule::kName:
        return task_of(first.task).name == task_of(next.task).name && next.start <= group.end;
      case DuplicateRule::kWindow:
        if (named_apart(first, next)) return false;
        if (next.stream == 0) return next.start == first.start && next.ns == first.ns;
        return next.start - first.start <= policy_.window_ns &&
               std::ranges::find(group.streams, next.stream) == group.streams.end();
      case DuplicateRule::kNone:
        break;
    }
    return false;
  }

  void merge() {
    const auto order = [](const Collective& c) {
      return std::tuple(c.device, c.type, c.start, c.stream, -c.ns, c.task);
    };
    std::ranges::sort(collectives_, {}, order);
    std::vector<Group> open;
    for (const Collective& next : collectives_) {
      std::erase_if(open, [&](const Group& group) {
        const bool done = group.first->device != next.device || group.first->type != next.type || is_past(group, next);
        if (done) close(group);
        return done;
      });
      const auto found = std::ranges::find_if(open, [&](const Group& group) { return is_duplicate(group, next); });
      const std::int64_t end = saturating_add(next.start, next.ns);
      if (found == open.end()) {
        open.push_back({&next, next.ns, end, {next.stream}});
        continue;
      }
      ++side_.duplicates;
      side_.duplicate_ns = saturating_add(side_.duplicate_ns, std::min(next.ns, found->ns));
      found->streams.push_back(next.stream);
      found->end = std::max(found->end, end);
      found->ns = std::max(found->ns, next.ns);
    }
    for (const Group& group : open) close(group);
  }

  // Nothing that starts as late as `next` or later can belong to it.
  [[nodiscard]] bool is_past(const Group& group, const Collective& next) const {
    switch (policy_.rule) {
      case DuplicateRule::kTruncate:
        return microsecond_of(*group.first) != microsecond_of(next);
      case DuplicateRule::kName:
        return next.start > group.end;
      default:
        return next.start - group.first->start > policy_.window_ns;
    }
  }

  void close(const Group& group) {
    Device& device = count(group.first->device, group.first->type, group.first->task, group.ns);
    device.intervals.push_back({group.first->start, saturating_add(group.first->start, group.ns)});
  }

  KeyBy key_;
  DuplicatePolicy policy_;
  std::int64_t base_ns_;
  ProfileSide side_;
  bool without_start_ = false;  // some kernel
  std::unordered_map<std::uint32_t, std::string> types_;
  std::unordered_map<std::uint32_t, Task> tasks_;
  std::vector<Collective> collectives_;
  std::map<std::uint32_t, Device> devices_;  // by id
};

// Names and shapes of tasks; not every index has them. Whether it does.
bool read_tasks(Database& database, ProfileSums& sums) {
  if (!database.query_int64("SELECT 1 FROM sqlite_master WHERE name = 'task_info'")) return false;
  Statement tasks(database, "SELECT launch_config_id, name, input_shapes FROM task_info");
  bool any = false;
  for (; tasks.step(); any = true) {
    sums.describe_task(tasks.id(0), {std::string(tasks.text(1)), normalized_shapes(tasks.text(2))});
  }
  return any;
}

// The first record that is no empty line.
bool read_head(CsvReader& reader, CsvRecord& record) {
  while (reader.next(record)) {
    if (!record.fields.empty()) return true;
  }
  return false;
}

// Ids of texts, in the order of first appearance from 1.
using Ids = std::unordered_map<std::string, std::uint32_t>;

// The id of a text, and whether it is new.
std::pair<std::uint32_t, bool> id_of(Ids& ids, const std::string& text) {
  const auto [entry, is_new] = ids.try_emplace(text, static_cast<std::uint32_t>(ids.size() + 1));
  return {entry->second, is_new};
}

class TableReader {
 public:
  TableReader(KeyBy key, const DuplicatePolicy& policy) : sums_(key, policy, 0) {}

  ProfileTable read(const std::filesystem::path& path) {
    const auto source = open_byte_source(path);
    CsvReader reader(*source);
    CsvRecord record;
    if (!read_head(reader, record)) return {};
    const CsvHeader header(record.fields);
    const AscendColumns columns(header);
    if (const std::size_t repeated = header.repeated().size(); repeated > 0) {
      table_.problems["duplicate_key"] = static_cast<std::int64_t>(repeated);
    }
    // Of a row that has not the columns of the head: the file may end inside it.
    std::optional<ProfileSums::Kernel> odd;
    const auto add_odd = [&] {
      if (odd) sums_.add(*odd);
      odd.reset();
    };
    while (reader.next(record)) {
      add_odd();
      if (record.broken) {
        ++table_.problems["malformed_row"];
      } else if (!record.fields.empty()) {
        const std::optional<ProfileSums::Kernel> kernel = kernel_of(columns, record);
        if (record.fields.size() != header.names().size()) {
          ++table_.problems["ragged_row"];
          odd = kernel;
        } else if (kernel) {
          sums_.add(*kernel);
        }
      }
    }
    if (odd && !reader.ends_a_line()) {
      ++table_.problems["truncated"];
    } else {
      add_odd();
    }
    if (source->damage() != StreamDamage::kNone) ++table_.problems["truncated"];
    table_.side = sums_.finish();
    return std::move(table_);
  }

 private:
  // Without white space; "" for what is not there or not known.
  static std::string_view cell(const CsvRecord& record, const std::optional<std::size_t>& column) {
    const auto text = column ? record.field(*column) : std::nullopt;
    const std::string_view trimmed = text ? trim_space(*text) : std::string_view();
    return trimmed == "N/A" ? std::string_view() : trimmed;
  }

  // nullopt: none is given, or it is no number.
  std::optional<std::int64_t> time(std::string_view text, const std::string& what) {
    const auto value = parse_microseconds(text);
    if (!value) ++table_.problems[(text.empty() ? "missing_" : "bad_") + what];
    return value;
  }

  std::optional<ProfileSums::Kernel> kernel_of(const AscendColumns& columns, const CsvRecord& record) {
    const std::string_view name = cell(record, columns.name);
    const std::string_view type = cell(record, columns.type);
    if (type.empty() && name.empty()) {
      ++table_.problems["missing_name"];
      return std::nullopt;
    }
    ProfileSums::Kernel kernel;
    kernel.type = type_id(std::string(type.empty() ? name : type));
    kernel.task = task_id(name, cell(record, columns.shapes));
    const auto device = cell(record, columns.device);
    kernel.device = device.empty() ? 0 : id_of(devices_, std::string(device)).first;
    if (columns.stream) kernel.stream = id_of(streams_, std::string(record.field(*columns.stream).value_or(""))).first;
    kernel.start = time(cell(record, columns.start), "timestamp");
    kernel.ns = time(cell(record, columns.duration), "duration");
    if (kernel.ns && *kernel.ns < 0) {
      ++table_.problems["negative_duration"];
      kernel.ns.reset();
    }
    return kernel;
  }

  std::uint32_t type_id(const std::string& type) {
    const auto [id, is_new] = id_of(types_, type);
    if (is_new) sums_.name_type(id, type);
    return id;
  }

  std::uint32_t task_id(std::string_view name, std::string_view shapes) {
    const auto [id, is_new] = id_of(tasks_, std::string(name) + '\n' + std::string(shapes));
    if (is_new) sums_.describe_task(id, {std::string(name), normalized_shapes(shapes)});
    return id;
  }

  ProfileSums sums_;
  ProfileTable table_;
  Ids types_, tasks_, devices_, streams_;
};

}  // namespace

std::optional<DuplicatePolicy> duplicate_policy_from(std::string_view text) {
  if (text == "trunc-us") return DuplicatePolicy{DuplicateRule::kTruncate, 0};
  if (text == "name") return DuplicatePolicy{DuplicateRule::kName, 0};
  if (text == "none") return DuplicatePolicy{DuplicateRule::kNone, 0};
  constexpr std::string_view kWindow = "window=";
  if (!text.starts_with(kWindow)) return std::nullopt;
  std::string_view size = text.substr(kWindow.size());
  const bool is_us = size.ends_with("us");
  if (is_us || size.ends_with("ns")) size.remove_suffix(2);
  const auto window = is_us ? parse_microseconds(size) : parse_int64(size);
  if (!window || *window < 0) return std::nullopt;
  return DuplicatePolicy{DuplicateRule::kWindow, *window};
}

ProfileSide read_profile_side(const Index& index, KeyBy key, const DuplicatePolicy& policy) {
  ProfileSums sums(key, policy, index.meta_int64("base_time_ns").value_or(0));
  sums.name_type(0, "[no name]");
  Statement names(index.database(), "SELECT id, name FROM kernel_name");
  while (names.step()) sums.name_type(names.id(0), std::string(names.text(1)));
  const EventColumns columns(index, "kernel");
  const auto ts = columns.int64s("ts");
  const auto dur = columns.int64s("dur");
  const auto type = columns.ids("name_id");
  const auto stream = columns.ids("stream_id");
  std::unordered_map<std::uint32_t, std::uint32_t> devices;  // by stream
  Statement streams(
      index.database(),
      "SELECT stream.id, device.id FROM stream JOIN device ON device.id = device_id WHERE ordinal IS NOT NULL");
  while (streams.step()) devices[streams.id(0)] = streams.id(1);
  // As of a table: what has no stream is on stream 0, if no row has one.
  const bool has_streams = index.database().query_int64("SELECT 1 FROM stream WHERE number IS NOT NULL").has_value();
  const bool has_tasks = read_tasks(index.database(), sums);
  const auto tasks = has_tasks ? columns.ids("launch_config_id") : std::span<const std::uint32_t>();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool known = dur[i] >= 0;
    sums.add({type[i], has_tasks ? tasks[i] : 0, devices[stream[i]], has_streams ? stream[i] : 0, ts[i],
              known ? std::optional(dur[i]) : std::nullopt});
  }
  // Second rows of collectives: readers.h.
  constexpr std::uint32_t kOfSlice = std::uint32_t{1} << 31U;  // no configuration has such an id
  Statement second(
      index.database(),
      "SELECT category_id, name_id, s.ts, s.dur, c.value, n.value, d.id FROM slice s JOIN process p ON p.id = "
      "s.process_id JOIN string c ON c.id = category_id JOIN string n ON n.id = name_id LEFT JOIN device d ON "
      "d.ordinal = p.pid WHERE c.value GLOB 'hcom_*' ORDER BY s.id");
  while (second.step()) {
    sums.name_type(second.id(0), std::string(second.text(4)));
    sums.describe_task(second.id(1) | kOfSlice, {std::string(second.text(5)), {}});
    sums.add({second.id(0), second.id(1) | kOfSlice, second.is_null(6) ? 0 : second.id(6), has_streams ? kOfSlice : 0,
              second.int64(2), second.integer(3)});
  }
  return sums.finish();
}

bool is_profile_table(const std::filesystem::path& path) {
  constexpr std::size_t kHead = std::size_t{1} << 16U;
  const auto source = open_byte_source(path);
  const auto start = memory_byte_source(source->peek(kHead));
  CsvReader reader(*start);
  CsvRecord record;
  return read_head(reader, record) && AscendColumns(CsvHeader(record.fields)).are_of_kernels();
}

ProfileTable read_profile_table(const std::filesystem::path& path, KeyBy key, const DuplicatePolicy& policy) {
  return TableReader(key, policy).read(path);
}

}  // namespace tracedb
