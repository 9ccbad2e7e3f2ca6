#include "index/locate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <system_error>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/text/characters.h"
#include "sql/database.h"

namespace tracedb {
namespace {

constexpr std::size_t kHashDigits = 32;

bool is_cache_name(std::string_view name, std::string_view ending) {
  return name.size() == kHashDigits + ending.size() && name.ends_with(ending) &&
         name.substr(0, kHashDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Indexes in this directory can be built again from their traces. See https://bford.info/cachedir/\n";

// Also the names of an index that is being built must fit.
constexpr std::size_t kBuildSuffix = std::string_view(".abc123.partial").size();
constexpr std::size_t kLongestName = 255;

bool fits(const std::filesystem::path& index) {
  const long limit = ::pathconf(directory_of(index).c_str(), _PC_NAME_MAX);
  const std::size_t longest = limit > 0 ? static_cast<std::size_t>(limit) : kLongestName;
  if (index.filename().native().size() + kBuildSuffix > longest) return false;
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::canonical(directory_of(index), error);
  return directory.native().size() + 1 + index.filename().native().size() + kBuildSuffix <= kLongestDatabasePath;
}

// Whether the file at `index`, if there is one, may be replaced: in a folder like /tmp (sticky) only by its owner or
// the folder's.
bool is_replaceable(const std::filesystem::path& index) {
  struct stat file {};
  struct stat folder {};
  if (::lstat(index.c_str(), &file) != 0 || ::stat(directory_of(index).c_str(), &folder) != 0) return true;
  const uid_t user = ::geteuid();
  return (folder.st_mode & S_ISVTX) == 0 || user == 0 || user == file.st_uid || user == folder.st_uid;
}

// The base name that an index in the cache bears: the whole one, or as much of it as fits, cut between characters.
std::string cached_name(const std::filesystem::path& trace) {
  constexpr std::size_t kRoom =
      kLongestName - kBuildSuffix - std::string_view(kIndexSuffix).size() - kHashDigits - std::string_view("-").size();
  const std::string name = trace.filename().string();
  if (name.size() <= kRoom) return name;
  std::size_t end = kRoom;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80) --end;
  return name.substr(0, end);
}

constexpr std::size_t kEscape = 4;  // characters of \xNN

// The byte that an escape at the start of `text` stands for.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < kEscape || !text.starts_with("\\x")) return std::nullopt;
  unsigned value = 0;
  const char* end = text.data() + kEscape;
  if (std::from_chars(text.data() + 2, end, value, 16).ptr != end) return std::nullopt;
  return static_cast<char>(value);
}

bool needs_escape(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x20 || first == 0x7f || utf8_sequence_length(text) == 0 || escaped_byte(text);
}

}  // namespace

void mark_as_cache(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_empty(directory, error) || error) return;
  const std::filesystem::path tag = directory / "CACHEDIR.TAG";
  const FileDescriptor file(::open(tag.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.is_open() && !file.write(std::as_bytes(std::span(kCacheTag)))) ::unlink(tag.c_str());
}

std::filesystem::path sidecar_path(const std::filesystem::path& trace) { return trace.native() + kIndexSuffix; }

std::optional<std::filesystem::path> trace_beside(const std::filesystem::path& index) {
  if (index.extension() != kIndexSuffix) return std::nullopt;
  std::filesystem::path trace = index;
  std::error_code error;
  return std::filesystem::exists(trace.replace_extension(), error) ? std::optional(trace) : std::nullopt;
}

std::filesystem::path cache_directory() {
  if (const char* own = std::getenv("TRACEDB_CACHE_DIR"); own != nullptr && own[0] != '\0') return own;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
    return std::filesystem::path(cache) / "tracedb";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] == '\0') return {};
  return std::filesystem::path(home) / ".cache" / "tracedb";
}

std::filesystem::path cache_path(const std::filesystem::path& directory, const ContentHash& hash,
                                 const std::filesystem::path& trace) {
  return directory / (to_hex(hash) + "-" + cached_name(trace) + kIndexSuffix);
}

std::vector<std::filesystem::path> index_candidates(const std::filesystem::path& trace,
                                                    const std::filesystem::path& cache) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  const std::filesystem::path sidecar = sidecar_path(trace);
  if (std::filesystem::is_regular_file(sidecar, error)) found.push_back(sidecar);
  if (cache.empty()) return found;
  const std::string ending = "-" + cached_name(trace) + kIndexSuffix;
  std::vector<std::filesystem::path> cached;
  for (const auto& entry : std::filesystem::directory_iterator(cache, error)) {
    if (is_cache_name(entry.path().filename().string(), ending)) cached.push_back(entry.path());
  }
  std::ranges::sort(cached);  // the directory's order is chance
  found.insert(found.end(), cached.begin(), cached.end());
  return found;
}

std::filesystem::path new_index_path(const std::filesystem::path& trace, const std::filesystem::path& directory,
                                     const std::atomic<bool>* cancel) {
  const std::filesystem::path sidecar = sidecar_path(trace);
  if (directory.empty() && ::access(directory_of(trace).c_str(), W_OK) == 0 && fits(sidecar) &&
      is_replaceable(sidecar)) {
    return sidecar;
  }
  const std::filesystem::path place = directory.empty() ? cache_directory() : directory;
  if (place.empty()) {
    throw Error(ErrorCode::kResource,
                fmt::format("{}: no place for its index: its directory cannot be written or its name is too long, "
                            "and there is no cache directory; use trace-ingest with --output or --index-dir",
                            printable_path(trace)));
  }
  std::error_code error;
  if (std::filesystem::is_fifo(trace, error)) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{}: is a pipe, which can be read only once: give the index a name with --output",
                            printable_path(trace)));
  }
  const ContentHash hash = hash_file(trace, cancel);  // first: no directory is made for a trace that cannot be read
  std::filesystem::create_directories(place, error);
  if (error) {
    throw Error(ErrorCode::kResource, fmt::format("{}: cannot make this directory for indexes: {}; use trace-ingest "
                                                  "with --output or --index-dir",
                                                  printable_path(place), error.message()));
  }
  mark_as_cache(place);
  return cache_path(place, hash, trace);
}

std::string source_path_text(const std::filesystem::path& path) {
  std::string out;
  for (std::string_view rest = path.native(); !rest.empty();) {
    const bool escape = needs_escape(rest);
    const std::size_t length = escape ? 1 : utf8_sequence_length(rest);
    if (escape) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest.front()));
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

std::filesystem::path source_path(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::optional<char> byte = escaped_byte(text);
    bytes += byte.value_or(text.front());
    text.remove_prefix(byte ? kEscape : 1);
  }
  return bytes;
}

}  // namespace tracedb
