// Recognises file formats by their first bytes (after decompression of gzip and zstd). Pure functions.
//
// ingest/formats.h says how each format is read. Sources: the magic numbers of the formats' specifications, and for
// text formats the first keys and columns that their writers put out.
#pragma once

#include <string_view>

namespace tracedb {

bool begins_as_sqlite(std::string_view head);
bool begins_as_rpd(std::string_view head);              // SQLite that names tables of rocmProfileData
bool begins_as_nsys_sqlite(std::string_view head);      // SQLite that names tables of an Nsight Systems export
bool begins_as_ascend_database(std::string_view head);  // SQLite that names tables of Ascend's profiler

bool begins_as_rocprof_json(std::string_view head);
// An array of events in which a process is the trace of a tile of an AI Engine: "core_trace for tile2,1".
bool begins_as_aie_trace(std::string_view head);
// What lists the graphs that were captured: an array of {"file": "...", "batch_size": 32, "mode": "FULL"}.
bool begins_as_capture_list(std::string_view head);
// A line of column names, the first ones in the order profilers write them.
bool begins_as_kernel_table(std::string_view head);

bool begins_as_zip(std::string_view head);
bool begins_as_7zip(std::string_view head);
bool begins_as_tar(std::string_view head);
bool begins_as_xz(std::string_view head);
bool begins_as_bzip2(std::string_view head);
bool begins_as_lz4(std::string_view head);
bool begins_as_compressed(std::string_view head);  // by gzip or zstd: what decompressed to this was compressed twice

bool begins_as_pickle(std::string_view head);
bool begins_as_xspace(
    std::string_view head);  // a protobuf message that begins with a plane, as JAX and TensorFlow write it
bool begins_as_pprof(std::string_view head);     // one that begins with a type and its unit
bool begins_as_perfetto(std::string_view head);  // a protobuf message that holds messages, as the traces of Perfetto
bool begins_as_git_lfs(std::string_view head);
bool begins_as_markup(std::string_view head);

// Whether the JSON reader finds events in it, or the keys of a trace: under "traceEvents", in a bare array, or behind
// damage.
bool begins_as_trace(std::string_view head);

}  // namespace tracedb
