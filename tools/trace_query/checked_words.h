// Words of a command line that are checked alike for all commands. Error{kUsage} says which there are.
#pragma once

#include <span>
#include <string>

#include "trace_query/options.h"

namespace tracedb {

// Of --phase: a kind of step.
const std::string& known_phase(const std::string& text);

// Of -o: a name that ends otherwise than these (".csv") is refused; one without an ending promises nothing.
void refuse_unknown_ending(const std::string& file, std::span<const std::string> known);

// The same for the formats of a command; a format that is given is written under any name.
void require_known_ending(const CommandLine& line);

// Options of other tools are answered with what there is.
void refuse_other_options(const CommandLine& line, std::span<const std::string> args);

}  // namespace tracedb
