#include "trace_query/inputs.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <system_error>

#include "base/failure.h"
#include "base/files/input_file.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "shared/option_parsing.h"
#include "shared/process_signals.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> in_folder(const fs::path& folder) {
  const TraceList list = list_traces({folder}, default_globs(), {}, Indexes::kTake);
  const std::set<fs::path> traces(list.traces.begin(), list.traces.end());
  std::vector<std::string> out;
  for (const fs::path& path : list.traces) {
    fs::path trace = path;
    if (path.extension() == kIndexSuffix && traces.contains(trace.replace_extension())) continue;
    out.push_back(path.string());
  }
  for (const TraceList::Note& note : list.unreadable) out.push_back(note.path.string());
  return out;
}

std::vector<std::string> that_fit(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> out;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return out;
}

std::vector<std::string> expanded(const std::string& given) {
  std::error_code error;
  std::vector<std::string> out;
  if (fs::is_directory(given, error)) {
    out = in_folder(given);
  } else if (!fs::exists(given, error) && given.find_first_of("*?[") != std::string::npos) {
    for (const std::string& path : that_fit(given)) {
      const std::vector<std::string> more = fs::is_directory(path, error) ? in_folder(path) : std::vector{path};
      out.insert(out.end(), more.begin(), more.end());
    }
  }
  return out.empty() ? std::vector{given} : out;
}

}  // namespace

std::vector<std::string> find_inputs(std::span<const std::string> given, const std::optional<std::string>& files_from) {
  std::vector<std::string> all(given.begin(), given.end());
  if (files_from) {
    for (const fs::path& path : read_path_list(*files_from)) all.push_back(path.string());
  }
  std::vector<std::string> out;
  for (const std::string& path : all) {
    const std::vector<std::string> more = expanded(path);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

bool InputLoop::attempt(const std::string& input, const std::function<void()>& make) {
  if (inputs_.size() == 1) {
    make();
    ++answered_;
    return true;
  }
  const std::optional<Error> failure = catch_error(make);
  if (!failure) {
    ++answered_;
    return true;
  }
  const bool over = end_requested() || !RunLimits::of_process().time_limit_reached().empty();
  if (over || failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
  const std::string text = failure->what();
  const bool named = text.find(printable_path(input)) != std::string::npos;
  std::cerr << "trace-query: " << escape_text(named ? text : fmt::format("{}: {}", input, text)) << '\n';
  const int code = static_cast<int>(failure->code());
  same_failure_ = same_failure_ && code == first_failure_.value_or(code);
  if (!first_failure_) first_failure_ = code;
  return false;
}

int InputLoop::exit_code() const {
  if (!first_failure_) return 0;
  return !any_answered() && same_failure_ ? *first_failure_ : static_cast<int>(ErrorCode::kInput);
}

}  // namespace tracedb
