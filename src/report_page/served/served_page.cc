#include "report_page/served/served_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/stream/content_hash.h"
#include "report_page/html/safe_text.h"
#include "report_page/html/web_files.h"

namespace tracedb {
namespace {

struct NamedFile {
  std::string name;
  ServedFile file;
};

// Names have the hash of what is in them, so that a browser may keep them for good.
const std::array<NamedFile, 5>& files() {
  static const std::array<NamedFile, 5> kFiles = [] {
    const WebFiles& web = web_files();
    const auto named = [](std::string_view name, std::string_view text, std::string_view ending,
                          std::string_view type) {
      return NamedFile{fmt::format("{}.{:016x}.{}", name, hash64(text), ending), {text, type}};
    };
    return std::array<NamedFile, 5>{named("page", web.style, "css", "text/css; charset=utf-8"),
                                    named("served", web.served_style, "css", "text/css; charset=utf-8"),
                                    named("d3", web.library, "js", "text/javascript; charset=utf-8"),
                                    named("page", web.script, "js", "text/javascript; charset=utf-8"),
                                    named("served", web.served_script, "js", "text/javascript; charset=utf-8")};
  }();
  return kFiles;
}

std::string crumbs_html(std::span<const PageLink> crumbs) {
  std::string out = "<nav class=\"crumbs\" aria-label=\"Where this is\">";
  for (std::size_t i = 0; i < crumbs.size(); ++i) out += (i > 0 ? " › " : "") + html_link(crumbs[i]);
  return out + "</nav>\n";
}

// What stands between two marks, with the marks; the whole text behind it becomes `rest`.
std::string_view cut(std::string_view& rest, std::string_view begin, std::string_view end) {
  const std::size_t from = rest.find(begin);
  if (from == std::string_view::npos) return {};
  const std::size_t to = rest.find(end, from + begin.size());
  if (to == std::string_view::npos) return {};
  const std::string_view out = rest.substr(from + begin.size(), to - from - begin.size());
  rest.remove_prefix(to + end.size());
  return out;
}

std::string plain_text(std::string_view html) {
  std::string out;
  while (!html.empty()) {
    const auto* found =
        std::ranges::find_if(kHtmlEntities, [&](const HtmlEntity& entity) { return html.starts_with(entity.second); });
    const bool is_entity = found != std::end(kHtmlEntities);
    out += is_entity ? found->first : html.front();
    html.remove_prefix(is_entity ? found->second.size() : 1);
  }
  return out;
}

}  // namespace

std::string html_link(const PageLink& link) {
  const std::string text = html_text(inert_name(link.text));
  return link.to.empty() ? fmt::format("<span aria-current=\"page\">{}</span>", text)
                         : fmt::format("<a href=\"{}\">{}</a>", html_text(link.to), text);
}

std::optional<ServedFile> served_file(std::string_view name) {
  const auto found = std::ranges::find(files(), name, &NamedFile::name);
  return found == files().end() ? std::nullopt : std::optional(found->file);
}

std::string served_page(const ServedPage& page) {
  const std::string from = page.root + "static/";
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n";
  out += fmt::format("<title>{}</title>\n", html_text(inert_name(page.title)));
  for (const std::size_t style : {0U, 1U})
    out += fmt::format("<link rel=\"stylesheet\" href=\"{}{}\">\n", from, files()[style].name);
  out += fmt::format("<script defer src=\"{}{}\"></script>\n", from, files()[4].name);
  out += "</head>\n<body class=\"served\">\n<header>\n" + crumbs_html(page.crumbs);
  if (!page.files.empty()) {
    out += "<nav class=\"files\" aria-label=\"Other forms\">";
    for (const PageLink& file : page.files) out += html_link(file) + " ";
    out += "</nav>\n";
  }
  if (!page.command.empty())
    out += fmt::format("<details class=\"command\"><summary>Command</summary><code>{}</code></details>\n",
                       html_text(page.command));
  return out + "</header>\n" + page.body + "</body>\n</html>\n";
}

std::string served_report(std::string_view whole, ServedPage frame,
                          const std::function<std::string(const std::string& command)>& link_of) {
  std::string_view rest = whole;
  const std::string_view main = cut(rest, "<body>\n", "<script type=\"application/json\"");
  const std::string_view data = cut(rest, ">", "</script>");
  std::string_view left = main;
  for (;;) {
    constexpr std::string_view kBegin = "<code>", kEnd = "</code>";
    const std::size_t at = left.find(kBegin);
    if (at == std::string_view::npos) break;
    frame.body += left.substr(0, at);
    const std::string_view code = cut(left, kBegin, kEnd);
    const std::string to = link_of(plain_text(code));
    frame.body += to.empty() ? fmt::format("<code>{}</code>", code)
                             : fmt::format("<a class=\"next\" href=\"{}\"><code>{}</code></a>", html_text(to), code);
  }
  frame.body += left;
  frame.body += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", data);
  for (const std::size_t script : {2U, 3U})
    frame.body += fmt::format("<script src=\"{}static/{}\"></script>\n", frame.root, files()[script].name);
  return served_page(frame);
}

std::string sparkline(std::span<const double> values) {
  constexpr double kWidth = 96, kHeight = 18, kMargin = 2;
  if (values.size() < 2) return "";
  const auto [least, most] = std::ranges::minmax(values);
  const double range = most > least ? most - least : 1;
  std::string points;
  double x = 0, y = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    x = kMargin + (kWidth - 2 * kMargin) * static_cast<double>(i) / static_cast<double>(values.size() - 1);
    y = kHeight - kMargin - (kHeight - 2 * kMargin) * (values[i] - least) / range;
    points += fmt::format("{:.1f},{:.1f} ", x, y);
  }
  return fmt::format(
      "<svg class=\"spark\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" aria-hidden=\"true\">"
      "<polyline points=\"{2}\"/><circle cx=\"{3:.1f}\" cy=\"{4:.1f}\" r=\"2\"/></svg>",
      kWidth, kHeight, points, x, y);
}

}  // namespace tracedb
