#include "ranks/exchange.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/decimal.h"

namespace tracedb {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Exchange by_name(std::string_view name) {
  const std::string text = ascii_lower(name);
  if (text == "send" || text == "isend") return Exchange::kSend;
  if (text == "recv" || text == "irecv" || text == "receive") return Exchange::kReceive;
  return Exchange::kCollective;
}

// "[0, 1, 2]"; empty where it is cut ("[0, 1, ..., 63]") or no such list.
std::vector<std::int64_t> ranks_in(std::string_view list) {
  std::vector<std::int64_t> out;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return out;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::size_t digits = std::min(list.find_first_not_of(' '), list.size());
    const auto rank = parse_int64(list.substr(0, comma).substr(std::min(digits, comma)));
    if (!rank) return {};
    out.push_back(*rank);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return out;
}

// "nccl:send 0->1", "nccl:recv 1<-0": the rank at that place of the group.
std::int64_t peer_in(std::string_view annotation, Exchange exchange, std::string_view ranks) {
  const bool sends = exchange == Exchange::kSend;
  const std::size_t begin = annotation.find(sends ? ":send " : ":recv ");
  const std::size_t arrow = annotation.find(sends ? "->" : "<-");
  if (begin == std::string_view::npos || arrow == std::string_view::npos || arrow < begin) return kUnknownValue;
  const auto place = parse_int64(annotation.substr(arrow + 2));
  const std::vector<std::int64_t> group = ranks_in(ranks);
  const bool known = place && *place >= 0 && static_cast<std::size_t>(*place) < group.size();
  return known ? group[static_cast<std::size_t>(*place)] : kUnknownValue;
}

// A kernel that the trace does not describe. NCCL sends and receives all data of an all-to-all by one such kernel.
Exchange by_kernel(std::string_view kernel, std::string_view annotation) {
  if (!contains(ascii_lower(kernel), "sendrecv")) return Exchange::kCollective;
  const std::string text = ascii_lower(annotation);
  const bool all_to_all = contains(text, "all_to_all") || contains(text, "alltoall") || contains(text, "all2all");
  return all_to_all ? Exchange::kCollective : Exchange::kUnknownPeer;
}

}  // namespace

ExchangeEnd exchange_of(const ExchangeFacts& facts) {
  if (facts.name.empty()) return {by_kernel(facts.kernel, facts.annotation), kUnknownValue};
  const Exchange exchange = by_name(facts.name);
  if (exchange == Exchange::kCollective) return {};
  std::int64_t peer = exchange == Exchange::kSend ? facts.destination_rank : facts.source_rank;
  if (peer == kUnknownValue) peer = peer_in(facts.annotation, exchange, facts.ranks);
  return {peer == kUnknownValue ? Exchange::kUnknownPeer : exchange, peer};
}

}  // namespace tracedb
