// What came of an ingest, for targets that make whole indexes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "fuzz_input.h"
#include "index/index.h"
#include "index/verify.h"
#include "ingest/ingest.h"
#include "issue_lines.h"
#include "support/temp_directory.h"

namespace tracedb {

// What came of reading, or of ingest: text that can be compared.
struct Outcome {
  std::string refusal;  // empty: there is something to compare
  std::string text, events;
};

inline Outcome ingest(const std::filesystem::path& trace, const std::filesystem::path& index,
                      const IngestOptions& options) {
  Outcome out;
  try {
    const IngestResult result = ingest_trace(trace, index, options);
    require(result.events_stored + result.events_skipped == result.events_read, "every event is accounted for");
    out.text = issue_lines(result.issues);
    out.events = bytes_of(index);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInput && error.code() != ErrorCode::kResource) broken(error.what());
    out.refusal = error.what();
  }
  return out;
}

inline void verify_index(const std::filesystem::path& path, const std::filesystem::path& trace) {
  const Index index = Index::open(path);
  try {
    for (const VerifyFinding& finding : verify(index, trace)) {
      // A damaged trace may contradict itself: that its flows do is the trace's fault, and an issue of its own.
      if (finding.check == "flows") continue;
      if (finding.outcome == VerifyFinding::Outcome::kFailed) broken("verify " + finding.check + ": " + finding.detail);
    }
  } catch (const Error& error) {  // sums beyond 292 years are an error of SQL
    if (std::string_view(error.what()).find("integer overflow") == std::string_view::npos) broken(error.what());
  }
}

}  // namespace tracedb
