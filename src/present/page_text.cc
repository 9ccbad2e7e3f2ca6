#include "present/page_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/characters.h"
#include "report/escape.h"
#include "report/json_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::string_view kIndent = "  ";

void append(std::string& out, const std::string& line) {
  out += line;
  out += '\n';
}

// Between words where that is enough, else anywhere: a backslash joins the lines for a shell.
void append_command(std::string& out, const Block& block, std::size_t width) {
  std::string text = escape_text(block.text);
  std::string indent = std::string(kIndent) + block.mark;
  const bool quoted = text.find('\'') != std::string::npos;  // there, a backslash joins no lines
  while (!quoted && indent.size() + display_width(text) > width) {
    const std::size_t room = width - indent.size() - 1;
    const std::size_t space = text.rfind(' ', room - 1);
    const bool between = space != std::string::npos && space > room / 2;
    // Within a word, a line must go on where the next one begins, and characters of several bytes stay whole.
    std::size_t end = between ? space + 1 : room;
    while (!between && end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    append(out, indent + text.substr(0, end) + '\\');
    text.erase(0, end);
    indent = between ? std::string(kIndent) + block.mark + "  " : "";
  }
  append(out, indent + text);
}

void append_item(std::string& out, const Block& block, std::size_t width) {
  const std::string mark = std::string(kIndent) + block.mark + (block.mark.empty() ? "" : " ");
  const std::string below(display_width(mark), ' ');
  bool first = true;
  for (const std::string& line : wrap_text(escape_text(block.text), width - below.size())) {
    append(out, (first ? mark : below) + line);
    first = false;
  }
}

bool has_name(const Block& block) { return !block.mark.empty() && block.mark != kBullet; }

// "1.": the mark of a numbered item.
bool is_number(std::string_view mark) { return mark.size() > 1 && mark.back() == '.' && is_ascii_digit(mark[0]); }

}  // namespace

std::string shell_word(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  const auto plain = [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || std::string_view("_./-=+,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  if (std::ranges::any_of(text, is_control)) {  // as bash and zsh read it
    std::string out = "$'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c == '\n'       ? "\\n"
             : is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c))
                             : std::string(1, c);
    }
    return out + "'";
  }
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? "'\\''" : std::string(1, c));
  return out + "'";
}

std::string page_text(const Page& page, std::size_t width) {
  width = std::max(width, kNarrowest);
  std::string out;
  for (const Block& block : page) {
    switch (block.kind) {
      case BlockKind::kHeading:
        out += '\n';
        [[fallthrough]];
      case BlockKind::kHeadline:
        for (const std::string& line : wrap_text(escape_text(block.text), width)) append(out, line);
        break;
      case BlockKind::kItem:
        append_item(out, block, width);
        break;
      case BlockKind::kCommand:
        append_command(out, block, width);
        break;
    }
  }
  return out;
}

Page fitting_page(std::size_t most, std::size_t lines, std::size_t width,
                  const std::function<Page(std::size_t)>& write) {
  for (; most > 1; --most) {
    Page page = write(most);
    if (static_cast<std::size_t>(std::ranges::count(page_text(page, width), '\n')) <= lines) return page;
  }
  return write(1);
}

std::string shell_text(const NextStep& step) {
  std::string out = "trace-query " + step.command;
  for (const std::string& side : step.sides) out += " " + side;
  for (const auto& [name, value] : step.options) out += fmt::format(" --{} {}", name, shell_word(value));
  return out;
}

void quote_sides(Page& page, const std::string& paths) {
  if (shell_word(paths) == paths) return;
  for (Block& block : page) {
    std::string& text = block.text;
    if (block.kind != BlockKind::kCommand || !text.starts_with("trace-query ")) continue;
    for (std::size_t at = text.find(" $"); at < text.find(" --"); at = text.find(" $", at + 1))
      text.insert(at + 3, "\"").insert(at + 1, "\"");
  }
}

std::string json_text(const NextStep& step) {
  JsonWriter out;
  out.open('{').member("command", step.command).member("sides", step.sides).key("options").open('{');
  for (const auto& [name, value] : step.options) out.member(name, value);
  return out.close('}').close('}').take();
}

std::string page_markdown(const Page& page) {
  std::string out;
  bool in_commands = false;
  std::string indent;  // of what belongs to a numbered item
  for (const Block& block : page) {
    const bool command = block.kind == BlockKind::kCommand;
    if (in_commands != command) out += indent + "```\n";
    in_commands = command;
    if (!command) indent.clear();
    switch (block.kind) {
      case BlockKind::kHeadline:
        append(out, fmt::format("## {}", escape_markdown(block.text)));
        break;
      case BlockKind::kHeading:
        append(out, fmt::format("\n### {}\n", escape_markdown(block.text)));
        break;
      case BlockKind::kItem:
        if (is_number(block.mark)) indent = std::string(block.mark.size() + 1, ' ');
        append(out,
               fmt::format("{}{}{}{}", indent.empty() ? "* " : "", has_name(block) ? escape_markdown(block.mark) : "",
                           has_name(block) ? " " : "", escape_markdown(block.text)));
        break;
      case BlockKind::kCommand:
        append(out, indent + escape_text(block.text));
        break;
    }
  }
  if (in_commands) out += indent + "```\n";
  return out;
}

}  // namespace tracedb
