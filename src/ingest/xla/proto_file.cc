#include "ingest/xla/proto_file.h"

#include <algorithm>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace tracedb {

// The bytes from `at` on, `size` of them where the file has as many, or more.
std::string_view ProtoFile::window(std::uint64_t at, std::size_t size) {
  constexpr std::size_t kAhead = std::size_t{256} << 10U;
  const bool held = at >= base_ && at - base_ <= buffer_.size();
  if (!held || (buffer_.size() - (at - base_) < size && base_ + buffer_.size() < size_)) {
    buffer_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(std::max(size, kAhead), size_ - std::min(at, size_))));
    buffer_.resize(read_(at, buffer_.data(), buffer_.size()));
    base_ = at;
  }
  return std::string_view(buffer_).substr(static_cast<std::size_t>(at - base_));
}

std::optional<ProtoField> ProtoFile::next(ProtoRange& rest) {
  constexpr std::size_t kLongestHead = 20;  // two varints
  if (rest.empty()) return std::nullopt;
  std::string_view text = window(rest.begin, kLongestHead);
  text = text.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), rest.size())));
  const char* at = text.data();
  const char* const end = at + text.size();
  ProtoField field;
  bool known = true;
  const bool whole = decodes([&] {
    const std::uint64_t key = protozero::decode_varint(&at, end);
    field.number = static_cast<std::uint32_t>(key >> 3U);
    const auto fixed = [&](std::size_t size) {
      if (static_cast<std::size_t>(end - at) < size) throw protozero::end_of_buffer_exception();
      std::copy_n(at, size, reinterpret_cast<char*>(&field.value));
      at += size;
    };
    switch (static_cast<protozero::pbf_wire_type>(key & 7U)) {
      case protozero::pbf_wire_type::varint:
        field.value = protozero::decode_varint(&at, end);
        break;
      case protozero::pbf_wire_type::fixed64:
        return fixed(8);
      case protozero::pbf_wire_type::fixed32:
        return fixed(4);
      case protozero::pbf_wire_type::length_delimited:
        field.value = protozero::decode_varint(&at, end);
        field.is_range = true;
        break;
      default:
        known = false;
    }
  });
  const std::uint64_t begin = rest.begin + static_cast<std::uint64_t>(at - text.data());
  if (!whole || !known || field.number == 0 || (field.is_range && field.value > rest.end - begin)) return std::nullopt;
  if (field.is_range) field.range = {begin, begin + field.value};
  rest.begin = field.is_range ? field.range.end : begin;
  return field;
}

std::string_view ProtoFile::bytes(ProtoRange range) {
  if (range.size() > kLongest) return {};
  return window(range.begin, static_cast<std::size_t>(range.size())).substr(0, static_cast<std::size_t>(range.size()));
}

}  // namespace tracedb
