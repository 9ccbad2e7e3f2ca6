#include "export/trace_events.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/unknown.h"
#include "report/escape.h"

namespace tracedb {
namespace {

constexpr std::size_t kWriteSize = std::size_t{1} << 20U;
constexpr std::string_view kFlowCategory = "ac2g";  // Kineto's, from the CPU to the GPU

}  // namespace

TraceEventWriter::TraceEventWriter(std::ostream& out, const JsonWriter& members) : out_(out) {
  text_ = fmt::format("{{{}{}\"traceEvents\":[", members.str(), members.str().empty() ? "" : ",\n");
}

void TraceEventWriter::begin(char ph, const EventTrack& track, std::string_view category, std::string_view name) {
  if (text_.size() >= kWriteSize) {
    out_ << text_;
    text_.clear();
  }
  text_ += any_ ? ",\n" : "\n";
  any_ = true;
  text_ += fmt::format("{{\"ph\":\"{}\"", ph);
  if (!category.empty()) text_.append(",\"cat\":\"").append(escape_json(category)).append("\"");
  text_.append(",\"name\":\"").append(escape_json(name)).append("\"");
  text_ += fmt::format(",\"pid\":{},\"tid\":{}", track.process, track.thread);
}

void TraceEventWriter::time(std::string_view key, std::int64_t ns) {
  constexpr std::int64_t kPerMicrosecond = 1000;
  const std::int64_t rest = std::abs(ns % kPerMicrosecond);
  const std::string_view sign = ns < 0 ? "-" : "";
  text_ += fmt::format(",\"{}\":{}{}.{:03}", key, sign, std::abs(ns / kPerMicrosecond), rest);
}

void TraceEventWriter::end(const JsonWriter& args) {
  if (!args.str().empty()) text_.append(",\"args\":{").append(args.str()).append("}");
  text_ += '}';
}

void TraceEventWriter::event(char ph, const TraceSlice& event, const JsonWriter& args) {
  begin(ph, event.track, event.category, event.name);
  time("ts", event.ts);
  if (ph == 'X' && event.dur != kUnknownValue) time("dur", event.dur);
  if (ph == 'i') text_ += ",\"s\":\"t\"";
  end(args);
}

void TraceEventWriter::flow(char ph, const EventTrack& track, std::int64_t ts, std::int64_t id) {
  begin(ph, track, kFlowCategory, kFlowCategory);
  time("ts", ts);
  text_ += fmt::format(",\"id\":{}", id);
  if (ph == 'f') text_ += ",\"bp\":\"e\"";  // bound to the slice that begins or is open there
  end({});
}

void TraceEventWriter::metadata(std::string_view kind, const EventTrack& track, const JsonWriter& args) {
  begin('M', track, {}, kind);
  end(args);
}

void TraceEventWriter::finish() {
  out_ << text_ << "\n]}\n";
  text_.clear();
}

void add_number(JsonWriter& args, std::string_view key, const Statement& row, int column) {
  if (row.is_null(column)) return;
  if (row.type(column) == ValueType::kInteger) {
    args.member(key, row.int64(column));
    return;
  }
  const std::string_view text = row.text(column);
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos &&
                         (digits.size() == 1 || digits.front() != '0');
  is_number ? args.key(key).json(text) : args.member(key, text);
}

void add_real(JsonWriter& args, std::string_view key, const Statement& row, int column) {
  if (!row.is_null(column) && std::isfinite(row.real(column))) args.member(key, row.real(column));
}

void add_text(JsonWriter& args, std::string_view key, const Statement& row, int column) {
  if (!row.is_null(column)) args.member(key, row.text(column));
}

void add_json(JsonWriter& args, std::string_view key, const Statement& row, int column) {
  if (!row.is_null(column)) args.key(key).json(row.text(column));
}

void add_triple(JsonWriter& args, std::string_view key, const Statement& row, int first_column) {
  std::string list;
  for (int i = 0; i < 3 && !row.is_null(first_column + i); ++i) {
    list += (i == 0 ? "" : ",") + std::to_string(row.int64(first_column + i));
  }
  if (!list.empty()) args.key(key).json("[" + list + "]");
}

}  // namespace tracedb
