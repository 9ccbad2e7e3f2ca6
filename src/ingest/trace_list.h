// Lists the traces of a run: the files given, and those found in the folders given.
//
// A named file is taken whatever it is called. A folder is searched with all below it, for regular files whose name
// fits one of the globs (a glob with a slash is matched against the path below that folder). Links are followed, but no
// folder is entered twice and no file is taken a second time through a link. Other files of our own are never taken,
// indexes only where they are asked for.
//
// The order is that of the names given, within a folder that of the bytes of the paths, real folders before linked
// ones. Names are bytes: nothing is assumed about their encoding.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct TraceList {
  struct Note {
    std::filesystem::path path;
    std::string reason;  // one line, without the path
  };
  std::vector<std::filesystem::path> traces;
  std::vector<Note> unreadable;                // folders, and files that keep_one_source_a_run() finds empty
  std::vector<Note> skipped;                   // links to nothing
  std::vector<Note> same_run;                  // not read: see keep_one_source_a_run()
  std::vector<std::string> choices;            // what is read instead, one line a run
  std::vector<std::filesystem::path> empty;    // folders given in which nothing was found
  std::vector<std::filesystem::path> folders;  // that were looked into
};

// Whether indexes in folders are taken too.
enum class Indexes { kSkip, kTake };

// What is read of a folder if the user names no globs.
const std::vector<std::string>& default_globs();

// `excluded` (may be empty) is a file the run itself writes.
TraceList list_traces(const std::vector<std::filesystem::path>& given, const std::vector<std::string>& globs,
                      const std::filesystem::path& excluded, Indexes indexes = Indexes::kSkip);

// One path a line, or each ended by a NUL if there is any NUL (names may contain line feeds). Empty ones are left out.
std::vector<std::filesystem::path> parse_path_list(std::string_view text);

// An index, an unfinished one, a lock, or the mark of a cache directory.
bool is_own_file(const std::filesystem::path& path);

// Ascend's profilers write one run several times over: as a database, a Chrome trace and a table of kernels. Of what a
// search of folders finds, one source of each run is read.
//
// One run is what lies below one `*_ascend_pt`, `*_ascend_ms`, `ASCEND_PROFILER_OUTPUT` or `PROF_*` folder; elsewhere
// the files of one folder with the same text in front of the profiler's name for them (`rank0_trace_view.json`), if
// there is no more than one of each kind. What lies compressed beside itself (x.json.gz, x.json, of one size unpacked)
// is one, too.
//
// What is there and holds no trace (empty, cut off in its first event) is no source: it moves to list.unreadable where
// it would be the fullest.
//
// Moves what holds the same run as a fuller source from list.traces to list.same_run, with what lies beside it and is
// no trace, and adds a line to list.choices for each run. Files that are among `named` stay, and choose nothing.
void keep_one_source_a_run(TraceList& list, const std::vector<std::filesystem::path>& named);

}  // namespace tracedb
