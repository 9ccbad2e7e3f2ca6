#include "trace/issue.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace tracedb {

TEST_CASE("every issue has a name of its own, and a sentence with an amount") {
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(IssueKind::kKernelWithoutStep); ++kind) {
    const IssueDescription& description = describe(static_cast<IssueKind>(kind));
    CHECK(static_cast<std::size_t>(description.kind) == kind);
    CHECK(names.insert(description.name).second);
    for (const auto& [count, amount] : {std::pair(1, "1 "), std::pair(12345, "12,345 ")}) {
      const std::string text = issue_sentence(description.kind, static_cast<std::uint64_t>(count)).text;
      CAPTURE(text);
      CHECK((text.find(amount) != std::string::npos || text.find(" 0 ") != std::string::npos));
      CHECK(text.find_first_of("{}|#") == std::string::npos);
    }
    CHECK_FALSE(to_string(description.severity).empty());
  }
}

TEST_CASE("the sentence of an issue counts") {
  CHECK(issue_sentence(IssueKind::kLaunchAfterKernel, 1).text == "1 kernel starts before its launch: clocks disagree");
  CHECK(issue_sentence(IssueKind::kLaunchAfterKernel, 1200).text ==
        "1,200 kernels start before their launches: clocks disagree");
  CHECK(issue_sentence(IssueKind::kLaunchAfterKernel, 2).id == "issue.launch_after_kernel");
}

TEST_CASE("the earliest place is kept with its sample") {
  IssueLog log;
  log.add(IssueKind::kBadNumber, 50, "later");
  log.add(IssueKind::kBadNumber, 20, "earlier");
  log.add(IssueKind::kBadNumber, 90, "latest", 3);
  log.add(IssueKind::kBadNumber, -1, "nowhere");
  log.add(IssueKind::kBadDuration, 1, "none", 0);
  REQUIRE(log.issues().size() == 1);
  CHECK(log.issues()[0].count == 6);
  CHECK(log.issues()[0].offset == 20);
  CHECK(log.issues()[0].sample == "earlier");
  CHECK(log.count(IssueKind::kBadDuration) == 0);
  log.clear();
  CHECK(log.issues().empty());
}

TEST_CASE("without a place the first sample stays, until there is a place") {
  IssueLog log;
  log.add(IssueKind::kUnmatchedFlow, -1, "first");
  log.add(IssueKind::kUnmatchedFlow, -1, "second");
  CHECK(log.issues()[0].sample == "first");
  log.add(IssueKind::kUnmatchedFlow, 7, "placed");
  CHECK(log.issues()[0].sample == "placed");
  CHECK(log.issues()[0].offset == 7);
}

TEST_CASE("logs merged piece by piece equal one log") {
  const struct {
    IssueKind kind;
    std::int64_t offset;
    const char* sample;
  } events[] = {{IssueKind::kBadNumber, 10, "a"},   {IssueKind::kMissingName, 20, "b"},
                {IssueKind::kBadNumber, 30, "c"},   {IssueKind::kUnmatchedFlow, -1, "d"},
                {IssueKind::kMissingName, 40, "e"}, {IssueKind::kUnmatchedFlow, -1, "f"}};
  IssueLog whole;
  for (const auto& event : events) whole.add(event.kind, event.offset, event.sample);
  for (std::size_t cut = 0; cut <= std::size(events); ++cut) {
    IssueLog first;
    IssueLog second;
    for (std::size_t i = 0; i < std::size(events); ++i) {
      (i < cut ? first : second).add(events[i].kind, events[i].offset, events[i].sample);
    }
    IssueLog merged;
    merged.merge(first);
    merged.merge(second);
    REQUIRE(merged.issues().size() == whole.issues().size());
    for (std::size_t i = 0; i < whole.issues().size(); ++i) {
      CHECK(merged.issues()[i].kind == whole.issues()[i].kind);
      CHECK(merged.issues()[i].count == whole.issues()[i].count);
      CHECK(merged.issues()[i].offset == whole.issues()[i].offset);
      CHECK(merged.issues()[i].sample == whole.issues()[i].sample);
    }
  }
}

TEST_CASE("issues come in the order of their kinds") {
  IssueLog log;
  log.add(IssueKind::kEndWithoutBegin, -1, "late");
  log.add(IssueKind::kRepairedText, 5, "early");
  log.add(IssueKind::kKernelWithoutStep, 1, "last");
  log.add(IssueKind::kNoEvents, -1, "first");
  REQUIRE(log.issues().size() == 4);
  CHECK(log.issues()[0].kind == IssueKind::kNoEvents);
  CHECK(log.issues()[1].kind == IssueKind::kRepairedText);
  CHECK(log.issues()[2].kind == IssueKind::kEndWithoutBegin);
  CHECK(log.issues()[3].kind == IssueKind::kKernelWithoutStep);
}

TEST_CASE("samples are short and valid") {
  CHECK(issue_sample(std::string(500, 'a')) == std::string(200, 'a'));
  CHECK(issue_sample("a\xFFz") == "a\xEF\xBF\xBDz");
  CHECK(issue_sample("").empty());
  // What is cut stays valid, short and the same when it is cut again (logs are merged).
  for (const std::string& text :
       {std::string(200, '\xFF'), std::string(199, 'a') + "\xE2\x82\xAC", std::string(300, '\xC3')}) {
    const std::string sample = issue_sample(text);
    CHECK(sample.size() <= 200);
    CHECK(issue_sample(sample) == sample);
  }
}

}  // namespace tracedb
