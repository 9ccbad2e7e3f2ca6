#include "passes/classify/kernel_identity.h"

#include "trace/kernel_name.h"

namespace tracedb {
namespace {

bool ends_in_number(std::string_view name, std::size_t& begin) {
  begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  return begin < name.size() && begin > 1 && name[begin - 1] == '_';
}

}  // namespace

std::string normalised_name(std::string_view name) {
  std::string text = name.starts_with("_Z") ? readable_name(name) : std::string(name);
  std::size_t number = 0;
  const bool generated = text.starts_with("triton_") && text.find("_fused_") != std::string::npos;
  if (generated && ends_in_number(text, number)) text.resize(number - 1);
  return text;
}

}  // namespace tracedb
