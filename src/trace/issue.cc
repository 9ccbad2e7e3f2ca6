#include "trace/issue.h"

#include <algorithm>
#include <span>

#include "base/text/characters.h"
#include "base/text/regular_expression.h"

namespace tracedb {
namespace {

constexpr std::size_t kSampleBytes = 200;

std::span<const IssueDescription> descriptions() {
  using enum IssueKind;
  using enum Severity;
  static constexpr IssueDescription kAll[] = {
      {kNoEvents, "no_events", kWarning, "the trace holds 0 events"},
      {kNoDeviceEvents, "no_device_events", kWarning, "the trace holds 0 kernels, copies and fills"},
      {kForeignFormat, "foreign_format", kDataLoss, "the trace holds 0 kernels, copies and fills that are read here"},
      {kTruncated, "truncated", kDataLoss, "the trace ends in the middle, in {n:# place}"},
      {kLeadingData, "leading_data", kDataLoss,
       "{n:# piece of text before the trace is|pieces of text before the trace are} no JSON, skipped up to the events"},
      {kTrailingData, "trailing_data", kWarning,
       "{n:# piece of text follows|pieces of text follow} the end of the JSON document"},
      {kDuplicateEventsArray, "duplicate_events_array", kWarning,
       "{n:# more traceEvents follows|more traceEvents follow} the first one; all were read"},
      {kEventsNotAnArray, "events_not_an_array", kWarning, "{n:# traceEvents is|traceEvents are} no array"},
      {kMisnamedEvents, "misnamed_events", kWarning,
       "{n:# list of events is|lists of events are} under a key that is not quite traceEvents, and read"},
      {kCompressedTruncated, "compressed_truncated", kDataLoss, "the compressed file is cut off, in {n:# place}"},
      {kCompressedChecksum, "compressed_checksum", kDataLoss,
       "{n:# checksum of the compressed file is|checksums of the compressed file are} wrong"},
      {kCompressedCorrupt, "compressed_corrupt", kDataLoss, "the compressed file is damaged, in {n:# place}"},
      {kCompressedTrailing, "compressed_trailing", kInfo,
       "{n:# piece of data follows|pieces of data follow} the compressed data"},
      {kByteOrderMark, "byte_order_mark", kInfo, "the file starts with {n:# byte order mark}"},
      {kUtf16, "utf16", kInfo, "{n:# file is|files are} UTF-16; offsets count the bytes of the UTF-8 form"},
      {kStrayComma, "stray_comma", kInfo, "{n:# comma stands|commas stand} without an event"},
      {kNotAnObject, "not_an_object", kWarning,
       "{n:# element of traceEvents is no object|elements of traceEvents are no objects}"},
      {kMalformedEvent, "malformed_event", kDataLoss, "{n:# event is|events are} no valid JSON, skipped"},
      {kStrayText, "stray_text", kDataLoss,
       "{n:# piece of text between the events is|pieces of text between the events are} no event, skipped"},
      {kMissingComma, "missing_comma", kWarning,
       "{n:# event follows|events follow} another without a comma between them"},
      {kDuplicateKey, "duplicate_key", kWarning,
       "{n:# key or column occurs|keys or columns occur} twice in one event or table: the last one counts"},
      {kRepairedText, "repaired_text", kWarning, "{n:# event has|events have} invalid characters, which were replaced"},
      {kOversizedEvent, "oversized_event", kDataLoss, "{n:# event is|events are} larger than the limit, skipped"},
      {kOversizedHeader, "oversized_header", kDataLoss,
       "{n:# top-level value is|top-level values are} larger than 16 MB, or 32 MB with those before, skipped"},
      {kMalformedHeader, "malformed_header", kDataLoss,
       "{n:# top-level value is|top-level values are} no valid JSON or hold events, skipped up to the events"},
      {kMissingTimestamp, "missing_timestamp", kDataLoss, "{n:# event has|events have} no ts, skipped"},
      {kBadTimestamp, "bad_timestamp", kDataLoss,
       "{n:# event has|events have} a ts that is no number within 2^62 ns (146 years) of 0, skipped"},
      {kBadBaseTime, "bad_base_time", kWarning,
       "{n:# baseTimeNanoseconds is|baseTimeNanoseconds are} no usable number: base_time_ns is as the trace counts"},
      {kBadDuration, "bad_duration", kWarning,
       "{n:# event has|events have} a dur that is no number below 2^62 ns (146 years), stored as NULL"},
      {kNegativeDuration, "negative_duration", kWarning, "{n:# event has|events have} a negative dur, stored as NULL"},
      {kMissingDuration, "missing_duration", kWarning, "{n:# slice has|slices have} no dur, stored as NULL"},
      {kMissingName, "missing_name", kWarning, "{n:# event has|events have} no name, stored as ''"},
      {kBadNumber, "bad_number", kWarning,
       "{n:# argument is no integer of up to 64 bits, or a negative number of bytes|arguments are no integers of up to "
       "64 "
       "bits, or negative numbers of bytes}, stored as NULL"},
      {kUnsupportedPhase, "unsupported_phase", kDataLoss,
       "{n:# event has|events have} a phase (ph) that is not supported, skipped"},
      {kEndWithoutBegin, "end_without_begin", kWarning, "{n:# E, e or F event has|E, e or F events have} no B, b or S"},
      {kBeginWithoutEnd, "begin_without_end", kWarning,
       "{n:# B, b or S event is|B, b or S events are} never closed: dur is NULL"},
      {kOpenRange, "open_range", kInfo,
       "the recording ends in {n:# open range, which ends|open ranges, which end} with the last of its events"},
      {kReplacedCharacter, "replaced_character", kInfo,
       "{n:# character (NUL, a lone surrogate, invalid UTF-8) is|characters (NUL, lone surrogates, invalid UTF-8) are} "
       "stored as U+FFFD"},
      {kUnknownDevice, "unknown_device", kInfo, "events ran on {n:# device} that the trace does not describe"},
      {kUnmatchedFlow, "unmatched_flow", kInfo, "{n:# end of a flow has|ends of flows have} no partner"},
      {kKernelWithoutLaunch, "kernel_without_launch", kInfo,
       "the launch of {n:# kernel or copy|kernels and copies} is not in the trace"},
      {kAmbiguousLaunch, "ambiguous_launch", kWarning,
       "{n:# kernel or copy has|kernels and copies have} a correlation under which several processes launched: left "
       "unlinked"},
      {kAmbiguousStep, "ambiguous_step", kInfo,
       "{n:# mark of a step on the device fits|marks of steps on the device fit} several steps, and count for none"},
      {kLaunchAfterKernel, "launch_after_kernel", kWarning,
       "{n:# kernel starts before its launch|kernels start before their launches}: clocks disagree"},
      {kPythonParentMissing, "python_parent_missing", kInfo,
       "the parent of {n:# python frame} is not open at that time: placed by time, as all frames are"},
      {kFlowContradictsLaunch, "flow_contradicts_launch", kWarning,
       "the flow of {n:# kernel or copy|kernels and copies} begins elsewhere than in the call that has the "
       "correlation"},
      {kKernelWithoutStep, "kernel_without_step", kInfo,
       "{n:# kernel is|kernels are} outside every step of a trace that has steps"},
      {kKernelWithoutHlo, "kernel_without_hlo", kInfo,
       "{n:# kernel names|kernels name} no HLO operation: a captured graph, or a library, launches them"},
      {kUnnamedKernel, "unnamed_kernel", kWarning,
       "the trace does not record what {n:# kernel computes: named by its type of task|kernels compute: named by their "
       "types of task}"},
      {kWholeGraph, "whole_graph", kWarning,
       "{n:# replay of a graph is one kernel, its own|replays of graphs are one kernel each, their own} kernels were "
       "not "
       "recorded: nsys profile --cuda-graph-trace=node does"},
      {kUnknownTask, "unknown_task", kWarning,
       "{n:# task of a device is|tasks of devices are} of a type that is not known: slices, whatever they do"},
      {kImpossibleConfig, "impossible_config", kInfo,
       "{n:# launch configuration has|launch configurations have} numbers that no device allows, stored as NULL"},
      {kBackwardArrow, "backward_arrow", kWarning,
       "{n:# arrow between threads ends|arrows between threads end} before the start, left aside"},
      {kAllocatedTwice, "allocated_twice", kWarning,
       "{n:# allocation has|allocations have} the address of another that the trace does not free, which ends there"},
      {kEventLimit, "event_limit", kDataLoss,
       "the trace stops at a million events, in {n:# place}: XLA writes no more into this form"},
      {kDroppedEvents, "dropped_events", kDataLoss, "the profiler says in {n:# message} that it dropped events"},
      {kProfilerMessage, "profiler_message", kWarning, "the profiler left {n:# message|messages}"},
      {kMalformedRow, "malformed_row", kDataLoss, "{n:# row of a table cannot|rows of tables cannot} be read, skipped"},
      {kRaggedRow, "ragged_row", kWarning,
       "{n:# row has|rows have} more or fewer cells than the head of the table: what is missing is NULL"},
      {kDamagedTable, "damaged_table", kDataLoss,
       "{n:# table of a damaged database|tables of a damaged database} could not be read to the end"},
      {kUnreadableTable, "unreadable_table", kDataLoss,
       "{n:# object has|objects have} the name of a profiler's table, but not its form or a required column: not read"},
      {kOversizedTable, "oversized_table", kDataLoss,
       "{n:# text of a database was|texts of a database were} left out: together they are larger than its file"},
      {kMissingColumn, "missing_column", kInfo,
       "{n:# column that the profiler's tables usually have is|columns that the profiler's tables usually have are} "
       "not there: NULL"},
  };
  return kAll;
}

}  // namespace

const IssueDescription& describe(IssueKind kind) {
  const auto all = descriptions();
  return *std::ranges::find_if(all, [kind](const IssueDescription& one) { return one.kind == kind; });
}

const IssueDescription* find_issue_kind(std::string_view name) {
  const auto all = descriptions();
  const auto found = std::ranges::find_if(all, [name](const IssueDescription& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Sentence issue_sentence(IssueKind kind, std::uint64_t count) {
  const IssueDescription& of = describe(kind);
  const std::string id = "issue." + std::string(of.name);
  if (of.sentence.find('{') == std::string_view::npos) return say(id, of.sentence);
  return say(id, of.sentence, {{"n", count}});
}

std::string_view to_string(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "data_loss"};
  return kNames[static_cast<std::size_t>(severity)];
}

Issue& IssueLog::entry(IssueKind kind) {
  const auto place = std::ranges::lower_bound(issues_, kind, {}, &Issue::kind);
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
  const auto found = std::ranges::find(issues_, kind, &Issue::kind);
  return found == issues_.end() ? 0 : found->count;
}

bool tells_of_loss(std::string_view message) {
  static const RegularExpression kWhat("(?i)\\b(events?|records?|activit(y|ies)|samples?|buffers?)\\b"),
      kLost("(?i)\\b(drop(s|ped|ping)?|lost|discard(s|ed|ing)?|overflow|full)\\b"),
      kNone("(?i)\\b(no|0|without)( \\w+){0,3} (drop|lost|discard)|\\b(dropped|lost|discarded) (0|no)\\b"),
      kOther("(?i)not all .*collected|exceeded max");
  return (kWhat.is_in(message) && kLost.is_in(message) && !kNone.is_in(message)) || kOther.is_in(message);
}

std::string issue_sample(std::string_view text) {
  std::string sample = storable_utf8(text.substr(0, kSampleBytes)).text;
  if (sample.size() <= kSampleBytes) return sample;
  // Replacement characters are longer than what they stand for: cut before the one that does not fit.
  std::size_t end = kSampleBytes;
  while (end > 0 && (static_cast<unsigned char>(sample[end]) & 0xC0U) == 0x80) --end;
  sample.resize(end);
  return sample;
}

}  // namespace tracedb
