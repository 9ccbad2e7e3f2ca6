#include "passes/classify/glob_pattern.h"

#include <algorithm>

namespace tracedb {

GlobPattern::GlobPattern(std::string_view pattern) {
  while (true) {
    const std::size_t star = std::min(pattern.find('*'), pattern.size());
    pieces_.emplace_back(pattern.substr(0, star));
    if (star == pattern.size()) return;
    pattern.remove_prefix(star + 1);
  }
}

// The first and last piece have their place; what is between is taken where it comes first, which leaves most room.
bool GlobPattern::fits(std::string_view text) const {
  const std::string& first = pieces_.front();
  const std::string& last = pieces_.back();
  if (pieces_.size() == 1) return text == first;
  if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last)) return false;
  text = text.substr(first.size(), text.size() - first.size() - last.size());
  for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const std::size_t at = text.find(pieces_[i]);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + pieces_[i].size());
  }
  return true;
}

}  // namespace tracedb
