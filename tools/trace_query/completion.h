// What completion in shells knows of the options of trace-query.
#pragma once

#include <boost/program_options.hpp>
#include <span>

#include "shared/word_completion.h"
#include "trace_query/command.h"

namespace tracedb {

// For the words behind the name of a command.
Candidates complete_command(const Command& command, std::span<const std::string> words,
                            const boost::program_options::options_description& options);

// For the words behind trace-query.
Candidates complete_program(std::span<const Command> commands, std::span<const std::string> words);

}  // namespace tracedb
