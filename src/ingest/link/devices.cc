#include "ingest/link/devices.h"

#include <array>
#include <cctype>
#include <unordered_map>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

struct VendorWord {
  std::string_view word, vendor;
};

constexpr std::array<VendorWord, 21> kDeviceWords = {{
    {"nvidia", "nvidia"}, {"tesla", "nvidia"}, {"geforce", "nvidia"}, {"quadro", "nvidia"}, {"a100", "nvidia"},
    {"h100", "nvidia"},   {"h200", "nvidia"},  {"h800", "nvidia"},    {"b200", "nvidia"},   {"b300", "nvidia"},
    {"v100", "nvidia"},   {"rtx", "nvidia"},   {"amd", "amd"},        {"instinct", "amd"},  {"radeon", "amd"},
    {"gfx9", "amd"},      {"intel", "intel"},  {"ascend", "ascend"},  {"npu", "ascend"},    {"mtia", "meta"},
    {"artemis", "meta"},
}};

constexpr std::array<VendorWord, 7> kHeaderWords = {{
    {"roctracer", "amd"},
    {"rocprofiler", "amd"},
    {"hip_", "amd"},
    {"cuda_", "nvidia"},
    {"cupti", "nvidia"},
    {"xpu", "intel"},
    {"cann", "ascend"},
}};

std::string_view vendor_of_name(std::string_view name) {
  const std::string text = ascii_lower(name);
  for (const VendorWord& entry : kDeviceWords) {
    if (text.find(entry.word) != std::string::npos) return entry.vendor;
  }
  return {};
}

std::string member_text(std::string_view object, std::string_view key) {
  return unescape(raw_string(json_member(object, key))).text;
}

std::string_view vendor_of_device(std::string_view properties) {
  const std::string_view by_name = vendor_of_name(member_text(properties, "name"));
  if (!by_name.empty()) return by_name;
  // Wavefronts of 64 are AMD's data-centre parts; 32 says nothing (NVIDIA, but also AMD's client parts).
  return member_text(properties, "warpSize") == "64" ? "amd" : std::string_view{};
}

std::string_view vendor_of_calls(const TraceStore& store) {
  std::size_t hip = 0;
  std::size_t cuda = 0;
  for (std::uint32_t id = 1; id <= store.strings.size(); ++id) {
    const std::string_view name = store.strings.text(id);
    hip += name.starts_with("hip") && name.size() > 3 && std::isupper(static_cast<unsigned char>(name[3])) ? 1 : 0;
    cuda += name.starts_with("cuda") && name.size() > 4 && std::isupper(static_cast<unsigned char>(name[4])) ? 1 : 0;
  }
  if (hip == cuda) return {};
  return hip > cuda ? "amd" : "nvidia";
}

std::vector<std::string_view> described(const TraceHeader& header) {
  const HeaderMember* list = find_header(header, "deviceProperties");
  if (list == nullptr) list = find_header(header, "computeProperties");
  return list == nullptr ? std::vector<std::string_view>{} : json_elements(list->text);
}

// The object of a device of the one model that the trace lists; empty where it lists several, or names none.
std::string_view only_model(const std::vector<std::string_view>& devices) {
  std::string name;
  for (const std::string_view properties : devices) {
    const std::string other = member_text(properties, "name");
    if (other.empty() || (!name.empty() && other != name)) return {};
    name = other;
  }
  return devices.empty() ? std::string_view{} : devices.front();
}

}  // namespace

std::string vendor_of(const TraceStore& store, const TraceFacts& facts) {
  if (!facts.vendor.empty()) return facts.vendor;
  const TraceHeader& header = facts.header;
  for (const VendorWord& entry : kHeaderWords) {
    for (const HeaderMember& member : header) {
      if (member.key.starts_with(entry.word)) return std::string(entry.vendor);
    }
  }
  for (const std::string_view properties : described(header)) {
    const std::string_view vendor = vendor_of_device(properties);
    if (!vendor.empty()) return std::string(vendor);
  }
  const std::string_view vendor = vendor_of_calls(store);
  return vendor.empty() ? "unknown" : std::string(vendor);
}

std::vector<DeviceRow> devices_of(const TraceStore& store, const TraceFacts& facts) {
  const TraceHeader& header = facts.header;
  const std::string trace_vendor = vendor_of(store, facts);
  std::vector<DeviceRow> rows;
  std::unordered_map<std::int64_t, std::size_t> known;  // position by number
  for (const TrackKey& key : store.devices) {
    if (key.number != kUnknownValue) known.try_emplace(key.number, rows.size());
    rows.push_back({key, true, trace_vendor, {}});
  }
  for (const std::string_view properties : described(header)) {
    const auto id = parse_int64(member_text(properties, "id"));
    const std::string_view named = vendor_of_device(properties);
    DeviceRow row{
        {id.value_or(kUnknownValue), {}}, false, named.empty() ? trace_vendor : std::string(named), minify(properties)};
    const bool is_new = !id || known.try_emplace(*id, rows.size()).second;
    if (is_new) {
      rows.push_back(std::move(row));
    } else {
      DeviceRow& used = rows[known.at(*id)];
      used.vendor = row.vendor;
      used.properties = row.properties;
    }
  }
  const std::string_view model = only_model(described(header));
  for (DeviceRow& row : rows) {
    if (!row.properties.empty() || model.empty() || row.key.number == kUnknownValue) continue;
    const std::string_view named = vendor_of_device(model);
    if (!named.empty()) row.vendor = named;
    row.model = minify(model);
  }
  return rows;
}

}  // namespace tracedb
