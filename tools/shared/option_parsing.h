// Parses the command lines of both programs: options cannot be abbreviated, a mistyped one gets a suggestion, numbers
// have limits. Wrong use is Error{kUsage}, or the po::error that Boost throws for it.
#pragma once

#include <boost/program_options.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ingest/output_guard.h"

namespace tracedb {

// `shown`: the options help tells of; `positional`: under which name arguments without a dash are kept, as a list.
// `hidden` (may be empty): options that are known, but neither shown nor suggested.
boost::program_options::variables_map parse_options(std::span<const std::string> words,
                                                    const boost::program_options::options_description& shown,
                                                    const boost::program_options::options_description& hidden,
                                                    const char* positional);

struct OutputOption {
  std::string name;  // without dashes
  OutputContent content = OutputContent::kReport;
};

// Refuses every file that `outputs` among `values` would write over something else on the command line, or over a
// recording: see require_safe_output().
void require_safe_outputs(const boost::program_options::variables_map& values, std::span<const OutputOption> outputs,
                          const char* positional);

// "90", "0.5". Throws Error{kUsage}.
std::chrono::nanoseconds parse_seconds(const std::string& text);

// "64K", "1.5M", "2G" (powers of 1024) or plain bytes. Throws Error{kUsage}.
std::size_t parse_size(const std::string& text);

// A whole number from `least` to `most`; `option` is how the message names it.
std::int64_t parse_whole(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most);

// The list of --files-from.

// The paths in a file, or on standard input for "-"; see parse_path_list(). Error{kInput} where it cannot be read.
std::vector<std::filesystem::path> read_path_list(const std::filesystem::path& list);

}  // namespace tracedb
