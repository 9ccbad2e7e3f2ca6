// Signal handling of the programs. The first SIGINT, SIGTERM or SIGHUP requests an orderly end: it sets a flag that the
// library checks. The second one ends the process at once.
#pragma once

#include <atomic>

namespace tracedb {

// Those three from now on, unless they were ignored from the start (nohup). SIGXFSZ becomes a write error.
void catch_ending_signals();

// They end the process from now on; at once if one of them came meanwhile.
void release_ending_signals();

const std::atomic<bool>& end_requested();

// 128 + the number of the signal that came, else 130.
int signal_exit_code();

// Ends the process in one line when no memory is left even for an exception.

// Where nothing can be thrown any more, this line says so, and the exit code is that of resources that ran out. To be
// called first in main(); `line` must stay.
void install_out_of_memory_handler(const char* line);

}  // namespace tracedb
