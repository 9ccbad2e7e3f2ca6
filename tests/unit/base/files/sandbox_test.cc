// A reader that misbehaves, on a thread of its own: what is taken from that never comes back.
#include "base/files/sandbox.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/files/file_descriptor.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

bool opens(const std::filesystem::path& path, int flags = O_RDONLY) {
  return FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC, 0600)).is_open();
}

bool has_landlock() { return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0; }

}  // namespace

TEST_CASE("a restricted thread opens and makes files where it may, and nowhere else") {
  const TempDirectory folder;
  for (const char* name : {"traces", "indexes", "other"}) std::filesystem::create_directory(folder / name);
  for (const char* name : {"traces/a", "other/b", "open"}) std::ofstream(folder / name) << "x";
  std::filesystem::create_symlink(folder / "other/b", folder / "traces/link");
  const bool restricted = has_landlock();
#ifdef TRACEDB_SANITIZED
  MESSAGE("no sandbox in a build with a sanitizer");
  return;
#endif
  if (!restricted) MESSAGE("skipped: no Landlock in this kernel");
  std::thread([&] {
    const FileDescriptor open_before(::open((folder / "open").c_str(), O_RDONLY | O_CLOEXEC));
    const std::vector<std::filesystem::path> readable = {folder / "traces", folder / "none"};
    const std::vector<std::filesystem::path> writable = {folder / "indexes"};
    CHECK(restrict_thread(readable, writable).empty());
    std::thread([&] {
      char c = 0;
      CHECK(::read(open_before.get(), &c, 1) == 1);
      CHECK(opens(folder / "traces/a"));
      CHECK(opens(folder / "indexes/new", O_RDWR | O_CREAT | O_TRUNC));
      CHECK(opens(folder / "indexes/new"));
      CHECK(::rename((folder / "indexes/new").c_str(), (folder / "indexes/newer").c_str()) == 0);
      CHECK(::unlink((folder / "indexes/newer").c_str()) == 0);
      if (!restricted) return;
      CHECK_FALSE(opens(folder / "other/b"));
      CHECK_FALSE(opens(folder / "traces/link"));
      CHECK_FALSE(opens(folder / "open"));
      CHECK_FALSE(opens("/etc/passwd"));
      CHECK_FALSE(opens("/proc/self/mem", O_RDWR));
      CHECK_FALSE(opens(folder / "traces/a", O_WRONLY));
      CHECK_FALSE(opens(folder / "traces/new", O_WRONLY | O_CREAT));
      CHECK(::unlink((folder / "traces/a").c_str()) != 0);
      CHECK(::mkdir((folder / "indexes/folder").c_str(), 0700) != 0);
    }).join();
  }).join();
  CHECK(opens(folder / "other/b"));  // other threads are as they were
}

TEST_CASE("a restricted thread has no sockets, starts no programs and no processes, but threads") {
#ifdef TRACEDB_SANITIZED
  return;
#endif
  std::thread([] {
    CHECK(restrict_thread({}, {}).empty());
    if (::syscall(SYS_prctl, 21, 0, 0, 0, 0) != 2) return;  // PR_GET_SECCOMP: the kernel has none
    CHECK(::socket(AF_INET, SOCK_STREAM, 0) < 0);
    CHECK(errno == EPERM);
    CHECK(::socket(AF_UNIX, SOCK_STREAM, 0) < 0);
    char name[] = "/bin/true";
    char* const words[] = {name, nullptr};
    CHECK(::execve(name, words, nullptr) < 0);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    CHECK(child < 0);
    CHECK(::kill(::getppid(), 0) < 0);
    CHECK(::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0) < 0);
    CHECK(errno == EPERM);
    CHECK(::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), 0) == 0);  // as abort() does
    int sum = 0;
    std::thread([&] { sum = 5; }).join();
    CHECK(sum == 5);
  }).join();
}

TEST_CASE("what could not be taken away is said, but not of a kernel without it") {
#ifdef TRACEDB_SANITIZED
  return;
#endif
  std::string failure;
  std::thread([&] {
    constexpr int kMost = 16;  // layers of Landlock
    for (int i = 0; i <= kMost; ++i) failure = restrict_thread({}, {});
  }).join();
  CHECK(failure.starts_with("Landlock: ") == has_landlock());
}

}  // namespace tracedb
