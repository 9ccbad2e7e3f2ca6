// What a map has for a key, without the ends of iterators.
#pragma once

namespace tracedb {

// Null: nothing.
template <class Map>
auto* find_in(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace tracedb
