// Files that profilers write and users give us although we cannot read them, recognised by how they begin: the name of
// the format and what to do. One table for both programs, so that a file gets the same answer everywhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "index/index.h"

namespace tracedb {

struct KnownFormat {
  std::string_view name;                         // "an RPD database of rocmProfileData"
  bool (*sniff)(std::string_view head);          // of the content, decompressed if it is gzip or zstd
  std::span<const std::string_view> extensions;  // of files whose content says too little; else empty
  std::string_view advice;                       // what reads it, or what to do
  bool irreplaceable;                            // a recording, or an archive that may hold one
  bool certain = true;  // false: a trace whose beginning is damaged may look like it, so that events in it decide
};

// The formats in the order they are tried: particular ones before the general ones they are built on.
std::span<const KnownFormat> known_formats();

// `head`: how the content begins, kFormatHead bytes where there are as many; `name`: of the file. nullptr: not known,
// which a trace is not either.
inline constexpr std::size_t kFormatHead = std::size_t{1} << 20U;
const KnownFormat* known_format(std::string_view head, const std::filesystem::path& name);

// Throws Error{kInput}, with the format's name and advice, for a regular file of such a format.
void refuse_known_format(const std::filesystem::path& file);

// "an RPD database of rocmProfileData, which is not read here: ..." for a message behind the file's name.
std::string refusal(const KnownFormat& format);

// What is at the name of an output: kMissing where there is no regular file. Throws Error{kResource} for a file that
// cannot be read, since it may hold a recording.
FileKind replaced_kind(const std::filesystem::path& output);

// Why no report may replace the regular file `file`: "a trace", "an index of traces", "an RPD database ...". Empty
// where it is nothing of this kind, or not there. Looks at the content only.
std::string recording_in(const std::filesystem::path& file);

}  // namespace tracedb
