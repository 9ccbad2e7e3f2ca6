#include "passes/critical/hand_overs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace tracedb {
namespace {

constexpr std::int64_t kStillOpen = std::numeric_limits<std::int64_t>::max();

// A thread at a moment. Who ended last comes first, then who worked last, then who began that last.
struct Standing {
  std::int64_t open_until = 0, worked_until = 0, work_began = 0;
  std::uint32_t place = 0;  // of the thread among those of its process
  friend bool operator<(const Standing& a, const Standing& b) {
    return std::tie(b.open_until, b.worked_until, b.work_began, a.place) <
           std::tie(a.open_until, a.worked_until, a.work_began, b.place);
  }
};

}  // namespace

HandOvers::HandOvers(const ReleaseGraph& graph) : graph_(graph) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> threads;  // by process, on which anything was open
  for (const std::uint32_t thread : graph.named_threads()) {
    if (graph.open_on(thread).size() > 0) threads[graph.process_of(thread)].push_back(thread);
  }
  for (const auto& [process, own] : threads) {
    if (own.size() > 1) last_[process] = follow(own);
  }
}

// Goes through all begins and ends in order of time.
std::vector<HandOvers::Last> HandOvers::follow(const std::vector<std::uint32_t>& threads) const {
  std::vector<Last> out;
  std::vector<Standing> standings;
  std::set<Standing> order;  // of those that began
  const auto cover = [&](std::uint32_t number) -> const TimeCover& {
    return number % 2 == 0 ? graph_.open_on(threads[number / 2]) : graph_.worked_on(threads[number / 2]);
  };
  using Edge = std::tuple<std::int64_t, std::uint32_t, std::size_t>;  // when, number of a cover, 2 * stretch + is_end
  std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges;
  const auto expect = [&](std::uint32_t number, std::size_t edge) {
    if (edge / 2 == cover(number).size()) return;
    const Extent stretch = cover(number)[edge / 2];
    edges.emplace(edge % 2 == 0 ? stretch.begin : stretch.end, number, edge);
  };
  for (std::uint32_t place = 0; place < threads.size(); ++place) {
    standings.push_back({.place = place});
    expect(2 * place, 0);
    expect(2 * place + 1, 0);
  }
  while (!edges.empty()) {
    const auto [ts, number, edge] = edges.top();
    edges.pop();
    expect(number, edge + 1);
    Standing& one = standings[number / 2];
    order.erase(one);
    (number % 2 == 0 ? one.open_until : one.worked_until) = edge % 2 == 0 ? kStillOpen : ts;
    if (number % 2 == 1) one.work_began = cover(number)[edge / 2].begin;
    order.insert(one);
    if (!edges.empty() && std::get<0>(edges.top()) == ts) continue;
    Last last{.after = ts};
    for (auto next = order.begin(); next != order.end() && last.size < last.threads.size(); ++next)
      last.threads[last.size++] = threads[next->place];
    if (out.empty() || out.back().threads != last.threads) out.push_back(last);
  }
  return out;
}

HandOver HandOvers::find(std::uint32_t thread, std::int64_t since, std::int64_t moment) const {
  HandOver out{thread, since};
  const auto process = last_.find(graph_.process_of(thread));
  if (process == last_.end()) return out;
  const auto next = std::ranges::lower_bound(process->second, moment, {}, &Last::after);
  if (next == process->second.begin()) return out;
  const Last& last = *std::prev(next);
  const auto until = [&](const TimeCover& cover) { return std::min(cover.last_before(moment).end, moment); };
  std::int64_t worked = 0;  // of the one found
  for (const std::uint32_t other : std::span(last.threads).first(last.size)) {
    if (other == thread) continue;
    const std::int64_t at = until(graph_.open_on(other)), work = until(graph_.worked_on(other));
    if (out.from != thread) {
      out.is_inferred = at == out.at && work == worked;
      break;
    }
    if (at <= since) break;
    out = {other, at};
    worked = work;
  }
  return out;
}

}  // namespace tracedb
