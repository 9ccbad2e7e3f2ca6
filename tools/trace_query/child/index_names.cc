#include "trace_query/child/index_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/input_file.h"
#include "base/stream/content_hash.h"
#include "base/text/characters.h"
#include "base/text/closest_name.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "report/json_text.h"
#include "shared/usage_error.h"
#include "trace_query/command.h"

namespace tracedb {
namespace {

// Changes where an entry comes to one of them or goes. "": one is gone, or changed so lately that the next change
// could have the same time.
std::string state_of(const std::vector<std::string>& folders, std::time_t now) {
  std::string out;
  for (const std::string& folder : folders) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0 || status.st_ctim.tv_sec + 1 >= now) return "";
    out += fmt::format("{}:{}.{};", status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  }
  return out;
}

std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  return fmt::format("{}:{}:{}:{}.{};", path, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

// Behind the name of a folder: it is the begin of another one.
bool goes_on(std::string_view text) {
  return !text.empty() && (is_ascii_letter(text.front()) || is_ascii_digit(text.front()) ||
                           std::string_view("/._-").find(text.front()) != std::string_view::npos);
}

}  // namespace

IndexNames::IndexNames(std::span<const std::string> given, bool follows) : follows_(follows) {
  std::vector<std::string> folders;
  for (const std::string& one : given) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(one, error);
    if (std::ranges::find(given_, real.string()) != given_.end()) continue;
    given_.push_back(error ? one : real.string());
    if (!std::filesystem::is_directory(real, error)) continue;
    if (std::ranges::find(folders, real.filename().string()) != folders.end()) {
      throw usage_error("two folders are called '{}', and their indexes could not be told apart: name a folder above",
                        printable_path(real.filename()));
    }
    folders.push_back(real.filename().string());
  }
}

void IndexNames::look_again() {
  constexpr std::time_t kLongestTrust = 10;  // s: some file systems keep no times of folders
  const std::time_t now = std::time(nullptr);
  if (!state_.empty() && now - looked_at_ < kLongestTrust && state_of(folders_, now) == state_) return;
  // Where no descriptor is left a folder seems to be empty.
  if (!FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)).is_open())
    throw Error(ErrorCode::kResource, "no file can be opened: too many are; try again");
  paths_.clear();
  shown_.clear();
  traces_.clear();
  folders_.clear();
  for (const std::string& given : given_) {
    std::error_code error;
    const std::filesystem::path folder(given);
    shown_[given + "/"] = "";
    shown_[given] = ".";
    if (!std::filesystem::is_directory(folder, error)) {
      folders_.push_back(given);
      if (std::filesystem::exists(folder, error)) paths_[folder.stem().string()] = given;
      continue;
    }
    const TraceList list = list_traces({folder}, default_globs(), {}, Indexes::kTake);
    for (const std::filesystem::path& entered : list.folders) folders_.push_back(entered.string());
    for (const std::filesystem::path& path : list.traces) take(folder, path);
  }
  const auto in_json = [](const std::string& text) {
    const std::string quoted = json_string(text);
    return quoted.substr(1, quoted.size() - 2);
  };
  for (const auto& [name, path] : paths_) {
    shown_[path] = name;
    for (const std::string& text : {path, escape_text(path)}) {
      if (const std::string written = in_json(text); written != path) shown_[written] = in_json(escape_text(name));
    }
  }
  looked_at_ = now;
  state_ = state_of(folders_, now);
}

void IndexNames::take(const std::filesystem::path& folder, const std::filesystem::path& path) {
  if (path.extension() != kIndexSuffix) {
    traces_.push_back(path.string());
    return;
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return;
  std::string below = real.lexically_relative(folder).string();
  if (follows_ && below.starts_with("..")) below = path.lexically_relative(folder).string();
  if (below.starts_with("..") || !below.ends_with(kIndexSuffix)) return;
  const std::string name = below.substr(0, below.rfind(kIndexSuffix));
  paths_[given_.size() > 1 ? folder.filename().string() + "/" + name : name] = path.string();
}

std::string IndexNames::path_of(const std::string& name) const {
  const std::string wanted = name.ends_with(kIndexSuffix) ? name.substr(0, name.rfind(kIndexSuffix)) : name;
  if (const auto found = paths_.find(wanted); found != paths_.end()) return found->second;
  std::vector<std::string> all, parts;
  constexpr std::string_view kLeftOut = "…";
  const std::size_t gap = wanted.find(kLeftOut);
  for (const auto& [one, path] : paths_) {
    const std::string shown = escape_text(one);  // as an answer has it, but for its middle
    if (shown == wanted) return path;
    all.push_back(one);
    const bool is_part = gap == std::string::npos ? !wanted.empty() && one.find(wanted) != std::string::npos
                                                  : shown.size() >= wanted.size() - kLeftOut.size() &&
                                                        shown.starts_with(wanted.substr(0, gap)) &&
                                                        shown.ends_with(wanted.substr(gap + kLeftOut.size()));
    if (is_part) parts.push_back(one);
  }
  if (parts.size() == 1) return paths_.at(parts.front());
  constexpr std::size_t kMostNamed = 3;
  if (parts.empty()) parts = closest_first(wanted, std::move(all));
  throw usage_error("no single index '{}': {}; the list of indexes has all", name, first_names(parts, kMostNamed));
}

std::string IndexNames::folder_of(const std::string& name) const {
  for (const std::string& given : given_) {
    const std::filesystem::path folder(given);
    const std::string prefix = given_.size() > 1 ? folder.filename().string() + "/" : "";
    for (const auto& [one, path] : paths_) {
      if (name == "." || name.empty()) return given;
      const bool is_below = one.starts_with(name + "/") && one.starts_with(prefix);
      if (is_below) return (folder / name.substr(std::min(prefix.size(), name.size()))).string();
    }
  }
  throw usage_error("no folder '{}' with indexes in it; '.' is all of them", name);
}

std::vector<std::string> IndexNames::paths_below(const std::string& folder) const {
  std::vector<std::string> out;
  for (const auto& [name, path] : paths_) {
    if (folder.empty() || folder == "." || name.starts_with(folder + "/")) out.push_back(path);
  }
  if (out.empty()) throw usage_error("no folder '{}' with indexes in it; '.' is all of them", folder);
  return out;
}

std::string IndexNames::without_paths(std::string_view text) const {
  std::string out;
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/')) {
    out += text.substr(0, slash);
    text.remove_prefix(slash);
    // The longest path that stands here: the last one up to it, or the last up to what both begin with.
    std::string_view begin = text;
    auto found = shown_.upper_bound(begin);
    while (found != shown_.begin() && !text.starts_with((--found)->first)) {
      const std::string& path = found->first;
      begin = begin.substr(0, static_cast<std::size_t>(std::ranges::mismatch(begin, path).in1 - begin.begin()));
      found = shown_.upper_bound(begin);
    }
    const bool is_path = found != shown_.end() && text.starts_with(found->first) &&
                         (found->second != "." || !goes_on(text.substr(found->first.size())));
    out += is_path ? std::string_view(found->second) : text.substr(0, 1);
    text.remove_prefix(is_path ? found->first.size() : 1);
  }
  return out.append(text);
}

std::string IndexNames::identity(const std::string& path) const {
  return stamp_of(path) + stamp_of(path.substr(0, path.rfind(kIndexSuffix)));
}

std::string IndexNames::identity() const {
  std::string text;
  for (const auto& [name, path] : paths_) text += stamp_of(path);
  for (const std::string& path : traces_) text += stamp_of(path);
  return fmt::format("{:016x}", hash64(text));
}

std::vector<std::string> table_names() {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    if (!command.tables.empty() && command.name != "rules") out.emplace_back(command.name);
  }
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c != ' ' || quoted) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

}  // namespace tracedb
