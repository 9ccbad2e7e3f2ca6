#include "export/tracks.h"

#include <doctest/doctest.h>

#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {

TEST_CASE("TrackNumbers") {
  TrackNumbers numbers;
  CHECK(numbers.process(7) == 7);
  const std::int64_t second = numbers.process(7);
  CHECK(second != 7);
  CHECK(numbers.process(std::nullopt) != second);
  CHECK(numbers.process(-1) > 0);
  CHECK(numbers.thread(7, 7) == 7);
  CHECK(numbers.thread(second, 7) == 7);
  CHECK(numbers.thread(second, 7) != 7);
}

TEST_CASE("TraceTracks") {
  const TempDirectory folder;
  const Index index = open_small_index(folder.path() / "x.tracedb");
  TrackNumbers numbers;
  TraceTracks tracks(index, numbers, {});
  SUBCASE("what overlaps on a stream gets a second track") {
    const EventTrack first = tracks.stream(1, 0, 100);
    CHECK(first.process == 0);
    CHECK(first.thread == 7);
    CHECK(tracks.stream(1, 100, 150).thread == first.thread);
    const EventTrack beside = tracks.stream(1, 120, 200);
    CHECK(beside.process == first.process);
    CHECK(beside.thread != first.thread);
    CHECK(tracks.stream(1, 160, 170).thread == first.thread);
    CHECK(tracks.stream(1).thread == first.thread);
  }
  SUBCASE("a stream whose number is a text") {
    JsonWriter args;
    tracks.add_place(2, args);
    CHECK(args.str() == R"("device":0,"stream":"default")");
  }
  SUBCASE("threads keep their numbers, and no two traces share a process") {
    const EventTrack thread = tracks.thread(1);
    CHECK(thread.process == 77);
    CHECK(thread.thread == 78);
    TraceTracks other(index, numbers, {"B: ", 1});
    CHECK(other.thread(1).process != 77);
    CHECK(other.stream(1, 0, 1).process != tracks.stream(1, 0, 1).process);
  }
}

}  // namespace tracedb
