#include "report_page/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text/amounts.h"
#include "base/version.h"
#include "report_page/html/html_table.h"
#include "report_page/html/safe_text.h"
#include "report_page/html/web_files.h"
#include "trace/format_holds.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostTableRows = 200, kMostTableBytes = 60'000;
constexpr std::size_t kMostTables = 12;
constexpr std::size_t kMostPictureBytes = 750'000;  // of all; names of usual lengths need half of it

std::string element(std::string_view name, std::string_view attributes, std::string_view text) {
  return fmt::format("<{0}{1}{2}>{3}</{0}>\n", name, attributes.empty() ? "" : " ", attributes, html_text(text));
}

// The blocks of a page of sentences: a section for each heading, with its items in a list, numbered where their marks
// are, and commands to be copied.
class Blocks {
 public:
  std::string run(const Page& page) {
    for (const Block& block : page) add(block);
    close_section();
    return std::move(out_);
  }

 private:
  void add(const Block& block) {
    switch (block.kind) {
      case BlockKind::kHeadline:
        close_section();
        out_ += headlines_++ == 0 ? element("h1", "", block.text) : element("p", "class=\"headline\"", block.text);
        break;
      case BlockKind::kHeading:
        close_section();
        open_section(block.text);
        break;
      case BlockKind::kItem:
        item(block);
        break;
      case BlockKind::kCommand:
        if (!in_item_) close_list();
        out_ += in_item_ ? fmt::format(" <code>{}</code>", html_text(block.text))
                         : fmt::format("<p><code>{}</code></p>\n", html_text(block.text));
        break;
    }
  }

  void open_section(const std::string& heading) {
    const std::string_view name = std::string_view(heading).substr(0, heading.find(' '));
    const std::string_view kind = name == "Why" || name == "Where" || name == "What" ? "reasons"
                                  : name == "Verdict" || name == "Steps"             ? "verdict"
                                  : name == "Warnings"                               ? "warnings"
                                  : name == "Fusions"                                ? "fusions"
                                                                                     : "more";
    out_ += fmt::format("<section class=\"{}\">\n", kind) + element("h2", "", heading);
    in_section_ = true;
  }
  void close_section() {
    close_list();
    if (in_section_) out_ += "</section>\n";
    in_section_ = false;
  }

  void item(const Block& block) {
    const bool numbered = !block.mark.empty() && block.mark.front() >= '0' && block.mark.front() <= '9';
    open_list(numbered ? "ol" : "ul");
    if (numbered) {  // "+25.6 ms (43 %) idle between steps": the time comes first
      const std::size_t number = block.text.find(' ');
      const std::size_t end = number == std::string::npos ? block.text.size() : block.text.find(' ', number + 1);
      const std::size_t cut = std::min(end, block.text.size());
      const std::string_view change = block.text.starts_with('-')   ? " class=\"faster\""
                                      : block.text.starts_with('+') ? " class=\"slower\""
                                                                    : "";
      out_ += fmt::format("<li{}><b>{}</b>{}", change, html_text(block.text.substr(0, cut)),
                          html_text(block.text.substr(cut)));
    } else {
      out_ += "<li>";
      if (!block.mark.empty() && block.mark != kBullet) out_ += fmt::format("<b>{}</b> ", html_text(block.mark));
      out_ += html_text(block.text);
    }
    in_item_ = true;
  }

  void open_list(std::string_view kind) {
    if (list_ != kind) {
      close_list();
      out_ += fmt::format("<{}>\n", kind);
      list_ = kind;
    } else if (in_item_) {
      out_ += "</li>\n";
    }
    in_item_ = false;
  }
  void close_list() {
    if (in_item_) out_ += "</li>\n";
    if (!list_.empty()) out_ += fmt::format("</{}>\n", list_);
    in_item_ = false;
    list_ = "";
  }

  std::string out_;
  std::string_view list_;  // that is open
  bool in_item_ = false, in_section_ = false;
  int headlines_ = 0;
};

// Which traces the page is about.
std::string sides_html(const ReportPage& page) {
  std::string out = "<table class=\"sides\">\n";
  for (const PageSide& side : page.sides) {
    out += "<tr>";
    if (page.sides.size() > 1) {
      out += fmt::format("<th scope=\"row\"><span class=\"side {0}\">{0}</span></th>", side.key);
    }
    for (const std::string& text : {side.label, side.file == side.label ? "" : side.file, side.gpu}) {
      if (!text.empty()) out += fmt::format("<td>{}</td>", html_text(inert_name(text)));
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string absent_html(std::span<const std::string> absent) {
  if (absent.empty()) return "";
  std::string out = "<details class=\"absent\">\n<summary>Pictures left out, and why</summary>\n<ul>\n";
  for (const std::string& text : absent) out += element("li", "", text);
  return out + "</ul>\n</details>\n";
}

std::string tables_html(const ReportPage& page) {
  std::string out;
  // Few tables have room for more rows.
  const std::size_t most_bytes = kMostTableBytes * kMostTables / std::max(page.tables.size(), kMostTables);
  for (const PageTable& table : page.tables) {
    out += fmt::format("<section class=\"table\" id=\"{}\">\n", html_text("table-" + table.id));
    out += element("h2", "", table.title);
    if (!table.note.empty()) out += element("p", "class=\"note\"", table.note);
    if (table.report.rows.empty() && table.report.footer.empty()) {
      out += element("p", "class=\"empty\"", "Nothing to show.");
    } else {
      out += html_table(table.report, {page.command, {}, table.id}, kMostTableRows, most_bytes);
    }
    out += "</section>\n";
  }
  return out;
}

// What the pictures are drawn from, and for programs, what is said: as `sentences` of compare --json.
std::string data_json(const ReportPage& page, std::span<const Picture* const> pictures) {
  DataWriter data;
  data.open('{').member("version", 1).member("kind", page.kind).member("cycles", int{CycleWords::active()});
  data.key("sides").open('[');
  for (const PageSide& side : page.sides) {
    data.open('{').member("key", side.key).member("label", side.label).member("file", side.file);
    data.member("gpu", side.gpu).close('}');
  }
  data.close(']').key("pictures").open('[');
  for (const Picture* picture : pictures) {
    data.open('{').member("id", picture->id).member("kind", picture->kind).member("title", picture->title);
    data.member("note", picture->note).json(picture->data).close('}');
  }
  data.close(']').key("sentences").open('[');
  for (const Block& block : page.text) {
    if (block.id.empty()) continue;
    data.open('{').member("id", block.id).member("text", block.text).key("figures").open('{');
    for (const auto& [name, value] : block.figures) {
      std::visit([&data, &key = name](const auto& figure) { data.member(key, figure); }, value);
    }
    data.close('}').close('}');
  }
  return data.close(']').close('}').take();
}

std::string policy(const WebFiles& web) {
  return fmt::format("default-src 'none'; script-src '{}' '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
                     web.library_hash, web.script_hash, web.style_hash);
}

// Makes the pictures of one kind; of none, why.
struct PictureMaker {
  Pictures (*make)(const PictureInput& in);
  const char* otherwise;
  const char* advice = "";    // how PyTorch records what it needs, which helps no other format
  bool of_one_trace = false;  // alone
};
constexpr char kStacks[] =
    " (PyTorch's profiler records them by with_stack=True; replays of graphs have none without --capture)";
constexpr PictureMaker kPictureMakers[] = {
    {waterfalls, "no account of time: there is no device work to account for"},
    {distributions, "no distribution of step times: there are not two steps of a kind"},
    {timelines_of_steps, "no timeline: there is no device work"},
    {lane_pictures, "no kernels of one layer: no layers were found, or traces with different numbers of them"},
    {layer_pictures, "no layers side by side: no layers were found (trace-query layers says why)"},
    {operation_pictures, "no operations: there is no device work"},
    {flames, "no flame graph: hardly any kernel has a Python stack with frames of the user's code", kStacks},
    {module_flames, "no flame graph by module: hardly any kernel was launched below a frame of nn.Module", kStacks},
    {rooflines, "no roofline: no operators of matrix products were recorded with shapes",
     " (PyTorch's profiler records them by record_shapes=True)"},
    {memory_curves, "no memory over time: no allocations were read",
     " (PyTorch's profiler records them by profile_memory=True)", true},
};

// Those that a page has room for; `absent` gets the others.
std::vector<const Picture*> fitting_pictures(const ReportPage& page, std::vector<std::string>& absent) {
  std::vector<const Picture*> out;
  std::size_t bytes = 0;
  for (const Picture& picture : page.pictures) {
    if (bytes + picture.data.size() > kMostPictureBytes) {
      absent.push_back(fmt::format("'{}': the page would become too large", picture.title));
      continue;
    }
    bytes += picture.data.size();
    out.push_back(&picture);
  }
  return out;
}

std::string capital(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z')
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out;
}

}  // namespace

PageTable table_of(std::string_view section, std::string_view summary, Report report) {
  return {std::string(section), capital(section), capital(summary) + ".", std::move(report)};
}

void add_pictures(const PictureInput& in, ReportPage& page) {
  const bool pytorch = std::ranges::any_of(
      in.indexes, [](const Index* index) { return format_holds(index->meta("format").value_or("")).graphs; });
  for (const PictureMaker& maker : kPictureMakers) {
    if (maker.of_one_trace && in.compares()) continue;
    Pictures made = maker.make(in);
    if (made.empty()) page.absent.push_back(std::string(maker.otherwise) + (pytorch ? maker.advice : ""));
    std::move(made.begin(), made.end(), std::back_inserter(page.pictures));
  }
}

std::string html_page(const ReportPage& page) {
  const WebFiles& web = web_files();
  const std::string made_by =
      fmt::format("Made by trace-query {}. Times are of devices unless a head says otherwise.", kVersion);
  std::vector<std::string> absent = page.absent;
  const std::vector<const Picture*> pictures = fitting_pictures(page, absent);
  const std::array<std::pair<std::string_view, std::string>, 8> parts = {{
      {"{{csp}}", policy(web)},
      {"{{title}}", html_text(page.title)},
      {"{{style}}", std::string(web.style)},
      {"{{summary}}", sides_html(page) + Blocks().run(page.text) + absent_html(absent)},
      {"{{tables}}", tables_html(page) + element("footer", "", made_by)},
      {"{{data}}", data_json(page, pictures)},
      {"{{library}}", std::string(web.library)},
      {"{{script}}", std::string(web.script)},
  }};
  // In one go, since what is filled in may hold the mark of another place.
  std::string out;
  std::string_view rest = web.page;
  for (std::size_t at = rest.find("{{"); at != std::string_view::npos; at = rest.find("{{")) {
    out += rest.substr(0, at);
    rest.remove_prefix(at);
    const std::string_view mark = rest.substr(0, rest.find("}}") + 2);
    for (const auto& [name, content] : parts) {
      if (name == mark) out += content;
    }
    rest.remove_prefix(mark.size());
  }
  return out.append(rest);
}

}  // namespace tracedb
