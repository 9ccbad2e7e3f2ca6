// A source whose first bytes were examined: they are delivered again, because a pipe cannot be rewound.
//
// One thread at a time, as all sources.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/stream/byte_source.h"

namespace tracedb {

class PeekedSource : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The first bytes, `size` of them where there are as many. Before the first read() only.
  std::string_view peek(std::size_t size);

  std::size_t read(char* destination, std::size_t capacity) override;
  [[nodiscard]] StreamDamage damage() const override { return source_->damage(); }
  [[nodiscard]] std::uint64_t damaged_at() const override { return source_->damaged_at(); }
  [[nodiscard]] Compression compression() const override { return source_->compression(); }
  [[nodiscard]] TextEncoding encoding() const override { return source_->encoding(); }
  [[nodiscard]] Replacements replacements() const override { return source_->replacements(); }
  [[nodiscard]] std::uint64_t consumed() const override { return source_->consumed(); }
  [[nodiscard]] ContentHash hash() const override { return source_->hash(); }
  void drain() override { source_->drain(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  std::size_t taken_ = 0;
};

}  // namespace tracedb
