// Walks through a file that is one protobuf message, however long: field by field at the outer levels, where messages
// may have any size, and whole messages into memory at the inner ones, which protozero then decodes.
//
// Wire format: protobuf.dev/programming-guides/encoding. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace tracedb {

// Runs `decode`, which reads a message with protozero. false: it is damaged, and was read up to there.
template <class Decode>
bool decodes(Decode decode) {
  try {
    decode();
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

inline protozero::pbf_reader reader_of(std::string_view bytes) {
  return protozero::pbf_reader(protozero::data_view(bytes.data(), bytes.size()));
}

// Calls take(number, value) for each field of a message; a value that it does not read is passed over. Throws
// protozero::exception where the message is damaged.
template <class Take>
void read_fields(protozero::pbf_reader message, Take take) {
  while (message.next()) {
    const char* const value = message.data().data();
    take(message.tag(), message);
    if (message.data().data() == value) message.skip();
  }
}

// Bytes of the file.
struct ProtoRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin >= end; }
};

struct ProtoField {
  std::uint32_t number = 0;
  bool is_range = false;    // a message, text or bytes
  std::uint64_t value = 0;  // else: of a varint, or of 32 or 64 bits
  ProtoRange range;
};

class ProtoFile {
 public:
  // Fewer bytes than asked for only at the end of the file.
  using Read = std::function<std::size_t(std::uint64_t at, char* into, std::size_t size)>;

  ProtoFile(Read read, std::uint64_t size) : read_(std::move(read)), size_(size) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Takes the first field off `rest`. nullopt: there is none, or it is damaged or runs on behind `rest`, which is then
  // not empty.
  std::optional<ProtoField> next(ProtoRange& rest);
  // Valid until the next call. Empty for more than kLongest bytes.
  static constexpr std::uint64_t kLongest = std::uint64_t{16} << 20U;
  std::string_view bytes(ProtoRange range);

 private:
  std::string_view window(std::uint64_t at, std::size_t size);

  Read read_;
  std::uint64_t size_;
  std::string buffer_;
  std::uint64_t base_ = 0;  // position of buffer_[0]
};

}  // namespace tracedb
