#include "shared/path_list.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/files/input_file.h"
#include "ingest/trace_list.h"

namespace tracedb {

std::vector<std::filesystem::path> read_path_list(const std::filesystem::path& list) {
  std::string text;
  if (list == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return parse_path_list(text);
  }
  std::ifstream file(list, std::ios::binary);
  if (!file || std::filesystem::is_directory(list)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: the list of traces cannot be read", printable_path(list)));
  }
  text.assign(std::istreambuf_iterator<char>(file), {});
  return parse_path_list(text);
}

}  // namespace tracedb
