// The formats of trace files, one line a format: how it is recognised, and which function reads it. One table for both
// programs, so that a file gets the same answer everywhere. To read a new format: one line here, one folder beside
// kineto/, whose reader fills a TraceStore.
//
// Formats that users are likely to try but that cannot be read are in the table too, with advice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/stream/byte_source.h"
#include "ingest/ingest.h"
#include "ingest/read/trace_header.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// Where the bytes of a trace come from, and who follows the reading.
struct TraceInput {
  const std::filesystem::path& file;  // "-": standard input
  ByteSource& source;                 // at its first byte; borrowed
  std::uint64_t file_size;            // 0 where unknown (pipes)
  const IngestObserver& observer;
  std::string otherwise = {};  // what the file is where no event is found in it, for the message; may be empty
};

// Reads the trace to its end into `store`. `facts` is filled as far as reading got, also where it throws. Throws
// Error{kInput} for a file in which there is nothing of the format, Error{kInterrupted}.
using ReadTrace = void (*)(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts);

// Chunks are cut under a lock, parsed by several workers at once and taken into the store in file order, so that the
// store is the same for any number of workers.
void read_kineto(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts);
// The same for traces of AI Engine tiles: events whose times are cycles.
void read_aie(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts);

struct TraceFormat {
  std::string_view name;  // meta.format of what is read; else what it is: "a zip archive"
  // Null: that says nothing of it. `head`: as trace_format() has it; `tables`: of a file that is a database.
  bool (*by_bytes)(std::string_view head) = nullptr;
  bool (*by_tables)(const std::vector<std::string>& tables) = nullptr;
  ReadTrace read = nullptr;      // null: recognised, but not read
  std::string_view advice = {};  // without `read`: what reads it, or what to do
  bool irreplaceable = true;     // a recording, or an archive that may hold one: no output replaces it
  bool certain = true;           // false: a damaged JSON trace may begin like it, so that events in it decide
  std::span<const std::string_view> extensions = {};  // of files whose content says too little
};

// In the order they are tried: particular ones before the general ones that they are built on. The last line is the
// JSON of the PyTorch profiler, which every file may be that no other line knows.
std::span<const TraceFormat> trace_formats();

// `head`: how the content begins, decompressed if it is gzip or zstd; kFormatHead bytes where there are as many.
inline constexpr std::size_t kFormatHead = std::size_t{1} << 20U;
// `file`: its name also tells, and where it is a database its tables do.
const TraceFormat& trace_format(std::string_view head, const std::filesystem::path& file);

// Whether the file has a format that can be read, by its first bytes.
bool is_readable_trace(const std::filesystem::path& file);

// How to read a file: by which format, and from where.
struct OpenedFormat {
  const TraceFormat& format;
  std::unique_ptr<ByteSource> source;  // at the first byte
  std::string otherwise;               // see TraceInput
};
// Looks at how the content of `file` begins. Throws Error{kInput} in one line, with the format's name and advice, where
// it is not read here, and for what open_byte_source() cannot open.
OpenedFormat open_format(const std::filesystem::path& file, const std::atomic<bool>* cancel);

// Throws the same Error for a regular file whose format is recognised, but not read. Other failures are for the reader
// to tell.
void refuse_unreadable(const std::filesystem::path& file);

// Whether the JSON reader finds events in it, or the keys of a trace: under "traceEvents", in a bare array, or behind
// damage.
bool begins_as_trace(std::string_view head);

// Up to kFormatHead bytes of what the file holds. Throws Error{kInput}.
std::string read_head(const std::filesystem::path& file);

}  // namespace tracedb
