#include "sql/scripts.h"

#include <stdexcept>
#include <string>

namespace tracedb {

std::string_view script(std::string_view name) {
  for (const Script& candidate : scripts()) {
    if (candidate.name == name) return candidate.text;
  }
  throw std::out_of_range("no SQL script named " + std::string(name));
}

}  // namespace tracedb
