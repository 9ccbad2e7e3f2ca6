#include "passes/capture/capture.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "passes/sql/kernel_sql_functions.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

// Twenty launches and the operators around them: "ab" repeated, from operators op_a and op_b.
constexpr int kLaunches = 20;

Index with_rows(const std::filesystem::path& path, const std::string& sql) {
  write_small_index(path);
  {
    Database database(path, Database::Mode::kReadWrite);
    database.execute(
        "DELETE FROM kernel; DELETE FROM runtime_call; DELETE FROM cpu_op; DELETE FROM step; DELETE FROM annotation;"
        "INSERT INTO string VALUES (20, 'hipStreamBeginCapture'), (21, 'hipStreamEndCapture'), (22, 'hipGraphLaunch'),"
        "(23, 'op_a'), (24, 'op_b'), (25, 'a'), (26, 'b');"
        "INSERT INTO kernel_name VALUES (25, 'a', 'a'), (26, 'b', 'b');" +
        sql);
  }
  return Index::open(path);
}

// A capture of `launches` calls; every `odd`th one comes from the other operator.
Index capture_index(const std::filesystem::path& path, int launches, int odd = 1000) {
  std::string sql =
      "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES (1, 1, 1, 20, 'other'), (2, 2, 2, 7, "
      "'launch');";  // on another thread: not captured
  for (int i = 0; i < launches; ++i) {
    sql += fmt::format(
        "INSERT INTO cpu_op (id, ts, thread_id, name_id, depth) VALUES ({0}, {0}, 1, {1}, 0);"
        "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind, cpu_op_id, stack_id) VALUES ({2}, {2}, 1, 7, "
        "'launch', {0}, 3);",
        i + 1, 23 + (i + (i % odd == odd - 1 ? 1 : 0)) % 2, i + 3);
  }
  sql += fmt::format(
      "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES ({0}, {0}, 1, 21, 'other'), "
      "({1}, {1}, 1, 7, 'launch');",
      launches + 3, launches + 4);
  return with_rows(path, sql);
}

Index replay_index(const std::filesystem::path& path, int kernels) {
  std::string sql = "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES (1, 1, 1, 22, 'graph_launch');";
  for (int i = 0; i < kernels; ++i) {
    sql += fmt::format(
        "INSERT INTO kernel (id, ts, dur, name_id, stream_id, launch_id, kind) VALUES ({0}, {0}, 10, {1}, "
        "1, 1, 'compute');",
        i + 1, 25 + i % 2);
  }
  return with_rows(path, sql);
}

struct Matched {
  TempDirectory folder;
  Index from, to;
  Capture capture;
  ReplayOrigins origins;

  Matched(int launches, int kernels, int odd = 1000)
      : from(capture_index(folder / "from.tracedb", launches, odd)),
        to(replay_index(folder / "to.tracedb", kernels)),
        capture(read_capture(from, {}, {})) {
    const EventTables events(to);
    origins = match_capture(capture, to, events, load_steps(to, {}, events, {}));
  }
};

}  // namespace

TEST_CASE("launches of a stream capture are the kernels of its replay, one by one") {
  const Matched found(kLaunches, kLaunches);
  CHECK(found.capture.captures.size() == 1);
  CHECK(found.origins.matched == kLaunches);
  CHECK(found.origins.share == 1);
  const CaptureSource source{found.from, found.capture, "from", {}};
  const ActiveRules rules;
  Workload workload(found.to, rules, {{}, {}, &source});
  KernelSqlFunctions functions(workload);
  for (std::int64_t id = 1; id <= kLaunches; ++id) {
    CHECK(functions.capture_op(id) == (id % 2 == 1 ? "op_a" : "op_b"));
    CHECK(functions.capture_module(id) == "Linear_0");
  }
  CHECK(functions.capture_op(0) == std::nullopt);
  CHECK(functions.capture_op(kLaunches + 1) == std::nullopt);
}

TEST_CASE("another number of launches is another graph: nothing is matched, and that is said") {
  for (const int kernels : {kLaunches - 1, kLaunches + 1}) {
    const Matched found(kLaunches, kernels);
    CHECK(found.origins.matched == 0);
    CHECK(found.origins.notes.size() == 2);
  }
}

TEST_CASE("a capture whose operators do not go with the kernels' names is not believed") {
  CHECK(Matched(kLaunches, kLaunches, 10).origins.matched == kLaunches);  // one in ten may be another
  CHECK(Matched(kLaunches, kLaunches, 3).origins.matched == 0);
  CHECK(Matched(8, 8).origins.matched == 0);  // so few that their number says nothing
}

TEST_CASE("traces without graphs or captures match nothing") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "small.tracedb");
  const Capture capture = read_capture(index, {}, {});
  CHECK(capture.captures.empty());
  const EventTables events(index);
  const ReplayOrigins origins = match_capture(capture, index, events, load_steps(index, {}, events, {}));
  CHECK(origins.kernels == 0);
  CHECK(origins.notes.size() == 1);
  const Index empty = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  CHECK(read_capture(empty, {}, {}).steps.empty());
}

namespace {

std::vector<std::uint32_t> tokens(std::string_view letters) { return {letters.begin(), letters.end()}; }

// The place in `b` of each letter of `a`, as a digit; '-': none.
std::string matched(std::string_view a, std::string_view b, std::size_t most_cells = 1000) {
  std::string out;
  for (const std::uint32_t place : match_sequences(tokens(a), tokens(b), most_cells)) {
    out += place == kUnmatched ? '-' : static_cast<char>('0' + place);
  }
  return out;
}

std::size_t longest_common(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> length(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      length[i + 1][j + 1] = a[i] == b[j] ? length[i][j] + 1 : std::max(length[i][j + 1], length[i + 1][j]);
    }
  }
  return length[a.size()][b.size()];
}

}  // namespace

TEST_CASE("equal sequences, whatever their interleaving: by rank") {
  CHECK(matched("", "").empty());
  CHECK(matched("abab", "abab") == "0123");
  CHECK(matched("abcabc", "abacbc") == "013245");
}

TEST_CASE("what one has more often than the other is matched in order") {
  CHECK(matched("abcd", "abxcd") == "0134");
  CHECK(matched("abxcd", "abcd") == "01-23");
  CHECK(matched("xabc", "abc") == "-012");
  CHECK(matched("abc", "") == "---");
  CHECK(matched("aabbx", "ababa") == "0-13-");
}

TEST_CASE("tokens that both have equally often are matched even out of order") {
  CHECK(matched("xabcdee", "abcdxe") == "40123-5");
}

TEST_CASE("middles that are too long are left alone") {
  CHECK(matched("pabcdq", "pbadcxq", 15) == "021436");
  CHECK(matched("paabbbq", "pababaq", 15) == "01----6");
}

TEST_CASE("no place is given twice, equal tokens only, and never less than in order") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string a, b;
    for (std::uint_fast32_t i = random() % 12; i > 0; --i) a += static_cast<char>('a' + random() % 4);
    for (std::uint_fast32_t i = random() % 12; i > 0; --i) b += static_cast<char>('a' + random() % 4);
    CAPTURE(a);
    CAPTURE(b);
    const std::vector<std::uint32_t> places = match_sequences(tokens(a), tokens(b));
    std::vector<bool> taken(b.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (places[i] == kUnmatched) continue;
      REQUIRE(places[i] < b.size());
      CHECK(a[i] == b[places[i]]);
      CHECK_FALSE(taken[places[i]]);
      taken[places[i]] = true;
      ++count;
    }
    CHECK(count >= longest_common(a, b));
    CHECK(count <= shared_elements(tokens(a), tokens(b)));
  }
}

}  // namespace tracedb
