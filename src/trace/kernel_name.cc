#include "trace/kernel_name.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/text/characters.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

// Which brackets are open. A '>' closes only what a '<' opened last: "(8)>(0)" compares, "->" is an arrow.
class Brackets {
 public:
  void feed(std::string_view text, std::size_t i) {
    switch (text[i]) {
      case '(':
      case '{':
        ++(text[i] == '(' ? parentheses_ : braces_);
        open_ += text[i];
        break;
      case '<':
        open_ += text[i];
        break;
      case '>':
        if (!open_.empty() && open_.back() == '<' && text[i - 1] != '-') open_.pop_back();
        break;
      case ')':
        close('(');
        break;
      case '}':
        close('{');
        break;
      default:
        break;
    }
  }

  [[nodiscard]] std::size_t depth() const { return open_.size(); }

 private:
  // Also closes what was left open inside. The counters keep this linear in all where nothing is open.
  void close(char opener) {
    while (!open_.empty() && (opener == '(' ? parentheses_ : braces_) > 0) {
      const char last = open_.back();
      open_.pop_back();
      if (last == '(') --parentheses_;
      if (last == '{') --braces_;
      if (last == opener) return;
    }
  }

  std::string open_;
  std::size_t parentheses_ = 0;
  std::size_t braces_ = 0;
};

// Most of a name is none of these.
constexpr std::array<bool, 256> kCuts = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("(){}<>,")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  void split(KernelName& name) {
    name.path.clear();
    name.arguments = {};
    name.argument_list.clear();
    for (at_ = std::min(text_.find_first_not_of(" &"), text_.size()); at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '<') {
        drop_return_type(name);
        read_arguments(name);
      } else if (c == '(') {
        drop_return_type(name);
        if (text_.substr(at_).starts_with(kAnonymous)) {
          at_ += kAnonymous.size();
          continue;
        }
        skip_brackets();
        if (!text_.substr(at_).starts_with("::")) break;
      } else {
        if (c == ' ') behind_blank_ = name.path.size() + 1;
        const std::size_t begin = at_++;
        while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '<' && text_[at_] != '(') ++at_;
        name.path += text_.substr(begin, at_ - begin);
      }
    }
    name.path.erase(name.path.find_last_not_of(' ') + 1);
  }

 private:
  // What stands before a blank that brackets follow is a return type, with its own arguments.
  void drop_return_type(KernelName& name) {
    if (behind_blank_ == 0) return;
    name.path.erase(0, behind_blank_);
    name.arguments = {};
    name.argument_list.clear();
    behind_blank_ = 0;
  }

  static bool is_cut(char c) { return kCuts[static_cast<unsigned char>(c)]; }

  void skip_brackets() {
    Brackets brackets;
    for (; at_ < text_.size(); ++at_) {
      if (!is_cut(text_[at_])) continue;
      brackets.feed(text_, at_);
      if (brackets.depth() == 0) break;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  // Only the last part's arguments count: those of classes around it are no property of the kernel.
  void read_arguments(KernelName& name) {
    const std::size_t first = at_ + 1;
    std::size_t item = first;
    name.argument_list.clear();
    Brackets brackets;
    for (; at_ < text_.size(); ++at_) {
      if (!is_cut(text_[at_])) continue;
      brackets.feed(text_, at_);
      if (brackets.depth() == 0) break;
      if (brackets.depth() == 1 && text_[at_] == ',') {
        name.argument_list.push_back(text_.substr(item, at_ - item));
        item = at_ + 1;
      }
    }
    name.arguments = text_.substr(first, at_ - first);
    name.argument_list.push_back(text_.substr(item, at_ - item));
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t behind_blank_ = 0;  // in the path; 0: no blank
};

constexpr double kMostOutput = 4e6;
// Each level of a symbol that repeats itself needs k references to grow k-fold; k^(1/k) is largest for k = 3.
constexpr double kGrowthPerReference = 1.4423;
constexpr std::string_view kAnonymousNamespace = "_GLOBAL__N_";

bool is_sequence_id(char c) { return is_ascii_digit(c) || (c >= 'A' && c <= 'Z'); }

// The identifier "<length><characters>" at `at`, which moves behind it.
std::optional<std::string_view> take_identifier(std::string_view symbol, std::size_t& at) {
  std::size_t length = 0;
  std::size_t i = at;
  for (; i < symbol.size() && is_ascii_digit(symbol[i]); ++i) {
    length = length * 10 + static_cast<std::size_t>(symbol[i] - '0');
    if (length > symbol.size()) return std::nullopt;
  }
  if (i == at || length == 0 || i + length > symbol.size()) return std::nullopt;
  at = i + length;
  return symbol.substr(i, length);
}

// Length of a reference "S_", "S1A_", "T_" or "T3_" at `at`; 0: none.
std::size_t reference_length(std::string_view symbol, std::size_t at) {
  if (symbol[at] != 'S' && symbol[at] != 'T') return 0;
  std::size_t i = at + 1;
  while (i < symbol.size() && is_sequence_id(symbol[i])) ++i;
  return i < symbol.size() && symbol[i] == '_' ? i + 1 - at : 0;
}

// The qualified name the symbol begins with; `at` moves behind it, to its template arguments or parameters.
std::string function_name(std::string_view symbol, std::size_t& at) {
  std::string name;
  const bool nested = at < symbol.size() && symbol[at] == 'N';
  if (nested) ++at;
  while (at < symbol.size()) {
    if (const auto identifier = take_identifier(symbol, at)) {
      if (identifier->starts_with(kAnonymousNamespace)) continue;
      if (!name.empty()) name += "::";
      name += *identifier;
      if (!nested) break;
    } else if (symbol.substr(at).starts_with("St")) {
      name = "std";
      at += 2;
    } else if (symbol[at] == 'L' || symbol[at] == 'K' || symbol[at] == 'V' || symbol[at] == 'r') {
      ++at;  // internal linkage, qualifiers of member functions
    } else {
      break;
    }
  }
  return name;
}

std::string_view builtin_type(char c) {
  constexpr std::string_view kLetters = "vwbcahstijlmxynofdegz";
  constexpr std::string_view kNames[] = {"void",       "wchar_t",  "bool",   "char",     "signed char", "unsigned char",
                                         "short",      "ushort",   "int",    "unsigned", "long",        "ulong",
                                         "int64",      "uint64",   "int128", "uint128",  "float",       "double",
                                         "longdouble", "float128", "..."};
  const std::size_t at = kLetters.find(c);
  return at == std::string_view::npos ? std::string_view() : kNames[at];
}

// Writes the template arguments of a symbol, one level of brackets for each of its own.
class ArgumentWriter {
 public:
  ArgumentWriter(std::string_view symbol, std::size_t at, std::string& out) : symbol_(symbol), at_(at), out_(out) {}

  void write() {  // from the 'I' on, to its 'E'
    do {
      step();
    } while (at_ < symbol_.size() && !open_.empty());
    for (; !open_.empty(); open_.pop_back()) {
      if (open_.back() == 'I') out_ += '>';
    }
  }

 private:
  void step() {
    const char c = symbol_[at_];
    if (const std::size_t length = reference_length(symbol_, at_)) {
      item(open_.ends_with('N') ? "" : "ref");
      at_ += length;
    } else if (const std::size_t digits = value_length()) {
      out_ += symbol_.substr(at_, digits);
      at_ += digits;
    } else if (const auto identifier = take_identifier(symbol_, at_)) {
      if (!identifier->starts_with(kAnonymousNamespace)) item(*identifier);
    } else if (c == 'E') {
      if (open_.back() == 'I') out_ += '>';
      open_.pop_back();
      fresh_ = false;
      ++at_;
    } else if (c == 'I' || c == 'N' || c == 'X' || c == 'J' || c == 'F') {
      open(c);
    } else if (symbol_.substr(at_).starts_with("Tn")) {
      at_ += 2;  // the kind of the parameter that follows
    } else if (c == 'L') {
      literal();
    } else if (symbol_.substr(at_).starts_with("DF16b")) {
      item("bfloat16");
      at_ += 5;
    } else if (symbol_.substr(at_).starts_with("DF16_")) {
      item("float16");
      at_ += 5;
    } else {
      if (!builtin_type(c).empty() && !open_.ends_with('X')) item(builtin_type(c));
      ++at_;
    }
  }

  // Digits that end a literal, as the 2 of "LNS_4EnumE2E" does: they are no identifier's length.
  [[nodiscard]] std::size_t value_length() const {
    if (!open_.ends_with('L')) return 0;
    std::size_t end = at_;
    while (end < symbol_.size() && is_ascii_digit(symbol_[end])) ++end;
    return end < symbol_.size() && symbol_[end] == 'E' ? end - at_ : 0;
  }

  void open(char kind) {
    if (kind == 'I') out_ += '<';
    if (kind == 'N') separate();
    open_ += kind;
    if (kind == 'I' || kind == 'N') fresh_ = true;  // others: items of the list around them
    ++at_;
  }

  // "L" type value "E": "Lb1E" is true, "Li256E" is 256, "LNS_4EnumE2E" is 2. Others: nothing is said.
  void literal() {
    constexpr std::size_t kLongest = 48;  // searching on would make many unclosed ones quadratic
    const std::size_t end = symbol_.substr(at_, kLongest).find('E');
    std::size_t digits = end == std::string_view::npos ? at_ + 1 : at_ + end;
    const std::size_t stop = digits;
    while (digits > at_ + 1 && is_ascii_digit(symbol_[digits - 1])) --digits;
    const bool plain = digits == at_ + 2 && digits < stop;
    if (!plain) {
      open_ += 'L';  // its type or function is spelled out; see value()
      ++at_;
      return;
    }
    const std::string_view value = symbol_.substr(digits, stop - digits);
    item(symbol_[at_ + 1] != 'b' ? value : value == "1" ? "true" : "false");
    at_ = std::min(stop + 1, symbol_.size());
  }

  void separate() {
    if (!fresh_) out_ += open_.ends_with('N') ? "::" : ", ";
    fresh_ = false;
  }

  void item(std::string_view text) {
    if (text.empty()) return;
    separate();
    out_ += text;
  }

  std::string_view symbol_;
  std::size_t at_;
  std::string& out_;
  std::string open_;
  bool fresh_ = true;  // nothing was written yet inside the innermost bracket
};

}  // namespace

KernelName split_kernel_name(std::string_view demangled) {
  KernelName name;
  split_kernel_name(demangled, name);
  return name;
}

void split_kernel_name(std::string_view demangled, KernelName& name) { Splitter(demangled).split(name); }

std::string readable_name(std::string_view name) {
  std::string text = demangle(name);
  if (!text.starts_with("_Z")) return text;
  std::string outline = outline_symbol(text);
  return outline.empty() ? text : outline;
}

bool demangling_is_bounded(std::string_view symbol) {
  std::size_t references = 0;
  for (std::size_t at = 2; at < symbol.size();) {
    if (const std::size_t length = reference_length(symbol, at)) {
      ++references;
      at += length;
    } else if (!take_identifier(symbol, at)) {
      ++at;
    }
  }
  return static_cast<double>(symbol.size()) * std::pow(kGrowthPerReference, static_cast<double>(references)) <
         kMostOutput;
}

std::string outline_symbol(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return {};
  std::size_t at = 2;
  std::string text = function_name(symbol, at);
  if (text.empty() || at >= symbol.size() || symbol[at] != 'I') return text;
  ArgumentWriter(symbol, at, text).write();
  return text;
}

namespace {

constexpr std::string_view kAtSign = " @ ", kIsSign = " = ";

// Takes what is before `separator` off `text`; all of it where there is none.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + separator.size());
  return taken;
}

}  // namespace

std::string hlo_kernel_text(const HloKernel& kernel) {
  std::string out(kernel.kernel);
  out.append(kAtSign).append(kernel.module).append("/").append(kernel.op);
  if (kernel.opcode.empty()) return out;
  out.append(kIsSign).append(kernel.opcode);
  if (!kernel.target.empty()) out.append(":").append(kernel.target);
  if (!kernel.shape.empty()) out.append(" ").append(kernel.shape);
  return out;
}

std::optional<HloKernel> parse_hlo_kernel(std::string_view text) {
  const std::size_t at = text.rfind(kAtSign);
  if (at == std::string_view::npos) return std::nullopt;
  HloKernel out;
  out.kernel = text.substr(0, at);
  std::string_view rest = text.substr(at + kAtSign.size());
  std::string_view place = take(rest, kIsSign);
  const std::size_t slash = place.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  out.module = place.substr(0, slash);
  out.op = place.substr(slash + 1);
  std::string_view code = take(rest, " ");
  out.opcode = take(code, ":");
  out.target = code;
  out.shape = rest;
  return out;
}

}  // namespace tracedb
