#include "trace/kernel_name.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "trace/event_names.h"
#include "trace/mangled_name.h"

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

}  // namespace tracedb
