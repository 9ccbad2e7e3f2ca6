#include "trace_query/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/failure.h"
#include "base/files/file_descriptor.h"
#include "base/files/input_file.h"
#include "base/parallel.h"
#include "base/scope_exit.h"
#include "base/text/amounts.h"
#include "fleet/catalogue.h"
#include "index/leftovers.h"
#include "index/locate.h"
#include "index/validity.h"
#include "ingest/ensure_index.h"
#include "ingest/formats.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "shared/option_parsing.h"
#include "shared/terminal.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> in_folder(const fs::path& folder, std::vector<std::string>* notes) {
  const TraceList list = list_traces({folder}, default_globs(), {}, Indexes::kTake);
  const std::set<fs::path> traces(list.traces.begin(), list.traces.end());
  std::vector<std::string> out;
  for (const fs::path& path : list.traces) {
    fs::path trace = path;
    if (path.extension() == kIndexSuffix && traces.contains(trace.replace_extension())) continue;
    out.push_back(path.string());
  }
  keep_one_form(out, notes);
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

std::vector<std::string> expanded(const std::string& given, std::vector<std::string>* notes) {
  std::error_code error;
  std::vector<std::string> out;
  if (fs::is_directory(given, error)) {
    out = in_folder(given, notes);
  } else if (!fs::exists(given, error) && given.find_first_of("*?[") != std::string::npos) {
    for (const std::string& path : that_fit(given)) {
      const std::vector<std::string> more = fs::is_directory(path, error) ? in_folder(path, notes) : std::vector{path};
      out.insert(out.end(), more.begin(), more.end());
    }
  }
  return out.empty() ? std::vector{given} : out;
}

OpenedTrace with_notes(Index index) {
  OpenedTrace opened{std::move(index), {}};
  run_limits::watch(opened.index.database());
  if (!opened.index.complete())
    opened.notes.emplace_back("the trace is truncated: this is what came before the damage");
  if (std::string without = without_device(opened.index); !without.empty())
    opened.notes.insert(opened.notes.begin(), std::move(without));
  return opened;
}

OpenedTrace open_index(const std::filesystem::path& path) {
  OpenedTrace opened = with_notes(Index::open(path));
  const std::filesystem::path source = source_of(opened.index);
  const ValidityResult result = check_validity(opened.index, source, Effort::kQuick, run_limits::time_is_up());
  if (result.validity == Validity::kStale) {
    throw Error(ErrorCode::kInput,
                fmt::format("{}: out of date: {}; run trace-ingest {}", path.string(), result.reason, source.string()));
  }
  if (result.validity != Validity::kValid) opened.notes.push_back("not checked against its trace: " + result.reason);
  return opened;
}

IngestOptions any_events(const std::atomic<bool>* cancel) {
  IngestOptions options;
  options.cancel = cancel;
  options.accept_any_events = true;
  options.summary = stored_summary;
  return options;
}

std::optional<OpenedTrace> find_valid(const std::filesystem::path& trace) {
  const IngestOptions options = any_events(run_limits::time_is_up());
  for (const std::filesystem::path& candidate : index_candidates(trace, cache_directory())) {
    if (auto index = open_valid_index(trace, candidate, options)) return with_notes(std::move(*index));
  }
  return std::nullopt;
}

// How far the building of an index is, where that takes a while.
class BuildProgress : public IngestObserver {
 public:
  BuildProgress(const std::filesystem::path& trace, bool quiet) : trace_(trace), line_(options(trace, quiet)) {}

  void progress(const IngestProgress& progress) const override { line_.update(trace_, progress); }
  void waiting() const override { line_.clear(); }

 private:
  static ProgressOptions options(const std::filesystem::path& trace, bool quiet) {
    ProgressOptions out;
    out.mode = quiet ? ProgressMode::kNever : ProgressMode::kAuto;
    out.traces = 1;
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(trace, error);
    if (!error) out.total_bytes = bytes;
    return out;
  }

  std::filesystem::path trace_;
  mutable ProgressLine line_;
};

std::optional<Index> build_into(const std::filesystem::path& path, const std::filesystem::path& trace,
                                const CommandLine& line, const std::atomic<bool>* cancel = &end_requested()) {
  if (!line.quiet()) std::cerr << "building index " << escape_text(path.string()) << '\n';
  catch_ending_signals();
  auto found = ensure_index(trace, path, any_events(cancel), BuildProgress(trace, line.quiet()));
  release_ending_signals();
  if (const auto* built = std::get_if<IngestResult>(&found); built && !built->unconfined.empty())
    std::cerr << "warning: read with more rights than it takes: " << built->unconfined << '\n';
  auto* valid = std::get_if<Index>(&found);
  return valid == nullptr ? std::nullopt : std::optional(std::move(*valid));
}

// Folders for the indexes of streams, each held by its process as long as it needs it, however that ends.
constexpr std::string_view kStreamFolder = "tracedb-XXXXXX", kStreamIndex = "standard-input.tracedb";

bool is_stream_folder(std::string_view name) {
  constexpr std::size_t kPrefix = 8;
  return name.size() == kStreamFolder.size() && name.substr(0, kPrefix) == kStreamFolder.substr(0, kPrefix);
}

// Not open: another process does, or it is none of ours.
FileDescriptor hold(const fs::path& folder) {
  FileDescriptor out(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool ours = out.is_open() && ::fstat(out.get(), &status) == 0 && status.st_uid == ::geteuid();
  return ours && ::flock(out.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(out) : FileDescriptor();
}

// What we make there; the folder stays if there is anything else.
void remove_stream_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const bool of_index = entry.path().filename().native().starts_with(kStreamIndex);
    if (of_index || is_empty_spool(entry.path())) files.push_back(entry.path());
  }
  for (const fs::path& file : files) ::unlink(file.c_str());
  ::rmdir(folder.c_str());
}

struct HeldFolder {
  fs::path path;
  FileDescriptor held;
};

// A new one; those that were left are removed.
HeldFolder make_stream_folder() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (error) throw Error(ErrorCode::kResource, "TMPDIR is no folder, for the index of standard input: set it");
  for (const auto& entry : fs::directory_iterator(place, error)) {
    if (!is_stream_folder(entry.path().filename().native())) continue;
    if (const FileDescriptor held = hold(entry.path()); held.is_open()) remove_stream_folder(entry.path());
  }
  for (;;) {
    std::string name = (place / kStreamFolder).string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorCode::kResource, name + ": cannot be made, for the index of standard input; set TMPDIR");
    }
    FileDescriptor held = hold(name);
    // Another run may have found it before it was held.
    if (fs::exists(name)) return {name, std::move(held)};
  }
}

void refuse_building(const std::filesystem::path& trace, const CommandLine& line) {
  for (const char* option : {"no-ingest", "read-only"}) {
    if (!line.has(option)) continue;
    throw Error(ErrorCode::kInput, fmt::format("{}: no valid index, and --{} was given; run trace-ingest {}",
                                               trace.string(), option, trace.string()));
  }
}

// What can be read once only has an index without a name, for as long as it is asked. Its writer may never end: the
// time limit of the run holds.
OpenedTrace build_of_stream(const std::filesystem::path& stream, const CommandLine& line) {
  if (line.has("read-only")) refuse_building(stream, line);
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  std::atomic<bool> stop = false;
  const std::atomic<bool>* time_is_up = run_limits::time_is_up();
  const Ticker ticker(kBetweenLooks, [&] { stop = end_requested() || (time_is_up != nullptr && *time_is_up); });
  const HeldFolder folder = make_stream_folder();
  const ScopeExit removed([&] { remove_stream_folder(folder.path); });
  const fs::path index = folder.path / kStreamIndex;
  build_into(index, stream, line, &stop);
  return with_notes(Index::open(index));
}

OpenedTrace build(const std::filesystem::path& trace, const CommandLine& line) {
  refuse_building(trace, line);
  run_limits::pause();
  const ScopeExit paused([] { run_limits::resume(); });
  refuse_unreadable(trace);  // before a note that an index is built
  const std::filesystem::path path = new_index_path(trace, {});
  auto valid = build_into(path, trace, line);
  return with_notes(valid ? std::move(*valid) : Index::open(path));
}

}  // namespace

void keep_one_form(std::vector<std::string>& inputs, std::vector<std::string>* notes) {
  const auto trace_of = [](fs::path path) {
    return path.extension() == kIndexSuffix ? path.replace_extension() : path;
  };
  std::set<fs::path> traces;
  for (const std::string& input : inputs) traces.insert(trace_of(input));
  TraceList list;
  list.traces.assign(traces.begin(), traces.end());
  keep_one_source_a_run(list, {});
  std::set<fs::path> others, forms;  // with tables that are no traces, and without
  for (const TraceList::Note& note : list.same_run) {
    others.insert(note.path);
    if (note.reason.starts_with("same run")) forms.insert(note.path);
  }
  std::erase_if(inputs, [&](const fs::path& input) { return others.contains(trace_of(input)); });
  if (forms.empty() || notes == nullptr) return;
  notes->push_back(fmt::format("{} left out: another form of a run that is there ({}{})",
                               counted(forms.size(), "trace"), printable_path(*forms.begin()),
                               forms.size() > 1 ? ", ..." : ""));
}

std::vector<std::string> find_inputs(std::span<const std::string> given, const std::optional<std::string>& files_from,
                                     std::vector<std::string>* notes) {
  std::vector<std::string> all(given.begin(), given.end());
  if (files_from) {
    for (const fs::path& path : read_path_list(*files_from)) all.push_back(path.string());
  }
  std::vector<std::string> out;
  for (const std::string& path : all) {
    const std::vector<std::string> more = expanded(path, notes);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

bool is_stream(const fs::path& given) {
  std::error_code error;
  // A name that a descriptor has, such as /dev/stdin, is another file in the next run.
  const bool of_system = given.native().starts_with("/dev/") || given.native().starts_with("/proc/");
  const bool is_descriptor = given == "/dev/stdin" || (of_system && given.parent_path().filename() == "fd");
  return given == "-" || is_descriptor || fs::is_fifo(given, error);
}

std::string complaint(const std::string& input, const Error& why) {
  const std::string text = why.what();
  return text.find(printable_path(input)) != std::string::npos ? text : fmt::format("{}: {}", input, text);
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
  const bool over = end_requested() || !run_limits::time_limit_reached().empty();
  if (over || failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
  std::cerr << "trace-query: " << escape_text(complaint(input, *failure)) << '\n';
  const int code = static_cast<int>(failure->code());
  same_failure_ = same_failure_ && code == first_failure_.value_or(code);
  if (!first_failure_) first_failure_ = code;
  return false;
}

int InputLoop::exit_code() const {
  if (!first_failure_) return 0;
  return !any_answered() && same_failure_ ? *first_failure_ : static_cast<int>(ErrorCode::kInput);
}

OpenedTrace open_trace(const std::filesystem::path& given, const CommandLine& line) {
  if (is_stream(given)) return build_of_stream(given, line);
  std::error_code error;
  if (std::filesystem::is_directory(given, error)) {
    const std::filesystem::directory_iterator entries(given, error);
    if (error) throw Error(ErrorCode::kInput, fmt::format("{}: {}", printable_path(given), error.message()));
    throw Error(ErrorCode::kInput, fmt::format("{}: no traces there (looked for {})", printable_path(given),
                                               fmt::join(default_globs(), " ")));
  }
  const FileKind kind = file_kind(given);
  const bool is_database = kind == FileKind::kOtherSqlite && is_readable_trace(given);
  if ((kind == FileKind::kNotSqlite || is_database) && given.extension() != kIndexSuffix) {
    if (auto found = find_valid(given)) return std::move(*found);
    return build(given, line);
  }
  if (kind == FileKind::kOtherSqlite) refuse_unreadable(given);
  return open_index(given);  // says what is wrong with anything that is no index
}

}  // namespace tracedb
