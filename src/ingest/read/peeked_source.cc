#include "ingest/read/peeked_source.h"

#include <algorithm>

namespace tracedb {

std::string_view PeekedSource::peek(std::size_t size) {
  std::size_t done = head_.size();
  head_.resize(std::max(size, done));
  for (std::size_t got = 1; got > 0 && done < head_.size(); done += got) {
    got = source_->read(head_.data() + done, head_.size() - done);
  }
  head_.resize(done);
  return head_;
}

std::size_t PeekedSource::read(char* destination, std::size_t capacity) {
  const std::size_t from_head = head_.copy(destination, capacity, taken_);
  taken_ += from_head;
  if (taken_ == head_.size() && !head_.empty()) {
    head_ = {};
    taken_ = 0;
  }
  return from_head == capacity ? capacity : from_head + source_->read(destination + from_head, capacity - from_head);
}

}  // namespace tracedb
