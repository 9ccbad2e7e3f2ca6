#include "base/stream/raw_input.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracedb {
namespace {

// Bytes are hashed in steps that are still in the cache from being read.
constexpr std::size_t kStep = std::size_t{1} << 20;

class FileRawInput : public RawInput {
 public:
  explicit FileRawInput(InputFile file) : file_(std::move(file)) { file_.expect_sequential_reads(); }
  [[nodiscard]] const std::string& name() const override { return file_.name(); }

 private:
  std::size_t fetch(char* destination, std::size_t capacity) override { return file_.read(destination, capacity); }

  InputFile file_;
};

class MemoryRawInput : public RawInput {
 public:
  explicit MemoryRawInput(std::string_view data) : rest_(data) {}
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  std::size_t fetch(char* destination, std::size_t capacity) override {
    const std::size_t size = rest_.copy(destination, capacity);
    rest_.remove_prefix(size);
    return size;
  }

  std::string_view rest_;
  std::string name_ = "memory";
};

}  // namespace

std::string_view RawInput::peek() {
  if (head_size_ == 0) head_size_ = fetch(head_.data(), head_.size());
  return {head_.data(), head_size_};
}

std::size_t RawInput::read(char* destination, std::size_t capacity) {
  std::size_t done = 0;
  while (done < capacity) {
    char* const target = destination + done;
    const std::size_t wanted = std::min(capacity - done, kStep);
    const std::size_t from_head = std::min(wanted, head_size_ - head_taken_);
    std::memcpy(target, head_.data() + head_taken_, from_head);
    head_taken_ += from_head;
    const std::size_t got = from_head + fetch(target + from_head, wanted - from_head);
    hasher_.update({target, got});
    done += got;
    if (got < wanted) break;
  }
  consumed_ += done;
  return done;
}

void RawInput::drain() {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kStep);
  while (read(buffer.get(), kStep) > 0) {
  }
}

std::unique_ptr<RawInput> file_raw_input(InputFile file) { return std::make_unique<FileRawInput>(std::move(file)); }

std::unique_ptr<RawInput> memory_raw_input(std::string_view data) { return std::make_unique<MemoryRawInput>(data); }

}  // namespace tracedb
