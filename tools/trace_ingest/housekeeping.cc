#include "trace_ingest/housekeeping.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "ingest/upgrade.h"
#include "report/escape.h"
#include "shared/terminal.h"
#include "shared/usage_error.h"

namespace tracedb {
namespace {

// ---- the summary

std::string text_field(std::string_view name, const std::string& text) {
  if (text.empty()) return fmt::format(",\"{}\":null", name);
  return fmt::format(",\"{}\":\"{}\"", name, escape_json(text));
}

// A name that is no valid UTF-8 cannot be had back from its text.
std::string path_field(std::string_view name, const std::filesystem::path& path) {
  std::string field = fmt::format("\"{}\":", name);
  field += path.empty() ? "null" : fmt::format("\"{}\"", escape_json(path.native()));
  if (valid_utf8(path.native()).replaced == 0) return field;
  field += fmt::format(",\"{}_hex\":\"", name);
  for (const char c : path.native()) field += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return field + '"';
}

int exit_code(const TraceRecord& record, Strictness strictness) {
  if (record.code) return static_cast<int>(*record.code);
  return strictness == Strictness::kStrict && record.lossy() ? static_cast<int>(ErrorCode::kSalvaged) : 0;
}

bool was_read(const TraceRecord& record) {
  return record.status != TraceStatus::kFailed && record.status != TraceStatus::kSkipped;
}

// ---- housekeeping

namespace fs = std::filesystem;

struct Sum {
  std::size_t files = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t size) {
    ++files;
    bytes += size;
  }
};

void print_sum(std::string_view name, const Sum& sum, std::string_view meaning) {
  std::cout << fmt::format("{:<10} {:>7}  {:>12}  {}\n", name, sum.files, human_bytes(sum.bytes), meaning);
}

void print_statistics(const IndexInventory& inventory) {
  std::array<Sum, kIndexStates> states{};
  Sum ours, dead, in_use;
  for (const ListedIndex& index : inventory.indexes) {
    states[static_cast<std::size_t>(index.state)].add(index.file.bytes);
    if (index.state != IndexState::kForeign) ours.add(index.file.bytes);
  }
  for (const ListedLeftover& leftover : inventory.leftovers) (leftover.in_use ? in_use : dead).add(leftover.bytes);
  std::cout << fmt::format("{:<10} {:>7}  {:>12}\n", "State", "Files", "Size");
  for (std::size_t i = 0; i < kIndexStates; ++i) {
    const auto state = static_cast<IndexState>(i);
    if (state != IndexState::kForeign) print_sum(to_string(state), states[i], describe(state));
  }
  print_sum("indexes", ours, "all of them");
  print_sum("foreign", states[static_cast<std::size_t>(IndexState::kForeign)], describe(IndexState::kForeign));
  print_sum("leftovers", dead, "of builds that were killed");
  print_sum("in use", in_use, "locks and unfinished indexes of builds at work");
}

void tell(const HousekeepingCommand& command, const IndexInventory& inventory) {
  SummaryFile summary(command.summary);
  for (const ListedIndex& index : inventory.indexes) {
    summary.add(summary_line(index, index.reason, "", ""));
    if (command.verbose) {
      std::cout << fmt::format("{}: {}, {}: {}\n", escape_path(index.path), human_bytes(index.file.bytes),
                               to_string(index.state), escape_text(index.reason));
    }
  }
  for (const ListedLeftover& leftover : inventory.leftovers) {
    summary.add(summary_line(leftover, "", ""));
    if (command.verbose) {
      std::cout << fmt::format("{}: {}, {}\n", escape_path(leftover.path), human_bytes(leftover.bytes),
                               leftover.in_use ? "in use" : "left by a killed build");
    }
  }
  summary.close();
  if (!command.quiet) print_statistics(inventory);
}

class Collection {
 public:
  explicit Collection(const HousekeepingCommand& command) : command_(command), summary_(command.summary) {}

  void run(const IndexInventory& inventory) {
    for (const ListedLeftover& leftover : inventory.leftovers) collect(leftover);
    std::map<std::size_t, std::string> reasons;
    for (const PlannedRemoval& removal : plan_removals(inventory, command_.options)) {
      if (end_requested()) break;
      collect(inventory.indexes[removal.index], removal.reason);
      reasons.emplace(removal.index, removal.reason);
    }
    for (std::size_t i = 0; i < inventory.indexes.size(); ++i) {
      if (!reasons.contains(i)) keep(inventory.indexes[i]);
    }
  }

  void close() {
    summary_.close();
    if (command_.quiet) return;
    std::cout << fmt::format("{} {}, {}; kept {}, {}", command_.dry_run ? "would remove" : "removed",
                             counted(removed_.files, "file"), human_bytes(removed_.bytes),
                             counted(kept_.files, "index", "indexes"), human_bytes(kept_.bytes));
    if (in_use_ > 0) std::cout << fmt::format("; {} in use", in_use_);
    if (failed_ > 0) std::cout << fmt::format("; {} could not be removed", failed_);
    std::cout << '\n';
    if (alone_ > 0)
      std::cout << fmt::format("kept {} that cannot be rebuilt from a trace; --orphans removes them\n", alone_);
  }

  [[nodiscard]] bool failed() const { return failed_ > 0; }

 private:
  void collect(const ListedLeftover& leftover) {
    if (end_requested()) return;
    const std::string reason = "left by a killed build of " + leftover.index.filename().native();
    RemovalResult result{leftover.in_use ? RemovalOutcome::kInUse : RemovalOutcome::kRemoved};
    if (!leftover.in_use && !command_.dry_run) result = remove_leftover(leftover);
    const std::string_view action = note(leftover.path, leftover.bytes, reason, result);
    summary_.add(summary_line(leftover, action, result.error));
  }

  void collect(const ListedIndex& index, const std::string& reason) {
    const RemovalResult result = command_.dry_run ? RemovalResult{} : remove_index(index);
    if (result.outcome != RemovalOutcome::kRemoved && result.outcome != RemovalOutcome::kGone) {
      kept_.add(index.file.bytes);
    }
    const std::string_view action = note(index.path, index.file.bytes, reason, result);
    summary_.add(summary_line(index, reason, action, result.error));
  }

  void keep(const ListedIndex& index) {
    summary_.add(summary_line(index, index.reason, "kept", ""));
    if (index.state == IndexState::kForeign) return;
    kept_.add(index.file.bytes);
    const bool alone = index.state == IndexState::kOrphaned || index.state == IndexState::kStale;
    if (alone && !end_requested()) ++alone_;
    if (command_.verbose) {
      std::cout << fmt::format("{}: kept, {}: {}\n", escape_path(index.path), to_string(index.state),
                               escape_text(index.reason));
    }
  }

  // Prints a line, counts, and returns the word for the summary.
  std::string_view note(const fs::path& path, std::uint64_t bytes, const std::string& reason,
                        const RemovalResult& result) {
    const bool gone = result.outcome == RemovalOutcome::kRemoved;
    const std::string_view action = gone && command_.dry_run ? "would remove" : to_string(result.outcome);
    if (gone) removed_.add(bytes);
    if (result.outcome == RemovalOutcome::kInUse) ++in_use_;
    if (result.outcome == RemovalOutcome::kFailed) {
      ++failed_;
      std::cerr << fmt::format("trace-ingest: {}: cannot be removed: {}\n", escape_path(path),
                               escape_text(result.error));
    } else if (!command_.quiet) {
      std::cout << fmt::format("{}: {} ({}, {})\n", escape_path(path), action, human_bytes(bytes), escape_text(reason));
    }
    return action;
  }

  const HousekeepingCommand& command_;
  SummaryFile summary_;
  Sum removed_, kept_;
  std::size_t in_use_ = 0, failed_ = 0, alone_ = 0;
};

std::vector<fs::path> folders_of(const HousekeepingCommand& command) {
  if (!command.folders.empty()) return command.folders;
  const fs::path cache = cache_directory();
  std::error_code error;
  if (!cache.empty() && fs::is_directory(cache, error)) return {cache};
  if (!command.quiet) {
    std::cerr << fmt::format("no cache directory{}{}\n", cache.empty() ? "" : " yet: ", escape_path(cache));
  }
  return {};
}

}  // namespace

std::string summary_line(const TraceRecord& record, Strictness strictness) {
  std::string line = '{' + path_field("path", record.trace) + ',' + path_field("index", record.index);
  line += fmt::format(",\"status\":\"{}\",\"seconds\":{:.3f},\"bytes\":{},\"events\":{},\"issues\":{},\"code\":{}",
                      to_string(record.status), record.seconds, record.bytes, record.events, record.issues,
                      exit_code(record, strictness));
  if (was_read(record)) line += fmt::format(",\"losses\":{},\"complete\":{}", record.losses, record.complete);
  return line + text_field("error", record.error) + '}';
}

std::string summary_line(const ListedIndex& index, std::string_view reason, std::string_view action,
                         const std::string& error) {
  std::string line = '{' + path_field("path", index.path);
  line += fmt::format(",\"kind\":\"index\",\"state\":\"{}\",\"bytes\":{},\"modified_ns\":{}", to_string(index.state),
                      index.file.bytes, index.file.modified_ns);
  line += ',' + path_field("source", index.source) + text_field("reason", std::string(reason));
  return line + text_field("action", std::string(action)) + text_field("error", error) + '}';
}

std::string summary_line(const ListedLeftover& leftover, std::string_view action, const std::string& error) {
  std::string line = '{' + path_field("path", leftover.path);
  line += fmt::format(",\"kind\":\"leftover\",\"state\":\"{}\",\"bytes\":{},\"modified_ns\":null,\"source\":null",
                      leftover.in_use ? "in use" : "dead", leftover.bytes);
  line += text_field("reason", "of " + leftover.index.filename().native());
  return line + text_field("action", std::string(action)) + text_field("error", error) + '}';
}

SummaryFile::SummaryFile(const std::filesystem::path& path) : path_(path) {
  if (path.empty()) return;
  file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_.is_open()) fail();
}

void SummaryFile::close() {
  if (!file_.close()) fail();
}

void SummaryFile::fail() const {
  throw Error(ErrorCode::kResource, fmt::format("{}: cannot write the summary: {}; choose another place for it",
                                                printable_path(path_), std::strerror(errno)));
}

void SummaryFile::add(const std::string& line) {
  const std::string ended = line + '\n';
  if (file_.is_open() && !file_.write(std::as_bytes(std::span(ended)))) fail();
}

int run_housekeeping(const HousekeepingCommand& command) {
  const IndexInventory inventory = take_inventory(folders_of(command), &end_requested());
  for (const IndexInventory::Note& note : inventory.unreadable) {
    std::cerr << fmt::format("trace-ingest: {}: cannot be read: {}\n", escape_path(note.path), note.reason);
  }
  const int read_code = inventory.unreadable.empty() ? 0 : static_cast<int>(ErrorCode::kInput);
  if (!command.collect) {
    tell(command, inventory);
    return read_code;
  }
  Collection collection(command);
  collection.run(inventory);
  collection.close();
  if (end_requested()) return signal_exit_code();
  return collection.failed() ? static_cast<int>(ErrorCode::kResource) : read_code;
}

int run_upgrade(const std::vector<std::string>& given, bool quiet) {
  if (given.empty()) throw usage_error("--upgrade: name indexes, or folders of them");
  const std::string glob = "*" + std::string(kIndexSuffix);
  const TraceList list = list_traces({given.begin(), given.end()}, {glob}, {}, Indexes::kTake);
  std::size_t upgraded = 0, current = 0, failed = list.unreadable.size();
  for (const TraceList::Note& note : list.unreadable) {
    std::cerr << fmt::format("trace-ingest: {}: cannot be read: {}\n", escape_path(note.path), note.reason);
  }
  for (const fs::path& index : list.traces) {
    if (end_requested()) return signal_exit_code();
    UpgradeOutcome outcome = UpgradeOutcome::kCurrent;
    const std::optional<Error> failure = catch_error([&] { outcome = upgrade_index(index, &end_requested()); });
    if (failure && failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
    if (failure) std::cerr << fmt::format("trace-ingest: {}\n", escape_text(failure->what()));
    ++(failure ? failed : outcome == UpgradeOutcome::kUpgraded ? upgraded : current);
  }
  if (!quiet)
    std::cout << fmt::format("{} upgraded, {} of this version already, {} failed\n", upgraded, current, failed);
  return failed > 0 ? static_cast<int>(ErrorCode::kInput) : 0;
}

std::int64_t parse_age(const std::string& text) {
  constexpr std::string_view kUnits = "smhdw";
  constexpr std::array<double, kUnits.size()> kSeconds = {1, 60, 3600, 86400, 604800};
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const auto value = parse_double(std::string_view(text).substr(0, text.empty() ? 0 : text.size() - 1));
  if (unit == std::string_view::npos || !value || *value < 0 || *value * kSeconds[unit] > 9e9) {
    throw usage_error("'{}' is not an age; write e.g. 30d, 12h, 45m or 90s", text);
  }
  return static_cast<std::int64_t>(*value * kSeconds[unit] * 1e9);
}

}  // namespace tracedb
