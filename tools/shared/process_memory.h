// Ends the process in one line when no memory is left even for an exception.
#pragma once

namespace tracedb {

// Where nothing can be thrown any more, this line says so, and the exit code is that of resources that ran out. To be
// called first in main(); `line` must stay.
void install_out_of_memory_handler(const char* line);

}  // namespace tracedb
