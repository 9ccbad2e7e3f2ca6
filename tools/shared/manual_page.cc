#include "shared/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "base/text/split.h"
#include "base/version.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

constexpr struct {
  std::string_view code, meaning;
} kExitCodes[] = {
    {"0", "done"},
    {"1",
     "the answer is no: a verification found a difference, a candidate or a level of a trend is above what --gate "
     "allows, a model is further off than --max-error"},
    {"2", "usage: unknown option or command, wrong SQL"},
    {"3", "input unreadable, corrupt, or not what it claims to be; some of several files failed"},
    {"4", "the trace has issues that lost data, and --strict was given"},
    {"5", "disk, memory, permission to write, time limit"},
    {"6", "try again: the trace changed while being read, or another process holds the lock"},
    {"130", "interrupted"},
};

// Text that roff prints as it is. A minus is one that can be copied, and so are quotes.
std::string escaped(std::string_view text) {
  constexpr std::pair<char, std::string_view> kEscapes[] = {
      {'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
  std::string out;
  for (const char c : text) {
    const auto escape = std::ranges::find(kEscapes, c, [](const auto& one) { return one.first; });
    escape == std::end(kEscapes) ? out += c : out += escape->second;
  }
  return out.starts_with('.') ? "\\&" + out : out;  // not a request
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

// "-o, --output FILE"
std::string head_of(const po::option_description& option) {
  const std::string brief = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  const std::string name = "--" + option.long_name();
  std::string head = brief.size() == 2 && brief.starts_with('-') ? brief + ", " + name : name;
  const unsigned most = option.semantic()->max_tokens();
  if (most == 0) return head;
  constexpr std::string_view kWithDefault = "arg (=";
  const std::string parameter = option.format_parameter();  // "FILE", "arg (=24)"
  if (!parameter.starts_with(kWithDefault)) return fmt::format("{} {}", head, parameter == "arg" ? "X" : parameter);
  return fmt::format("{} X (default: {}", head, parameter.substr(kWithDefault.size()));
}

// roff begins a paragraph after a heading anyway.
std::string_view paragraph_break(std::string_view text) {
  const std::size_t line = text.rfind('\n', text.size() - 2) + 1;
  const std::string_view request = text.substr(line, 3);
  return request == ".SH" || request == ".SS" ? "" : ".PP\n";
}

}  // namespace

ManualPage::ManualPage(std::string_view name, std::string_view section, std::string_view summary) {
  text_ = fmt::format(".TH {} {} \"\" \"tracedb {}\" \"tracedb\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n", upper(name),
                      section, kVersion, escaped(name), escaped(summary));
}

void ManualPage::heading(std::string_view title) { text_ += fmt::format(".SH {}\n", escaped(upper(title))); }

void ManualPage::subheading(std::string_view title) { text_ += fmt::format(".SS {}\n", escaped(title)); }

void ManualPage::paragraph(std::string_view text) {
  text_ += paragraph_break(text_);
  for (const std::string_view line : split_lines(text)) text_ += escaped(line) + "\n";
}

void ManualPage::item(std::string_view head, std::string_view text) {
  text_ += fmt::format(".TP\n.B {}\n", escaped(head));
  const std::vector<std::string_view> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) text_ += (i > 0 ? ".br\n" : "") + escaped(lines[i]) + "\n";
}

void ManualPage::help_text(std::string_view text) {
  bool in_paragraph = false;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t begin = line.find_first_not_of(' ');
    const bool is_text = begin == 0;
    if (is_text) {
      if (!in_paragraph) text_ += paragraph_break(text_);
      text_ += escaped(line) + "\n";
    } else if (begin != std::string_view::npos) {
      const std::size_t gap = line.find("  ", begin);
      const std::size_t meaning = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
      meaning == std::string_view::npos ? lines(line) : item(line.substr(begin, gap - begin), line.substr(meaning));
    }
    in_paragraph = is_text;
  }
}

void ManualPage::lines(std::string_view text) {
  text_ += paragraph_break(text_);
  text_ += ".nf\n";
  for (const std::string_view line : split_lines(text)) text_ += escaped(line) + "\n";
  text_ += ".fi\n";
}

void ManualPage::options(std::string_view title, const po::options_description& options) {
  if (options.options().empty()) return;
  heading(title);
  for (const auto& option : options.options()) item(head_of(*option), option->description());
}

void ManualPage::exit_status() {
  heading("Exit status");
  for (const auto& [code, meaning] : kExitCodes) item(code, meaning);
}

void ManualPage::see_also(std::initializer_list<std::string_view> pages) {
  heading("See also");
  std::string out;
  for (const std::string_view page : pages) {
    const std::size_t section = page.find('(');
    out +=
        fmt::format("{}.BR {} {}", out.empty() ? "" : " ,\n", escaped(page.substr(0, section)), page.substr(section));
  }
  text_ += out + "\n";
}

}  // namespace tracedb
