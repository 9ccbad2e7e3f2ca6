#include "trace_query/child/index_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/files/input_file.h"
#include "base/stream/content_hash.h"
#include "base/text/closest_name.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "shared/usage_error.h"
#include "trace_query/command.h"

namespace tracedb {

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
  paths_.clear();
  for (const std::string& given : given_) {
    std::error_code error;
    const std::filesystem::path folder(given);
    if (!std::filesystem::exists(folder, error)) continue;
    if (!std::filesystem::is_directory(folder, error)) {
      paths_[folder.stem().string()] = given;
      continue;
    }
    for (const std::filesystem::path& path : list_traces({folder}, {"*.tracedb"}, {}, Indexes::kTake).traces) {
      const std::filesystem::path real = std::filesystem::canonical(path, error);
      if (error) continue;
      std::string below = real.lexically_relative(folder).string();
      if (follows_ && below.starts_with("..")) below = path.lexically_relative(folder).string();
      if (below.starts_with("..") || !below.ends_with(kIndexSuffix)) continue;
      const std::string name = below.substr(0, below.rfind(kIndexSuffix));
      paths_[given_.size() > 1 ? folder.filename().string() + "/" + name : name] = path.string();
    }
  }
}

std::string IndexNames::path_of(const std::string& name) const {
  const std::string wanted = name.ends_with(kIndexSuffix) ? name.substr(0, name.rfind(kIndexSuffix)) : name;
  if (const auto found = paths_.find(wanted); found != paths_.end()) return found->second;
  std::vector<std::string> all, parts;
  for (const auto& [one, path] : paths_) {
    all.push_back(one);
    if (!wanted.empty() && one.find(wanted) != std::string::npos) parts.push_back(one);
  }
  if (parts.size() == 1) return paths_.at(parts.front());
  constexpr std::size_t kMostNamed = 3;
  if (parts.empty()) parts = closest_first(wanted, std::move(all));
  const std::size_t more = parts.size() - std::min(parts.size(), kMostNamed);
  parts.resize(parts.size() - more);
  throw usage_error("no single index '{}': {}{}; list_indexes has all", name, fmt::join(parts, ", "),
                    more > 0 ? fmt::format(" and {} more", more) : "");
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

std::string IndexNames::without_paths(std::string text) const {
  const auto replace_all = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
      text.replace(at, what.size(), by);
  };
  // The longest first: one may begin as another does.
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, path] : paths_) all.emplace_back(path, name);
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [path, name] : all) replace_all(path, name);
  for (const std::string& given : given_) replace_all(given + "/", "");
  return text;
}

std::string IndexNames::identity(const std::string& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  return fmt::format("{}:{}:{}:{}.{};", path, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string IndexNames::identity() const {
  std::string text;
  for (const auto& [name, path] : paths_) text += identity(path);
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
