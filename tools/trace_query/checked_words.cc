#include "trace_query/checked_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/text/closest_name.h"

namespace tracedb {
namespace {

// Options of other tools, and what there is instead.
constexpr std::string_view kOtherOptions[][2] = {
    {"--top", "-n N, --limit N: the first N rows"},
    {"--filter", "--name, --op, --phase, --step, --layer, --device, --from, --to select (--help); sql has WHERE"}};

}  // namespace

const std::string& known_phase(const std::string& text) {
  static const std::vector<std::string> kKinds = {"prefill", "decode",  "mixed", "train",
                                                  "other",   "unknown", "unit",  "none"};
  if (std::find(kKinds.begin(), kKinds.end(), text) == kKinds.end()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("--phase {}: use prefill, decode, mixed, train, other, unknown, unit or none{}", text,
                            did_you_mean(text, kKinds)));
  }
  return text;
}

void refuse_unknown_ending(const std::string& file, std::span<const std::string> known) {
  const std::string ending = std::filesystem::path(file).extension();
  if (ending.empty() || std::find(known.begin(), known.end(), ending) != known.end()) return;
  throw Error(ErrorCode::kUsage, fmt::format("-o {}: no format has the ending {}; there are {}", printable_path(file),
                                             ending, fmt::join(known, ", ")));
}

void require_known_ending(const CommandLine& line) {
  std::vector<std::string> known;
  bool given = line.has("compat");  // writes what the other program does
  for (const Renderer& renderer : line.knows("csv") ? renderers() : std::span<const Renderer>()) {
    std::istringstream endings{std::string(renderer.endings)};
    for (std::string ending; endings >> ending;) known.push_back("." + ending);
    given = given || line.has("format") || line.has(std::string(renderer.name));
  }
  if (line.can_page()) known.insert(known.end(), {".html", ".htm"});
  const bool has_own = line.knows("format") && !line.knows("csv");  // export
  if (!given && !has_own && !known.empty()) refuse_unknown_ending(line.text("output").value_or(""), known);
}

void refuse_other_options(const CommandLine& line, std::span<const std::string> args) {
  for (const std::string& arg : args) {
    for (const auto& [other, ours] : kOtherOptions) {
      if (arg.substr(0, arg.find('=')) != other || line.knows(std::string(other.substr(2)))) continue;
      throw Error(ErrorCode::kUsage, fmt::format("unknown option {}: use {}", other, ours));
    }
  }
}

}  // namespace tracedb
