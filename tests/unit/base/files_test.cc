#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/file_lock.h"
#include "base/files/sandbox.h"
#include "base/files/small_file.h"
#include "base/stream/content_hash.h"
#include "support/refused.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

TEST_CASE("a lock has one holder, and its file goes with it") {
  const TempDirectory directory;
  const auto path = directory / "x.lock";
  {
    const auto first = FileLock::try_acquire(path);
    REQUIRE(first);
    CHECK(first->locks());
    CHECK_FALSE(FileLock::try_acquire(path));
    CHECK(std::filesystem::exists(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(FileLock::try_acquire(path));
}

TEST_CASE("the lock of a killed process is free") {
  const TempDirectory directory;
  const auto path = directory / "x.lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::try_acquire(path);
    std::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(std::filesystem::exists(path));
  CHECK(FileLock::try_acquire(path));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("whoever holds the lock is alone, however often the file comes and goes") {
  const TempDirectory directory;
  const auto path = directory / "x.lock";
  std::atomic<int> inside = 0, meetings = 0, turns = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 500;) {
        const auto lock = FileLock::try_acquire(path);
        if (!lock) continue;
        if (inside.fetch_add(1) != 0) ++meetings;
        inside.fetch_sub(1);
        ++turns;
        ++turn;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(meetings == 0);
  CHECK(turns == 2000);
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("waiting for a lock says so once and can be cancelled") {
  const TempDirectory directory;
  const auto path = directory / "x.lock";
  const auto held = FileLock::try_acquire(path);
  std::atomic<bool> cancel = false;
  int waits = 0;
  CHECK_FALSE(refused(ErrorCode::kInterrupted, [&] {
                FileLock::acquire(path, &cancel, [&] {
                  ++waits;
                  cancel = true;
                });
              }).empty());
  CHECK(waits == 1);
}

TEST_CASE("a file with content and a link are not taken for a lock") {
  const TempDirectory directory;
  const auto notes = directory.write("notes.lock", "of somebody");
  { CHECK(FileLock::try_acquire(notes)); }
  CHECK(std::filesystem::exists(notes));
  std::filesystem::create_symlink(notes, directory / "link.lock");
  CHECK_THROWS_AS(FileLock::try_acquire(directory / "link.lock"), Error);
  CHECK_THROWS_AS(FileLock::try_acquire(directory / "absent" / "x.lock"), Error);
}

// A reader that misbehaves, on a thread of its own: what is taken from that never comes back.

bool opens(const std::filesystem::path& path, int flags = O_RDONLY) {
  return FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC, 0600)).is_open();
}

bool has_landlock() { return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0; }

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

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

std::string failure_of(const std::filesystem::path& path) {
  return refused(ErrorCode::kInput, [&] { read_small_file(path, kMebibyte); });
}

TEST_CASE("small files are read whole, up to a limit") {
  const TempDirectory folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMebibyte / 16, kMebibyte / 16 + 1, kMebibyte}) {
    const std::string text(size, 'x');
    CHECK(read_small_file(folder.write("file", text), kMebibyte) == text);
  }
  const auto large = folder.write("large", std::string(kMebibyte + 1, 'x'));
  CHECK(failure_of(large) == large.string() + ": larger than 1 MiB: check that this is the file you meant");
}

TEST_CASE("a small file that cannot be read is named") {
  const TempDirectory folder;
  CHECK(failure_of(folder / "none").find("none: no such file") != std::string::npos);
  CHECK(failure_of(folder.path()).find("is a directory") != std::string::npos);
}

TEST_CASE("a pipe is read to its end, whatever its size") {
  const TempDirectory folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string text(kMebibyte / 2, 'x');
  std::thread writer([&] { std::ofstream(pipe) << text; });
  const std::string read = read_small_file(pipe, kMebibyte);
  writer.join();
  CHECK(read == text);
}

std::string patterned(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 2654435761U) >> 11);
  return text;
}

void flip_byte(const std::filesystem::path& path, std::size_t offset) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put('!');
}

TEST_CASE("to_hex is the canonical form") {
  // XXH3-128 of nothing, as every implementation documents it.
  CHECK(to_hex(hash_bytes("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(to_hex({1, 0xabc}) == "00000000000000010000000000000abc");
}

TEST_CASE("the hash does not depend on the pieces") {
  const std::string text = patterned(5000);
  for (std::size_t piece = 1; piece < 700; piece += 37) {
    ContentHasher hasher;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hasher.update(std::span(text).subspan(at, std::min(piece, text.size() - at)));
    }
    CHECK(hasher.digest() == hash_bytes(text));
  }
}

TEST_CASE("hash64 tells texts apart") {
  CHECK(hash64("a") == hash64(std::string("a")));
  CHECK(hash64("a") != hash64("b"));
}

TEST_CASE("hash_file") {
  const TempDirectory directory;
  const std::string text = patterned(3'000'001);
  CHECK(hash_file(directory.write("trace", text)) == hash_bytes(text));
  CHECK(hash_file(directory.write("empty", "")) == hash_bytes(""));
  CHECK_THROWS_AS(hash_file(directory / "missing"), Error);
}

TEST_CASE("sample_hash_file") {
  const TempDirectory directory;
  SUBCASE("small files: every byte counts, and the size") {
    const auto path = directory.write("small", patterned(100'000));
    const auto before = sample_hash_file(path);
    CHECK(before == sample_hash_file(path));
    flip_byte(path, 54'321);
    CHECK(sample_hash_file(path) != before);
    CHECK(sample_hash_file(directory.write("empty", "")) != sample_hash_file(directory.write("zero", "0")));
  }
  SUBCASE("large files: head, tail and blocks") {
    const std::size_t size = 20'000'003;
    const auto path = directory.write("large", patterned(size));
    for (const std::size_t offset :
         {std::size_t{0}, std::size_t{1'000'000}, std::size_t{1} << 20, size - 1'100'000, size - 1}) {
      const auto before = sample_hash_file(path);
      flip_byte(path, offset);
      CAPTURE(offset);
      CHECK(sample_hash_file(path) != before);
    }
    const auto before = sample_hash_file(path);
    std::filesystem::resize_file(path, size - 1);
    CHECK(sample_hash_file(path) != before);
  }
}

}  // namespace
}  // namespace tracedb
