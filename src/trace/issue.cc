#include "trace/issue.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace tracedb {
namespace {

constexpr std::size_t kSampleBytes = 200;

constexpr IssueDescription kDescriptions[] = {
    {IssueKind::kNoEvents, "no_events", Severity::kWarning, "the trace holds no events"},
    {IssueKind::kTruncated, "truncated", Severity::kDataLoss, "the trace ends in the middle"},
    {IssueKind::kLeadingData, "leading_data", Severity::kDataLoss,
     "bytes before the trace that are no JSON, skipped up to the events"},
    {IssueKind::kTrailingData, "trailing_data", Severity::kWarning, "bytes follow the end of the JSON document"},
    {IssueKind::kDuplicateEventsArray, "duplicate_events_array", Severity::kWarning,
     "traceEvents occurs more than once; all were read"},
    {IssueKind::kEventsNotAnArray, "events_not_an_array", Severity::kWarning, "traceEvents is not an array"},
    {IssueKind::kMisnamedEvents, "misnamed_events", Severity::kWarning,
     "the events are under a key that is not quite traceEvents; they were read"},
    {IssueKind::kCompressedTruncated, "compressed_truncated", Severity::kDataLoss, "the compressed file is cut off"},
    {IssueKind::kCompressedChecksum, "compressed_checksum", Severity::kDataLoss,
     "the checksum of the compressed file is wrong"},
    {IssueKind::kCompressedCorrupt, "compressed_corrupt", Severity::kDataLoss, "the compressed file is damaged"},
    {IssueKind::kCompressedTrailing, "compressed_trailing", Severity::kInfo, "bytes follow the compressed data"},
    {IssueKind::kByteOrderMark, "byte_order_mark", Severity::kInfo, "the file starts with a byte order mark"},
    {IssueKind::kUtf16, "utf16", Severity::kInfo, "the file is UTF-16; offsets count the bytes of its UTF-8 form"},
    {IssueKind::kStrayComma, "stray_comma", Severity::kInfo, "a comma without an event"},
    {IssueKind::kNotAnObject, "not_an_object", Severity::kWarning, "an element of traceEvents is no object"},
    {IssueKind::kMalformedEvent, "malformed_event", Severity::kDataLoss, "an event that is no valid JSON, skipped"},
    {IssueKind::kStrayText, "stray_text", Severity::kDataLoss, "text between the events that is no event, skipped"},
    {IssueKind::kMissingComma, "missing_comma", Severity::kWarning, "two events without a comma between them"},
    {IssueKind::kDuplicateKey, "duplicate_key", Severity::kWarning,
     "a key twice in one event, or a column twice in a table: the last one counts"},
    {IssueKind::kRepairedText, "repaired_text", Severity::kWarning,
     "invalid characters in an event were replaced and the event kept"},
    {IssueKind::kOversizedEvent, "oversized_event", Severity::kDataLoss, "an event larger than the limit, skipped"},
    {IssueKind::kOversizedHeader, "oversized_header", Severity::kDataLoss,
     "a top-level value that is larger than 16 MB, or 32 MB with those before it, skipped"},
    {IssueKind::kMalformedHeader, "malformed_header", Severity::kDataLoss,
     "a top-level value that is no valid JSON, skipped up to the events"},
    {IssueKind::kMissingTimestamp, "missing_timestamp", Severity::kDataLoss, "an event without ts, skipped"},
    {IssueKind::kBadTimestamp, "bad_timestamp", Severity::kDataLoss,
     "an event whose ts is no number within 2^62 ns (146 years) of 0, skipped"},
    {IssueKind::kBadBaseTime, "bad_base_time", Severity::kWarning,
     "baseTimeNanoseconds is no usable number: base_time_ns is as the trace counts"},
    {IssueKind::kBadDuration, "bad_duration", Severity::kWarning,
     "a dur that is no number below 2^62 ns (146 years), stored as NULL"},
    {IssueKind::kNegativeDuration, "negative_duration", Severity::kWarning, "a negative dur, stored as NULL"},
    {IssueKind::kMissingDuration, "missing_duration", Severity::kWarning, "a slice without dur, stored as NULL"},
    {IssueKind::kMissingName, "missing_name", Severity::kWarning, "an event without a name, stored as ''"},
    {IssueKind::kBadNumber, "bad_number", Severity::kWarning,
     "an argument that should be an integer of up to 64 bits, but is not, stored as NULL"},
    {IssueKind::kUnsupportedPhase, "unsupported_phase", Severity::kDataLoss, "an event of a phase (ph) not supported"},
    {IssueKind::kEndWithoutBegin, "end_without_begin", Severity::kWarning, "an E, e or F event without its B, b or S"},
    {IssueKind::kBeginWithoutEnd, "begin_without_end", Severity::kWarning,
     "a B, b or S event never closed: dur is NULL"},
    {IssueKind::kReplacedCharacter, "replaced_character", Severity::kInfo,
     "NUL, a lone surrogate or invalid UTF-8 in a text, stored as U+FFFD"},
    {IssueKind::kUnknownDevice, "unknown_device", Severity::kInfo,
     "events ran on a device the trace does not describe"},
    {IssueKind::kUnmatchedFlow, "unmatched_flow", Severity::kInfo, "a flow end without a partner"},
    {IssueKind::kKernelWithoutLaunch, "kernel_without_launch", Severity::kInfo,
     "a kernel or memory operation whose launch is not in the trace"},
    {IssueKind::kAmbiguousLaunch, "ambiguous_launch", Severity::kWarning,
     "several processes launched under this correlation: left unlinked"},
    {IssueKind::kAmbiguousStep, "ambiguous_step", Severity::kInfo,
     "a step's annotation on the device that fits several steps: marks none"},
    {IssueKind::kLaunchAfterKernel, "launch_after_kernel", Severity::kWarning,
     "a kernel that starts before its launch: clocks disagree"},
    {IssueKind::kPythonParentMissing, "python_parent_missing", Severity::kInfo,
     "a python frame whose parent is not open at that time: placed by time, as all frames are"},
    {IssueKind::kFlowContradictsLaunch, "flow_contradicts_launch", Severity::kWarning,
     "a kernel or copy whose flow begins elsewhere than in the call that has its correlation"},
    {IssueKind::kKernelWithoutStep, "kernel_without_step", Severity::kInfo,
     "a kernel outside every step of a trace that has steps"},
    {IssueKind::kMalformedRow, "malformed_row", Severity::kDataLoss, "a row of a table that cannot be read, skipped"},
    {IssueKind::kRaggedRow, "ragged_row", Severity::kWarning,
     "a row with more or fewer cells than the head of its table: what is missing is NULL"},
    {IssueKind::kDamagedTable, "damaged_table", Severity::kDataLoss,
     "a table of a damaged database that could not be read to its end"},
    {IssueKind::kUnreadableTable, "unreadable_table", Severity::kDataLoss,
     "an object with the name of a profiler's table that is no table, or lacks a required column: not read"},
    {IssueKind::kMissingColumn, "missing_column", Severity::kInfo,
     "a column that the profiler's tables usually have is not there: NULL"},
};

}  // namespace

const IssueDescription& describe(IssueKind kind) {
  return *std::find_if(std::begin(kDescriptions), std::end(kDescriptions),
                       [kind](const IssueDescription& candidate) { return candidate.kind == kind; });
}

const IssueDescription* find_issue_kind(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kDescriptions), std::end(kDescriptions),
                                         [name](const IssueDescription& candidate) { return candidate.name == name; });
  return found == std::end(kDescriptions) ? nullptr : found;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kDataLoss:
      return "data_loss";
  }
  return "";
}

Issue& IssueLog::entry(IssueKind kind) {
  const auto before = [](const Issue& issue, IssueKind wanted) { return issue.kind < wanted; };
  const auto place = std::lower_bound(issues_.begin(), issues_.end(), kind, before);
  if (place != issues_.end() && place->kind == kind) return *place;
  return *issues_.insert(place, Issue{kind, 0, -1, {}});
}

void IssueLog::add(IssueKind kind, std::int64_t offset, std::string_view sample, std::uint64_t count) {
  if (count == 0) return;
  Issue& issue = entry(kind);
  const bool earlier = offset >= 0 && (issue.offset < 0 || offset < issue.offset);
  if (issue.count == 0 || earlier) {
    issue.offset = offset;
    issue.sample = issue_sample(sample);
  }
  issue.count += count;
}

void IssueLog::merge(const IssueLog& other) {
  for (const Issue& issue : other.issues_) add(issue.kind, issue.offset, issue.sample, issue.count);
}

std::uint64_t IssueLog::count(IssueKind kind) const {
  for (const Issue& issue : issues_) {
    if (issue.kind == kind) return issue.count;
  }
  return 0;
}

std::string issue_sample(std::string_view text) {
  std::string sample = valid_utf8(text.substr(0, kSampleBytes)).text;
  if (sample.size() <= kSampleBytes) return sample;
  // Replacement characters are longer than what they stand for: cut before the one that does not fit.
  std::size_t end = kSampleBytes;
  while (end > 0 && (static_cast<unsigned char>(sample[end]) & 0xC0U) == 0x80) --end;
  sample.resize(end);
  return sample;
}

}  // namespace tracedb
