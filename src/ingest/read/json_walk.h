// Walks through a JSON document front to back: into its objects and lists, and from value to value. For formats that
// are no list of events (JsonChunks cuts those). Memory is bounded by the largest value that is asked for whole.
//
// Lenient: it finds where values end, whatever they are. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/stream/byte_source.h"

namespace tracedb {

class JsonWalk {
 public:
  static constexpr std::size_t kLongestValue = std::size_t{64} << 20U;

  // Borrows the source.
  explicit JsonWalk(ByteSource& source, std::size_t longest_value = kLongestValue)
      : source_(source), longest_(longest_value) {}

  // Into the object ('{') or list ('[') that comes next. false: something else comes, and is still to come.
  bool enter(char bracket);
  // To the value of the next member of the object, to the next element of the list. false: it ended and was left, or
  // broke off.
  bool next_member(std::string& key);
  bool next_element();
  // The value that comes next, passed over: its text, valid until the next call. Empty: it broke off, as does one that
  // is longer than may be.
  std::string_view value();
  void skip();  // passes over the value that comes next, however long

  // From where the document broke off to its end, where the structure says nothing: take(text, position) for each
  // object that is whole, at most kLongestEvent bytes, whatever stands around it. false: it is none that is wanted, and
  // those in it come next. `lost` counts how often `sign` stands in what was passed over. Whether the document is
  // complete.
  template <class Take>
  bool salvage(std::string_view sign, std::uint64_t& lost, Take take) {
    const bool at_end = ends_in_the_middle();
    bool any = false;
    for (std::string_view text; !(text = next_object(sign, lost)).empty();) {
      if (!take(text, static_cast<std::int64_t>(position()) - 1)) continue;
      at_ += text.size() - 1;
      any = true;
    }
    const bool complete = closed() && (any || !at_end);
    if (!complete && lost > 0) --lost;  // the one that is cut off
    return complete;
  }
  // The key of the list that began last before that object.
  [[nodiscard]] const std::string& list() const { return list_; }
  // Back over the value that was returned last.
  void step_back(std::string_view value) { at_ -= value.size(); }

  // The document is truncated, or invalid from position() on; nothing more is found then.
  [[nodiscard]] bool broke_off() const { return broke_off_; }
  bool break_off();  // at what comes next; false
  [[nodiscard]] bool ends_in_the_middle() const { return broke_off_ && ended_ && !stray_; }
  [[nodiscard]] std::uint64_t position() const { return base_ + at_; }  // of what comes next
  [[nodiscard]] std::string_view ahead() const { return std::string_view(window_).substr(at_, 100); }

 private:
  bool peek(char& c);  // the next character that is no white space; false at the end
  bool refill();
  std::size_t value_length(bool keep);
  std::uint64_t pass_to(std::size_t to, std::string_view sign);
  std::string_view next_object(std::string_view sign, std::uint64_t& lost);
  void note_list(std::string_view before);
  [[nodiscard]] bool closed() const;  // at the end: by brackets

  ByteSource& source_;
  std::size_t longest_;
  std::string window_;  // from at_ on what was read, but not passed over
  std::size_t at_ = 0;
  std::uint64_t base_ = 0;  // position of window_[0]
  bool ended_ = false, broke_off_ = false;
  bool stray_ = false;  // it broke off at text that cannot be there
  std::string list_;
};

}  // namespace tracedb
