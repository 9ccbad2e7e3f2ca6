#include "fleet/catalogue.h"

#include <system_error>

#include "base/failure.h"
#include "base/files/file_identity.h"
#include "index/locate.h"
#include "index/validity.h"

namespace tracedb {
namespace {

std::filesystem::path trace_of(const std::filesystem::path& index, const std::string& stored) {
  std::error_code error;
  if (index.extension() == kIndexSuffix) {
    std::filesystem::path beside = index;
    beside.replace_extension();
    if (std::filesystem::exists(beside, error)) return beside;
  }
  return stored;
}

// As check_validity(), but for a trace whose size and times are those stored the index is not opened.
CatalogueState state_of(const std::filesystem::path& index, const std::filesystem::path& trace,
                        const TraceSummary& summary) {
  const auto now = trace.empty() ? std::nullopt : FileIdentity::behind_links(trace);
  if (!now) return CatalogueState::kNoTrace;
  const bool same = summary.source_bytes == static_cast<std::int64_t>(now->bytes) &&
                    summary.source_modified_ns == now->modified_ns &&
                    summary.source_inode == static_cast<std::int64_t>(now->inode);
  if (same) return CatalogueState::kIndexed;
  const ValidityResult result = check_validity(Index::open(index), trace, Effort::kReadOnly);
  return result.validity == Validity::kStale ? CatalogueState::kOutOfDate : CatalogueState::kIndexed;
}

}  // namespace

std::string_view to_string(CatalogueState state) {
  constexpr std::string_view kNames[] = {"indexed", "no trace", "out of date", "not indexed", "unusable"};
  return kNames[static_cast<std::size_t>(state)];
}

CatalogueEntry catalogue_index(const std::filesystem::path& index, SummaryCache& cache, const ActiveRules& rules) {
  CatalogueEntry out;
  out.index = index;
  const auto failure = catch_error([&] {
    const auto identity = FileIdentity::behind_links(index);
    if (identity) out.bytes = identity->bytes;
    const TraceSummary* known = identity ? cache.find(index, *identity) : nullptr;
    if (known != nullptr) {
      out.summary = *known;
    } else {
      out.summary = summarise(Index::open(index), rules);
      if (identity) cache.add(index, *identity, out.summary);
    }
    out.trace = trace_of(index, out.summary.source);
    out.state = state_of(index, out.trace, out.summary);
  });
  if (!failure) return out;
  if (failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
  out.state = CatalogueState::kUnusable;
  out.reason = failure->what();
  return out;
}

CatalogueEntry catalogue_trace(const std::filesystem::path& trace) {
  CatalogueEntry out;
  out.trace = trace;
  const auto identity = FileIdentity::behind_links(trace);
  if (identity) out.bytes = identity->bytes;
  return out;
}

}  // namespace tracedb
