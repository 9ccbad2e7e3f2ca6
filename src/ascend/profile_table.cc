#include "ascend/profile_table.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "ascend/profile_side.h"
#include "base/stream/byte_source.h"
#include "base/stream/csv_reader.h"
#include "base/text/decimal.h"

namespace tracedb {
namespace {

// Where the columns are, by any of the names that versions of the profilers give them.
struct Columns {
  explicit Columns(const CsvHeader& header)
      : type(header.find({"Type", "OP Type", "Op Type"})),
        name(header.find({"Name", "Op Name", "OP Name"})),
        start(header.find({"Start Time(us)", "Task Start Time(us)"})),
        duration(header.find({"Duration(us)", "Task Duration(us)"})),
        stream(header.find({"Stream ID", "Stream Id"})),
        shapes(header.find({"Input Shapes"})) {}

  [[nodiscard]] bool are_of_kernels() const { return duration && (type || name); }

  std::optional<std::size_t> type, name, start, duration, stream, shapes;
};

// The first record that is no empty line.
bool read_head(CsvReader& reader, CsvRecord& record) {
  while (reader.next(record)) {
    if (!record.fields.empty()) return true;
  }
  return false;
}

// Ids in the order of first appearance, from 1.
class Ids {
 public:
  // 0, and the id it gets, for a text that is new.
  std::uint32_t id_of(const std::string& text, bool& is_new) {
    const auto [entry, inserted] = ids_.try_emplace(text, static_cast<std::uint32_t>(ids_.size() + 1));
    is_new = inserted;
    return entry->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
};

class TableReader {
 public:
  TableReader(KeyBy key, const DuplicatePolicy& policy) : sums_(key, policy, 0) {}

  ProfileTable read(const std::filesystem::path& path) {
    const auto source = open_byte_source(path);
    CsvReader reader(*source);
    CsvRecord record;
    if (!read_head(reader, record)) return {};
    const CsvHeader header(record.fields);
    const Columns columns(header);
    if (const std::size_t repeated = header.repeated().size(); repeated > 0) {
      table_.problems["duplicate_key"] = static_cast<std::int64_t>(repeated);
    }
    while (reader.next(record)) {
      if (record.broken) {
        ++table_.problems["malformed_row"];
      } else if (!record.fields.empty()) {
        if (record.fields.size() != header.names().size()) ++table_.problems["ragged_row"];
        add(columns, record);
      }
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

  void add(const Columns& columns, const CsvRecord& record) {
    const std::string_view name = cell(record, columns.name);
    const std::string_view type = cell(record, columns.type);
    if (type.empty() && name.empty()) {
      ++table_.problems["missing_name"];
      return;
    }
    ProfileSums::Kernel kernel;
    kernel.type = type_id(std::string(type.empty() ? name : type));
    kernel.task = task_id(name, cell(record, columns.shapes));
    bool is_new = false;
    kernel.stream =
        streams_.id_of(std::string(columns.stream ? record.field(*columns.stream).value_or("") : ""), is_new);
    kernel.start = time(cell(record, columns.start), "timestamp");
    kernel.ns = time(cell(record, columns.duration), "duration");
    if (kernel.ns && *kernel.ns < 0) {
      ++table_.problems["negative_duration"];
      kernel.ns.reset();
    }
    sums_.add(kernel);
  }

  std::uint32_t type_id(const std::string& type) {
    bool is_new = false;
    const std::uint32_t id = types_.id_of(type, is_new);
    if (is_new) sums_.name_type(id, type);
    return id;
  }

  std::uint32_t task_id(std::string_view name, std::string_view shapes) {
    bool is_new = false;
    const std::uint32_t id = tasks_.id_of(std::string(name) + '\n' + std::string(shapes), is_new);
    if (is_new) sums_.describe_task(id, {std::string(name), normalized_shapes(shapes)});
    return id;
  }

  ProfileSums sums_;
  ProfileTable table_;
  Ids types_, tasks_, streams_;
};

}  // namespace

bool is_profile_table(const std::filesystem::path& path) {
  constexpr std::size_t kHead = std::size_t{1} << 16U;
  std::string head(kHead, '\0');
  const auto source = open_byte_source(path);
  std::size_t size = 0;
  for (std::size_t got = 1; got > 0 && size < kHead; size += got) got = source->read(head.data() + size, kHead - size);
  const auto start = memory_byte_source(std::string_view(head).substr(0, size));
  CsvReader reader(*start);
  CsvRecord record;
  return read_head(reader, record) && Columns(CsvHeader(record.fields)).are_of_kernels();
}

ProfileTable read_profile_table(const std::filesystem::path& path, KeyBy key, const DuplicatePolicy& policy) {
  return TableReader(key, policy).read(path);
}

}  // namespace tracedb
