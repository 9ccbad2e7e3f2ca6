#include "base/stream/csv_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tracedb {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kSpace = " \t\n\v\f\r";

constexpr std::array<bool, 256> make_ends() {
  std::array<bool, 256> ends{};
  for (const char c : {',', '\n', '\r'}) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}
constexpr std::array<bool, 256> kEndsField = make_ends();

// Of an unquoted field. There is a line end behind the bytes read.
const char* field_end(const char* at) {
  while (!kEndsField[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

std::string_view trim_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

CsvReader::CsvReader(ByteSource& source, const CsvOptions& options) : source_(source), options_(options) {
  options_.chunk = std::max<std::size_t>(options_.chunk, 16);
}

// Moves the unfinished record to the front and reads until the buffer is full.
void CsvReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + options_.chunk / 2 >= buffer_.size()) buffer_.resize(std::max(buffer_.size() * 2, options_.chunk));
  while (!at_end_ && end_ + 1 < buffer_.size()) {
    const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - 1 - end_);
    at_end_ = got == 0;
    end_ += got;
    if (got > 0) last_ = buffer_[end_ - 1];
  }
  buffer_[end_] = '\n';
}

void CsvReader::skip_byte_order_mark() {
  if (options_.byte_order_mark == ByteOrderMark::kKeep) return;
  if (between(buffer_.data(), end()).starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
}

bool CsvReader::next(CsvRecord& record) {
  if (!started_) {
    started_ = true;
    fill();
    skip_byte_order_mark();
  }
  if (begin_ == end_) fill();
  if (begin_ == end_) return false;
  record.offset = offset_ + begin_;
  Scan scan = read_record(Quotes::kCount);
  record.broken = scan == Scan::kUnclosed;
  if (scan == Scan::kUnclosed) scan = read_record(Quotes::kAreText);
  if (scan == Scan::kUnclosed) skip_line();
  for (const auto& [field, start] : kept_) fields_[field] = {text_.data() + start, fields_[field].size()};
  record.fields = fields_;
  record.line = line_;
  line_ += 1 + lines_;
  begin_ = next_;
  return true;
}

CsvReader::Scan CsvReader::read_record(Quotes quotes) {
  const bool bounded = options_.unclosed_quote == UnclosedQuote::kIsText;
  for (;; fill()) {
    const Scan scan = scan_record(quotes);
    const std::size_t seen = (scan == Scan::kDone ? next_ : end_) - begin_;
    if (bounded && seen > options_.longest_record) return Scan::kUnclosed;
    if (scan != Scan::kNeedMore) return scan;
  }
}

// Past a line too long to be a record, without keeping it.
void CsvReader::skip_line() {
  fields_.clear();
  kept_.clear();
  lines_ = 0;
  for (;; fill()) {
    const char* const at = std::find_if(static_cast<const char*>(buffer_.data()) + begin_, end(),
                                        [](char c) { return c == '\n' || c == '\r'; });
    begin_ = static_cast<std::size_t>(at - buffer_.data());
    if (end_record(at) == Scan::kDone) return;
  }
}

CsvReader::Scan CsvReader::scan_record(Quotes quotes) {
  fields_.clear();
  kept_.clear();
  text_.clear();
  lines_ = 0;
  const char* at = buffer_.data() + begin_;
  if (at < end() && (*at == '\n' || *at == '\r')) return end_record(at);
  for (;; ++at) {
    if (*at == '"' && quotes == Quotes::kCount) {
      if (const Scan scan = scan_quoted(at); scan != Scan::kDone) return scan;
    } else {
      const char* const begin = at;
      at = field_end(at);
      fields_.push_back(between(begin, at));
    }
    if (*at != ',') return end_record(at);
  }
}

// `at`: the line end, perhaps the one behind the bytes read.
CsvReader::Scan CsvReader::end_record(const char* at) {
  if (at < end()) {
    const bool may_be_pair = *at++ == '\r';
    if (may_be_pair && at >= end() && !at_end_) return Scan::kNeedMore;
    if (may_be_pair && at < end() && *at == '\n') ++at;
  } else if (!at_end_) {
    return Scan::kNeedMore;
  }
  next_ = static_cast<std::size_t>(at - buffer_.data());
  return Scan::kDone;
}

CsvReader::Scan CsvReader::no_closing_quote(const char*& at) const {
  if (!at_end_) return Scan::kNeedMore;
  if (options_.unclosed_quote == UnclosedQuote::kIsText) return Scan::kUnclosed;
  at = end();
  return Scan::kDone;
}

// The last field is that of text_ from `start` on.
void CsvReader::keep_text(std::size_t start) {
  kept_.emplace_back(fields_.size(), start);
  fields_.push_back(std::string_view(text_).substr(start));
}

// `at`: an opening quote; afterwards what ends the field.
CsvReader::Scan CsvReader::scan_quoted(const char*& at) {
  const std::size_t start = text_.size();
  const char* const begin = ++at;
  bool one_piece = true;
  for (const char* piece = begin;; piece = at) {
    const auto* quote = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end() - at)));
    if (quote == nullptr) {
      if (const Scan scan = no_closing_quote(at); scan != Scan::kDone) return scan;
      quote = at;
    }
    lines_ += static_cast<std::uint64_t>(std::count(piece, quote, '\n'));
    if (quote == end()) {  // of a quote that ends with the file
      text_.append(piece, quote);
      break;
    }
    at = quote + 1;
    if (at >= end() && !at_end_) return Scan::kNeedMore;  // perhaps one of two
    if (at < end() && *at == '"') {
      one_piece = false;
      text_.append(piece, ++at - 1);
      continue;
    }
    const char* const tail = at;
    at = field_end(at);
    if (one_piece && tail == at) {
      fields_.push_back(between(begin, quote));
      return Scan::kDone;
    }
    text_.append(piece, quote).append(tail, at);
    break;
  }
  keep_text(start);
  return Scan::kDone;
}

CsvHeader::CsvHeader(std::span<const std::string_view> names) {
  for (const std::string_view name : names) names_.emplace_back(trim_space(name));
}

std::optional<std::size_t> CsvHeader::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(names_.rbegin(), names_.rend(), name);
    if (found != names_.rend()) return static_cast<std::size_t>(names_.rend() - found) - 1;
  }
  return std::nullopt;
}

std::vector<std::string> CsvHeader::repeated() const {
  std::vector<std::string> sorted = names_, out;
  std::ranges::sort(sorted);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!sorted[i].empty() && sorted[i] == sorted[i - 1] && (out.empty() || out.back() != sorted[i]))
      out.push_back(sorted[i]);
  }
  return out;
}

}  // namespace tracedb
