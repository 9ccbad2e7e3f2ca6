// The command line of make-trace: names of options, help, and checked values. Errors: Error{kUsage} naming the option.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <span>
#include <string>

#include "make_trace/ascend.h"
#include "make_trace/trace_options.h"
#include "shared/word_completion.h"

namespace tracedb {

boost::program_options::options_description describe_options();

// What --help prints.
std::string help_text();

std::string manual_text();  // make-trace(1)
Candidates complete_words(std::span<const std::string> words);

// nullopt: a trace of a GPU is wanted.
std::optional<AscendOptions> read_ascend_options(const boost::program_options::variables_map& values);

TraceOptions read_options(const boost::program_options::variables_map& values);

}  // namespace tracedb
