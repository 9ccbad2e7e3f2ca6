#include "base/python/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/python/failure.h"
#include "base/text/utf8.h"

namespace tracedb::python {
namespace {

// Digits without a point, and the decimal exponent of the first.
struct Shortest {
  std::string digits;
  int exponent;
};

Shortest shortest(double number) {
  std::array<char, 40> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t mark = text.find('e');
  Shortest out{std::string(text.substr(0, mark)), 0};
  std::erase(out.digits, '.');
  const std::string_view exponent = text.substr(mark + (text[mark + 1] == '+' ? 2 : 1));
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
  return out;
}

std::string positional(const Shortest& number) {
  const auto zeros = [](std::size_t count) { return std::string(count, '0'); };
  if (number.exponent < 0) return "0." + zeros(static_cast<std::size_t>(-1 - number.exponent)) + number.digits;
  const std::size_t whole = static_cast<std::size_t>(number.exponent) + 1;
  if (number.digits.size() <= whole) return number.digits + zeros(whole - number.digits.size()) + ".0";
  return number.digits.substr(0, whole) + "." + number.digits.substr(whole);
}

std::string scientific(const Shortest& number) {
  std::string out = number.digits.substr(0, 1);
  if (number.digits.size() > 1) out += "." + number.digits.substr(1);
  return out + fmt::format("e{}{:02}", number.exponent < 0 ? '-' : '+', std::abs(number.exponent));
}

bool is_printable(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD) return false;
  if (c >= 0xD800 && c < 0xF900) return false;         // surrogates, private use
  if (c >= 0x2000 && c <= 0x200F) return c == 0x2010;  // spaces and marks of direction
  if ((c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F)) return false;
  return c != 0x3000 && c != 0xFEFF && c != 0x1680 && c != 0x61C && c < 0xE0000;
}

std::string repr_escape(char32_t c) {
  if (c == '\t') return "\\t";
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  const auto number = static_cast<std::uint32_t>(c);
  if (c < 0x100) return fmt::format("\\x{:02x}", number);
  return c < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

std::string_view type_of(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "FileNotFoundError";
    case EACCES:
    case EPERM:
      return "PermissionError";
    case EISDIR:
      return "IsADirectoryError";
    case ENOTDIR:
      return "NotADirectoryError";
    case EEXIST:
      return "FileExistsError";
    case EINTR:
      return "InterruptedError";
    default:
      return "OSError";
  }
}

// The bytes of a sequence that is broken at its start, and what is said about it.
struct Broken {
  std::size_t length;
  std::string_view reason;
};

bool fits_after(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0 && second < 0xC0;
  if (lead == 0xED) return second >= 0x80 && second < 0xA0;
  if (lead == 0xF0) return second >= 0x90 && second < 0xC0;
  if (lead == 0xF4) return second >= 0x80 && second < 0x90;
  return (second & 0xC0U) == 0x80;
}

Broken broken_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return {1, "invalid start byte"};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {i, "unexpected end of data"};
    const bool fits = i == 1 ? fits_after(lead, byte(1)) : (byte(i) & 0xC0U) == 0x80;
    if (!fits) return {i, "invalid continuation byte"};
  }
  return {1, "invalid start byte"};
}

void check_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = utf8_sequence_length(text.substr(at));
    if (length == 0) {
      const Broken broken = broken_sequence(text.substr(at));
      const std::string where =
          broken.length == 1 ? fmt::format("byte {:#04x} in position {}", static_cast<unsigned char>(text[at]), at)
                             : fmt::format("bytes in position {}-{}", at, at + broken.length - 1);
      throw failure("UnicodeDecodeError", fmt::format("'utf-8' codec can't decode {}: {}", where, broken.reason));
    }
    at += length;
  }
}

std::string with_plain_line_ends(std::string text) {
  if (text.find('\r') == std::string::npos) return text;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  const std::string sign = std::signbit(number) ? "-" : "";
  if (std::isinf(number)) return sign + "inf";
  if (number == 0) return sign + "0.0";
  const Shortest text = shortest(std::fabs(number));
  constexpr int kLeast = -4, kMost = 16;  // exponents that are written out
  return sign + (text.exponent >= kLeast && text.exponent < kMost ? positional(text) : scientific(text));
}

std::string repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c == static_cast<char32_t>(quote) || c == '\\') out += '\\';
    if (is_printable(c)) {
      out += text.substr(begin, at - begin);
    } else {
      out += repr_escape(c);
    }
  }
  return out + quote;
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  constexpr std::array<unsigned char, 5> kMask = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t out = lead & kMask[length];
  for (std::size_t i = 1; i < length; ++i) out = (out << 6U) | (byte(at + i) & 0x3FU);
  at = std::min(at + length, text.size());
  return out;
}

void append_code_point(std::string& out, char32_t code_point) {
  if (code_point < 0xD800 || code_point >= 0xE000) return append_utf8(out, code_point);
  out += static_cast<char>(0xE0U | (code_point >> 12U));
  out += static_cast<char>(0x80U | ((code_point >> 6U) & 0x3FU));
  out += static_cast<char>(0x80U | (code_point & 0x3FU));
}

void throw_os_error(int error_number, std::string_view path) {
  throw failure(type_of(error_number),
                fmt::format("[Errno {}] {}: {}", error_number, std::strerror(error_number), repr(path)));
}

void throw_os_error(int error_number) {
  throw failure(type_of(error_number), fmt::format("[Errno {}] {}", error_number, std::strerror(error_number)));
}

std::string read_text(const std::filesystem::path& path) {
  const Descriptor file(path);
  if (file.number() < 0) throw_os_error(errno, path.native());
  struct stat info {};
  if (::fstat(file.number(), &info) == 0 && S_ISDIR(info.st_mode)) throw_os_error(EISDIR, path.native());
  std::string text;
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  for (ssize_t got = 1; got > 0;) {
    const std::size_t before = text.size();
    text.resize(std::max(before + kBlock, static_cast<std::size_t>(info.st_size) + 1));
    got = ::read(file.number(), text.data() + before, text.size() - before);
    if (got < 0 && errno != EINTR) throw_os_error(errno);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) got = 1;
  }
  check_utf8(text);
  return with_plain_line_ends(std::move(text));
}

}  // namespace tracedb::python
