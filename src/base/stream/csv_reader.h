// Records of a CSV file, read front to back in chunks: fields separated by commas, lines ended by LF, CR or CRLF,
// quotes by RFC 4180 ("" inside quotes is one; separators and line ends inside quotes are text). As spreadsheets and
// Python's csv module do, text after a closing quote belongs to the field, and a quote inside an unquoted field is a
// character.
//
// Memory: one chunk, or the largest record. One thread at a time. Throws what the source throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stream/byte_source.h"

namespace tracedb {

// Without white space (blank, TAB, LF, VT, FF, CR) at both ends. Profilers write a TAB behind large numbers.
std::string_view trim_space(std::string_view text);

struct CsvRecord {
  std::span<const std::string_view> fields;  // without quotes; none: an empty line. Valid until the next record is read
  std::uint64_t offset = 0;                  // of its first byte among those that the source delivered
  std::uint64_t line = 0;                    // of its first byte, from 1
  // An opening quote has no closing one, and the fields are those of the line alone, its quotes taken as characters;
  // none where the line is longer than CsvOptions::longest_record. The records after it are read as usual.
  bool broken = false;

  // nullopt: the record has fewer fields.
  [[nodiscard]] std::optional<std::string_view> field(std::size_t column) const {
    return column < fields.size() ? std::optional(fields[column]) : std::nullopt;
  }
};

enum class ByteOrderMark { kSkip, kKeep };
enum class UnclosedQuote {
  kIsText,        // see CsvRecord::broken
  kEndsWithFile,  // as Python has it: the field goes on to the end of the file
};

struct CsvOptions {
  ByteOrderMark byte_order_mark = ByteOrderMark::kSkip;
  UnclosedQuote unclosed_quote = UnclosedQuote::kIsText;
  // With kIsText, a record longer than this is taken to lack a closing quote, and a line longer than this is skipped:
  // no file makes the reader hold much more.
  std::size_t longest_record = std::size_t{4} << 20;
  std::size_t chunk = std::size_t{1} << 20;  // bytes asked of the source at once
};

class CsvReader {
 public:
  // `source` must outlive the reader.
  explicit CsvReader(ByteSource& source, const CsvOptions& options = {});

  // False at the end.
  bool next(CsvRecord& record);

  [[nodiscard]] std::uint64_t bytes() const { return offset_ + end_; }  // that were read
  // Whether a line's end is the last of them: a file that is cut off does not end with one.
  [[nodiscard]] bool ends_a_line() const { return last_ == '\n' || last_ == '\r'; }

 private:
  enum class Scan { kDone, kNeedMore, kUnclosed };
  enum class Quotes { kCount, kAreText };

  Scan read_record(Quotes quotes);
  Scan scan_record(Quotes quotes);
  Scan scan_quoted(const char*& at);
  Scan end_record(const char* at);
  Scan no_closing_quote(const char*& at) const;
  void keep_text(std::size_t start);
  void skip_line();
  [[nodiscard]] const char* end() const { return buffer_.data() + end_; }
  void fill();
  void skip_byte_order_mark();

  ByteSource& source_;
  CsvOptions options_;
  std::vector<char> buffer_;  // its last byte is kept for a line end, which stops every scan
  std::size_t begin_ = 0;     // of the record
  std::size_t end_ = 0;       // of what was read
  std::uint64_t offset_ = 0;  // of buffer_[0]
  char last_ = '\n';          // byte that was read
  std::uint64_t line_ = 1;    // of the record
  std::uint64_t lines_ = 0;   // line ends inside its quotes
  std::size_t next_ = 0;      // where the next one begins
  bool at_end_ = false;
  bool started_ = false;
  std::vector<std::string_view> fields_;
  std::string text_;                                       // of fields that are not one piece of the buffer
  std::vector<std::pair<std::size_t, std::size_t>> kept_;  // their numbers, and where they begin in text_
};

// Where the columns of a header are: by name, without white space around it; of a name that occurs twice, the last.
class CsvHeader {
 public:
  CsvHeader() = default;
  explicit CsvHeader(std::span<const std::string_view> names);

  // Of the first of `names` that there is; nullopt where there is none.
  [[nodiscard]] std::optional<std::size_t> find(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Names that several columns have; find() gives the last of these.
  [[nodiscard]] std::vector<std::string> repeated() const;

 private:
  std::vector<std::string> names_;
};

}  // namespace tracedb
