// Takes rights away from the calling thread and the threads that it starts, for good: files but those named cannot be
// opened (Landlock, Linux 5.13), and calls that a reader of files has no use for, such as sockets, processes, mounts
// and signals to others, fail with EPERM (seccomp). What is open already stays open. Where the kernel has neither, and
// in builds with a sanitizer, whose own tools need such calls, nothing happens.
//
// Both return why a right could not be taken away that the kernel can take, in words; "": all is done.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace tracedb {

// `readable`: folders and files, with all that is in them, beside those of the system's libraries. `writable`: folders
// in which files may be made, replaced and removed, and read. One that does not exist is passed over.
std::string restrict_thread(std::span<const std::filesystem::path> readable,
                            std::span<const std::filesystem::path> writable);
std::string restrict_calls();  // the calls alone: before it starts threads, for the whole process

}  // namespace tracedb
