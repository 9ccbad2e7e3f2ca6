#include "shared/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

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

bool takes_value(const po::option_description& option) { return option.semantic()->max_tokens() > 0; }

// The option that a word such as "--limit" or "-n" names; nullptr: none of ours.
const po::option_description* option_of(const std::string& word, const po::options_description& options) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  if (word.starts_with("--")) return options.find_nothrow(word.substr(2), false);
  return word.size() == 2 ? options.find_nothrow(word, false) : nullptr;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Candidates starting_with(const std::string& begun, Candidates all) {
  std::erase_if(all.words, [&](const Candidate& candidate) { return !candidate.word.starts_with(begun); });
  return all;
}

// Of a list, the part after the last comma; what is before it is kept.
Candidates complete_value(const std::string& before, const std::string& begun, Candidates all) {
  const std::size_t comma = all.several ? begun.rfind(',') : std::string::npos;
  const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
  Candidates out = starting_with(begun.substr(start), std::move(all));
  for (Candidate& candidate : out.words) candidate.word.insert(0, before + begun.substr(0, start));
  return out;
}

Candidates option_names(const std::string& begun, const po::options_description& options) {
  Candidates out;
  for (const auto& option : options.options()) {
    out.words.push_back({"--" + option->long_name(), first_line(option->description())});
  }
  return starting_with(begun, std::move(out));
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

Candidates complete(std::span<const std::string> words, const po::options_description& options,
                    const ValuesOf& values_of, const Candidates& arguments) {
  const std::string begun = words.empty() ? "" : words.back();
  const std::span<const std::string> before = words.first(words.empty() ? 0 : words.size() - 1);
  const bool only_arguments = std::ranges::find(before, "--") != before.end();
  if (only_arguments) return starting_with(begun, arguments);
  if (!before.empty()) {
    const po::option_description* option = option_of(before.back(), options);
    if (option != nullptr && takes_value(*option)) return complete_value("", begun, values_of(*option));
  }
  if (const std::size_t equals = begun.find('='); begun.starts_with("--") && equals != std::string::npos) {
    const po::option_description* option = option_of(begun.substr(0, equals), options);
    if (option == nullptr || !takes_value(*option)) return {};
    return complete_value(begun.substr(0, equals + 1), begun.substr(equals + 1), values_of(*option));
  }
  return begun.starts_with('-') ? option_names(begun, options) : starting_with(begun, arguments);
}

std::string to_lines(const Candidates& candidates) {
  std::string out;
  for (const Candidate& candidate : candidates.words) out += candidate.word + "\t" + candidate.meaning + "\n";
  return out + (candidates.several ? ":list\n" : "") + (candidates.files ? ":files\n" : "");
}

Candidates choices(std::string_view description) {
  constexpr std::string_view kOr = " | ";
  std::string words;
  while (true) {
    const std::size_t end = std::min(description.find(' '), description.size());
    words += (words.empty() ? "" : ",") + std::string(description.substr(0, end));
    description.remove_prefix(end);
    if (!description.starts_with(kOr)) break;
    description.remove_prefix(kOr.size());
  }
  return words.find(',') == std::string::npos ? Candidates{} : one_of(words);
}

Candidates one_of(std::string_view words) {
  Candidates out;
  for (const std::string_view word : split_text(words, ',')) out.words.push_back({std::string(word)});
  return out;
}

}  // namespace tracedb
