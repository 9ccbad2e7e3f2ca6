#include "base/files/file_lock.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/temp_directory.h"

namespace tracedb {

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
  try {
    FileLock::acquire(path, &cancel, [&] {
      ++waits;
      cancel = true;
    });
    FAIL("acquired a lock that is held");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInterrupted);
  }
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

}  // namespace tracedb
