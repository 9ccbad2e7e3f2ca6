#include "ingest/store/external_sorter.h"

#include <cstring>

namespace tracedb {

void TextSpool::push(std::string_view text) {
  const std::uint64_t length = text.size();
  buffer_.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
  ++size_;
  if (buffer_.size() >= kBuffer) spill();
}

void TextSpool::spill() {
  if (!file_) file_ = std::make_unique<TempFile>(directory_);
  file_->append(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

void TextSpool::start() {
  if (file_) spill();
}

std::optional<std::string_view> TextSpool::next() {
  if (read_ == size_) return std::nullopt;
  ++read_;
  std::uint64_t length = 0;
  std::memcpy(&length, take(sizeof(length)).data(), sizeof(length));
  return take(static_cast<std::size_t>(length));
}

std::string_view TextSpool::take(std::size_t bytes) {
  if (buffer_.size() - position_ < bytes) {
    buffer_.erase(0, position_);
    position_ = 0;
    const std::size_t kept = buffer_.size();
    const std::uint64_t wanted = std::max(bytes, kBuffer) - kept;
    buffer_.resize(kept + static_cast<std::size_t>(std::min(wanted, file_->size() - file_position_)));
    const std::span<char> into = std::span(buffer_).subspan(kept);
    file_->read(file_position_, std::as_writable_bytes(into));
    file_position_ += into.size();
  }
  position_ += bytes;
  return std::string_view(buffer_).substr(position_ - bytes, bytes);
}

void TextSpool::release() {
  buffer_ = std::string();
  file_.reset();
}

}  // namespace tracedb
