#include "ingest/no_device_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/counted.h"
#include "base/text/duration_text.h"
#include "base/text/regular_expression.h"
#include "ingest/read/json_text.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

// As schema/other_programs.rules has them.
std::vector<std::string> signs_of(std::string_view format, const TraceStore& store, const TraceHeader& header) {
  std::vector<std::string> out = {fmt::format("format:{}", format)};
  for (const auto& [kind, count] : store.kinds) {
    if (kind.first != 0) out.push_back(fmt::format("category:{}", store.strings.text(kind.first)));
  }
  for (const ProcessInfo& process : store.processes) out.push_back("track:" + process.name);
  for (const ThreadInfo& thread : store.threads) out.push_back("track:" + thread.name);
  for (const HeaderMember& member : header) {
    out.push_back("key:" + member.key);
    for (const JsonMember& inner : json_members(member.text))
      out.push_back(fmt::format("key:{}/{}", member.key, inner.key));
  }
  for (const Issue& issue : store.issues.issues()) {
    if (issue.kind == IssueKind::kNotAnObject) out.push_back("element:" + issue.sample);
  }
  return out;
}

struct Program {
  bool devices_are_read = false;
  std::string_view looks_like;
  std::string advice;
};

// The last line of the table fits everything.
Program program_of(const std::vector<std::string>& signs, const TraceStore& store) {
  std::string_view rest = script("other_programs");
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find("=>"), second = line.find("=>", first + 2);
    if (line.starts_with('#') || second == std::string_view::npos) continue;
    const std::string_view begin = line.substr(0, first), expression = begin.substr(begin.find(' '));
    const RegularExpression sign("(?i)" + std::string(trim_json_space(expression)));
    const auto found =
        std::find_if(signs.begin(), signs.end(), [&](const std::string& text) { return sign.is_in(text); });
    if (found == signs.end()) continue;
    std::string advice(trim_json_space(line.substr(second + 2)));
    if (begin.starts_with("unread")) {
      const std::string category = found->substr(found->find(':') + 1);
      std::int64_t events = 0, time = 0;
      for (const auto& [kind, count] : store.kinds) {
        if (kind.first == 0 || store.strings.text(kind.first) != category) continue;
        if (store.slice_times.contains(kind.first)) time = store.slice_times.at(kind.first);
        events += count.read;
      }
      advice = fmt::format("{} {} ({}) {}", with_separators(std::to_string(events)), category,
                           brief_time(static_cast<double>(time)), advice);
    }
    return {!begin.starts_with("not"), trim_json_space(line.substr(first + 2, second - first - 2)), advice};
  }
  return {};
}

void make_slices_of_operators(TraceStore& store) {
  const std::uint32_t category = store.string_id("cpu_op");
  store.operators.start();
  for (; const OperatorRecord* op = store.operators.peek(); store.operators.pop())
    store.slices.push({op->ts, op->dur, category, op->name, op->track, op->args, 0, 0});
  store.operators.release();
}

}  // namespace

void note_no_device_events(std::string_view format, TraceStore& store, TraceFacts& facts) {
  const bool any =
      std::any_of(store.kinds.begin(), store.kinds.end(), [](const auto& kind) { return kind.second.read > 0; });
  if (!any) store.issues.add(IssueKind::kNoEvents, -1, "it holds 0 events; give what the profiler exported");
  const bool nothing = !any && store.issues.count(IssueKind::kNotAnObject) == 0;
  const bool tiles = facts.vendor == "aie";  // all their events are of devices
  // Of a trace that is cut off it cannot be told what it had.
  if (nothing || tiles || !facts.complete || store.device_events.size() > 0) return;
  const Program program =
      program_of(signs_of(facts.format.empty() ? format : facts.format, store, facts.header), store);
  store.issues.add(
      program.devices_are_read ? IssueKind::kNoDeviceEvents : IssueKind::kForeignFormat, -1,
      fmt::format("no kernel, copy or fill is in it{}{}; {}", program.looks_like.empty() ? "" : ": it looks like ",
                  program.looks_like, program.advice));
  if (program.devices_are_read) return;
  facts.format = "chrome-json";
  make_slices_of_operators(store);
}

}  // namespace tracedb
