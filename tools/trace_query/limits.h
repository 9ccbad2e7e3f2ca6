// Time and memory limits of a run of trace-query, which apply to the whole process. Whatever an index contains, the run
// ends within them, with one line.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tracedb {

class Database;

namespace run_limits {

// From now on, once. What does not end by itself in time ends with the process, exit code 5. is_fixed: who asks cannot
// set another one.
void limit_time(std::chrono::nanoseconds limit, bool is_fixed);
// Of everything but the program itself; what is beyond is refused (std::bad_alloc). No effect with a sanitizer, whose
// own memory would count.
void limit_memory(std::uint64_t bytes, bool is_fixed);

// The clock stops, and goes on.
void pause();
void resume();

void watch(Database& database);
const std::atomic<bool>* time_is_up();  // for work that looks at a flag; null: never

// One line for whatever failed: the limit that was reached; "" if none was.
std::string time_limit_reached();
std::string out_of_memory();

}  // namespace run_limits
}  // namespace tracedb
