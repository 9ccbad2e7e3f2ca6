// Problems of a trace: bad input is data, not failure. Issues are counted by kind, with the first place where they
// occurred and a sample, and are stored in the table `issue`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/sentence.h"

namespace tracedb {

enum class IssueKind {
  kNoEvents,
  kNoDeviceEvents,
  kForeignFormat,  // of a program whose device events are not read
  kTruncated,
  kLeadingData,
  kTrailingData,
  kDuplicateEventsArray,
  kEventsNotAnArray,
  kMisnamedEvents,
  kCompressedTruncated,
  kCompressedChecksum,
  kCompressedCorrupt,
  kCompressedTrailing,
  kByteOrderMark,
  kUtf16,
  kStrayComma,
  kNotAnObject,
  kMalformedEvent,
  kStrayText,
  kMissingComma,
  kDuplicateKey,
  kRepairedText,
  kOversizedEvent,
  kOversizedHeader,
  kMalformedHeader,
  kMissingTimestamp,
  kBadTimestamp,
  kBadBaseTime,
  kBadDuration,
  kNegativeDuration,
  kMissingDuration,
  kMissingName,
  kBadNumber,
  kMalformedRow,
  kRaggedRow,
  kDamagedTable,
  kUnreadableTable,
  kOversizedTable,
  kMissingColumn,
  kUnsupportedPhase,
  kEndWithoutBegin,
  kBeginWithoutEnd,
  kOpenRange,
  kReplacedCharacter,
  kUnknownDevice,
  kUnmatchedFlow,
  kKernelWithoutLaunch,
  kAmbiguousLaunch,
  kAmbiguousStep,
  kLaunchAfterKernel,
  kPythonParentMissing,
  kFlowContradictsLaunch,
  kKernelWithoutStep,
  kKernelWithoutHlo,
  kUnnamedKernel,
  kWholeGraph,
  kUnknownTask,
  kImpossibleConfig,
  kBackwardArrow,
  kAllocatedTwice,
  kEventLimit,
  kDroppedEvents,
  kProfilerMessage,
};

enum class Severity { kInfo, kWarning, kDataLoss };

struct IssueDescription {
  IssueKind kind;
  std::string_view name;  // as stored in issue.kind
  Severity severity;
  std::string_view sentence;  // a template (base/text/sentence.h) with {n}, the count
};

const IssueDescription& describe(IssueKind kind);
// "12 kernels start before their launches: clocks disagree".
Sentence issue_sentence(IssueKind kind, std::uint64_t count);
const IssueDescription* find_issue_kind(std::string_view name);  // nullptr: none of ours
std::string_view to_string(Severity severity);
// Of a trace without device events: the sample is a sentence, with what the trace is instead and what to record.
inline bool says_what_to_record(IssueKind kind) {
  return kind == IssueKind::kNoEvents || kind == IssueKind::kNoDeviceEvents || kind == IssueKind::kForeignFormat;
}

// Whether a message that a profiler left says that it lost events ("Not all CUDA events might have been collected").
bool tells_of_loss(std::string_view message);

struct Issue {
  IssueKind kind{};
  std::uint64_t count = 0;
  std::int64_t offset = -1;  // first byte in the decompressed trace; -1: not tied to a place
  std::string sample;        // at most 200 bytes of valid UTF-8 without NUL
};

// Counts issues by kind; keeps the earliest offset with its sample. Merging logs in file order gives the same result
// however the file was divided: the order of issues() is that of the kinds, not that of their appearance.
class IssueLog {
 public:
  void add(IssueKind kind, std::int64_t offset, std::string_view sample, std::uint64_t count = 1);
  void merge(const IssueLog& other);
  void clear() { issues_.clear(); }
  [[nodiscard]] const std::vector<Issue>& issues() const { return issues_; }
  [[nodiscard]] std::uint64_t count(IssueKind kind) const;

 private:
  Issue& entry(IssueKind kind);
  std::vector<Issue> issues_;
};

// The first 200 bytes of `text` as valid UTF-8: broken sequences and NUL become U+FFFD.
std::string issue_sample(std::string_view text);

}  // namespace tracedb
