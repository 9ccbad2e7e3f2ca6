// Python frames with the same start and length: times do not tell which of them encloses which, but their parent ids
// may.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ingest/store/records.h"

namespace tracedb {

// Moves each frame after its parent, if that is among them; otherwise keeps the order.
inline void order_by_parents(std::vector<PythonRecord>& frames) {
  std::unordered_map<std::uint32_t, std::size_t> by_id;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].python_id != kNoPythonId) by_id.try_emplace(frames[i].python_id, i);
  }
  std::vector<PythonRecord> ordered;
  std::vector<bool> placed(frames.size());
  std::vector<std::size_t> waiting;  // a frame, its parent, its parent's parent ...
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (std::size_t frame = i; !placed[frame];) {
      placed[frame] = true;
      waiting.push_back(frame);
      const auto parent = by_id.find(frames[frame].parent_id);
      if (parent == by_id.end()) break;
      frame = parent->second;
    }
    for (; !waiting.empty(); waiting.pop_back()) ordered.push_back(frames[waiting.back()]);
  }
  frames = std::move(ordered);
}

// Paths of the frames that were placed already. Tracks are ids of threads, from 1.
class TiedFrames {
 public:
  struct Around {  // the frame around all of a thread: its python id and its path
    std::uint32_t python_id, stack;
  };

  void clear() {
    stacks_.clear();
    around_.clear();
  }
  void add(std::uint32_t track, std::uint32_t python_id, std::uint32_t stack) {
    if (python_id < kRootPythonId) stacks_[key(track, python_id)] = stack;
  }
  void set_around(std::uint32_t track, const Around& around) { around_[track] = around; }

  [[nodiscard]] std::uint32_t stack_of(std::uint32_t track, std::uint32_t python_id) const {  // 0: none
    const auto found = stacks_.find(key(track, python_id));
    return found == stacks_.end() ? 0 : found->second;
  }
  [[nodiscard]] const Around* around(std::uint32_t track) const {  // nullptr: no frame of the thread was placed
    const auto found = around_.find(track);
    return found == around_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t key(std::uint32_t track, std::uint32_t python_id) {
    return std::uint64_t{track} << 32U | python_id;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> stacks_;
  std::unordered_map<std::uint32_t, Around> around_;
};

}  // namespace tracedb
