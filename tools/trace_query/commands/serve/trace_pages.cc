// The views of `serve`: see http_server.h.
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/stream/content_hash.h"
#include "base/version.h"
#include "present/page_text.h"
#include "report_page/html/html_table.h"
#include "report_page/html/safe_text.h"
#include "report_page/served/served_page.h"
#include "shared/usage_error.h"
#include "sql/database.h"
#include "trace_query/command.h"
#include "trace_query/commands/serve/http_server.h"
#include "trace_query/commands/serve/view_parts.h"

namespace tracedb {
namespace {

struct Form {
  std::string_view ending, format, type;
};
constexpr Form kForms[] = {{"csv", "csv", "text/csv; charset=utf-8"},
                           {"json", "json", "application/json"},
                           {"md", "markdown", "text/markdown; charset=utf-8"}};

HttpPlan ready(HttpAnswer answer) {
  return {.answer = [answer = std::move(answer)](Questions) { return answer; }};
}

void add_limits(Words& words, int seconds = kQuestionSeconds) {
  words.insert(words.end(), {"--timeout", std::to_string(seconds), "--max-memory", "1G", "--read-only"});
}

class TracePages final : public HttpPages {
 public:
  TracePages(IndexNames names, std::string perfetto) : names_(std::move(names)), perfetto_(std::move(perfetto)) {}

  HttpPlan plan(const HttpRequest& request) override {
    const std::size_t slash = std::min(request.path.find('/'), request.path.size());
    const std::string room = request.path.substr(0, slash);
    std::string rest = request.path.substr(std::min(slash + 1, request.path.size()));
    if (room == "static") {
      const auto file = served_file(rest);
      if (!file) throw Error(ErrorCode::kInput, "no such file");
      return ready({.body = std::string(file->text), .type = std::string(file->type), .is_lasting = true});
    }
    std::string form;
    for (const Form& one : kForms) {
      if (!request.path.ends_with(fmt::format(".{}", one.ending))) continue;
      form = one.ending;
      if (!rest.empty()) rest.resize(rest.size() - form.size() - 1);
    }
    names_.look_again();
    const std::string first = rest.empty() && !form.empty() ? room.substr(0, room.size() - form.size() - 1) : room;
    offset_of(request);  // refuses what is none
    if (request.is_post && first != "sql") throw usage_error("POST is for sql");
    HttpPlan out = view(request, first, rest, form);
    if (!request.path.empty()) out.etag = etag_of(request);
    return out;
  }

  HttpAnswer error(HttpStatus status, std::string_view line, const HttpRequest& request) override {
    std::string root = "./";
    const std::string name = request.param("i");
    for (const char c : request.path) root += c == '/' ? "../" : "";
    std::vector<PageLink> crumbs;
    if (names_.paths().contains(name)) crumbs.push_back({name, url(root + "t", {{"i", name}})});
    HttpAnswer out = page({.title = "Not answered",
                           .root = root,
                           .crumbs = crumbs,
                           .body = fmt::format("<main><h1>Not answered</h1><p>{}</p></main>\n",
                                               html_text(names_.without_paths(std::string(line))))});
    out.status = status;
    return out;
  }

 private:
  HttpPlan view(const HttpRequest& request, const std::string& first, const std::string& rest,
                const std::string& form) {
    const std::string& path = request.path;
    if (path.empty()) return catalogue(request);
    if (path == "w.json") return window(request);
    if (path == "t") return trace(request);
    if (path == "k") return kernel(request);
    if (path == "j") return job(request);
    if (first == "schema" && rest.empty()) return schema(request, form);
    if (first == "c") return comparison(request, rest, form);
    if (first == "t" && !rest.empty()) return table(request, rest, form);
    if (first == "help" && form.empty()) return manual(rest);
    if (first == "trend" && rest.empty()) return trend(request, form);
    if (first == "sql" && rest.empty()) return sql(request, form);
    throw Error(ErrorCode::kInput, "no such page");
  }

  HttpPlan catalogue(const HttpRequest& request) {
    const std::string where = catalogue_where(request.param("f")), identity = names_.identity();
    const std::string key = identity + "\n" + where;
    std::erase_if(listed_, [&](const Listed& one) { return !one.key.starts_with(identity); });
    Words list = of_folders("ls"), trend = of_folders("trend");
    for (Words* words : {&list, &trend}) {
      if (!where.empty()) words->push_back("--where=" + where);
    }
    Words told = of_folders("ls");
    const std::optional<Words> options = catalogue_options(request);
    if (options) told.insert(told.end(), options->begin(), options->end());
    const std::string command = options ? shown_command(told) : "";
    for (Words* words : {&list, &trend}) words->insert(words->end(), {"--format", "json"});
    add_limits(list);
    constexpr int kBehindThePage = 600;  // of new indexes it takes long
    add_limits(trend, kBehindThePage);
    for (Words* words : {&list, &trend}) let_follow(*words);
    const auto shown = [this, request, command, key] {
      const Listed& now = listed(key);
      ServedPage frame{.title = "Traces", .root = "./", .command = command, .body = {}};
      frame.body = catalogue_html(now.list, now.trend, request);
      HttpAnswer out = page(std::move(frame));
      out.refresh_seconds = now.trend.empty() ? 2 : 0;
      return out;
    };
    HttpPlan out;
    const Listed& now = listed(key);
    if (!now.trend.empty()) {
      out.etag = etag_of(request);
    } else {  // the page is not whole yet
      out.later = trend;
      out.arrived = [this, key](const Question& asked) {
        Listed& late = listed(key);
        late.trend = names_.without_paths(asked.printed());
        if (late.trend.empty()) late.trend = "{}";  // it failed
      };
    }
    if (!now.list.empty()) {
      out.answer = [shown](Questions) { return shown(); };
      return out;
    }
    out.questions = {list};
    out.answer = [this, key, shown](Questions asked) {
      listed(key).list = names_.without_paths(asked.front()->printed());
      return shown();
    };
    return out;
  }

  HttpPlan trace(const HttpRequest& request) {
    const std::string name = request.param("i");
    Words words = {"report", names_.path_of(name), "--no-ingest"};
    add_options(words, request.params);
    ServedPage frame{.title = name, .root = "./", .crumbs = {{name, ""}}, .body = {}};
    frame.body = "<nav class=\"tables\" aria-label=\"Tables of this trace\">";
    for (const std::string& report : table_names()) {
      Params kept = changed(request.params, "offset", "");
      std::erase_if(kept, [&](const auto& one) { return !report_takes(report, one.first); });
      frame.body += html_link({report, url("t/" + report, kept)}) + " ";
    }
    frame.body += html_link({"sql", url("sql", {{"i", name}})}) + "</nav>\n";
    Params window = changed(request.params, "offset", "");
    const std::string at = html_text(url("w.json", window));
    frame.body += fmt::format(
        "<p class=\"window\"><button type=\"button\" data-window=\"{0}\" data-perfetto=\"{1}\" hidden "
        "title=\"Opens {1}, which needs the internet or your own copy; the trace stays in this browser.\">Open in "
        "Perfetto</button> <a href=\"{0}\" title=\"Of more than 32 MB one step, or what is around the longest gap.\">"
        "Download for Perfetto</a></p>\n",
        at, html_text(perfetto_));
    return report_of(std::move(words), std::move(frame), request);
  }

  HttpPlan table(const HttpRequest& request, const std::string& report, const std::string& form) {
    const Words known = table_names();
    if (std::ranges::find(known, report) == known.end()) throw Error(ErrorCode::kInput, "no such table");
    const std::string name = request.param("i");
    Words words = {report, names_.path_of(name), "--no-ingest"};
    add_options(words, request.params);
    ServedPage frame{.title = report + " of " + name,
                     .root = "../",
                     .crumbs = {{name, url("../t", {{"i", name}})}, {report, ""}},
                     .body = {}};
    if (report == "info" && form.empty()) return printed({report, names_.path_of(name), "--no-ingest"}, frame);
    const Command* const command = known_command(report);
    std::string above = fmt::format("<h1>{}: {}</h1>\n{}", html_text(report), html_text(command->summary),
                                    selection_form(request, report));
    Params statement = changed(changed(request.params, "offset", ""), "from-table", report);
    above += "<p>" +
             (has_sql(report, request) ? html_link({"the SQL of this table", url("../sql", statement)}) + " · " : "") +
             html_link({"what its columns mean", "../help/" + report}) + "</p>\n";
    return rows_of(std::move(words), std::move(frame), request, form, std::move(above));
  }

  HttpPlan kernel(const HttpRequest& request) {
    const std::string name = request.param("i"), kernel = request.param("name"), path = names_.path_of(name);
    if (kernel.empty()) throw usage_error("no kernel is named");
    const std::string statement = fmt::format(
        "SELECT ts, dur, device, stream, step, layer, phase, op, cpu_op, module, input_dims, grid, block,\n"
        "       registers, shared_memory, hlo_op\nFROM kernels WHERE name GLOB {}\nORDER BY dur DESC LIMIT 100",
        quoted_text(glob_of(kernel)));
    const std::string only = "--name=" + glob_of(kernel);
    Params selection = changed(request.params, "name", "");
    std::erase_if(selection, [](const auto& one) { return !is_selecting(one.first); });
    const bool is_whole = selection.empty();
    Words executions = {"kernels", path, only};
    add_options(executions, selection);
    struct Part {
      std::string_view title;
      Words words;
    };
    std::vector<Part> parts = {
        {is_whole ? "All of its executions" : "Its executions in the selection", executions},
        {"Lines of Python that launch it", {"stacks", path, "--by", "line", only}},
        {"Launch configurations", {"kernels", path, "--by", "launch", only}},
        {is_whole ? "Longest executions" : "Longest executions in the whole trace", {"sql", path, statement + "\n"}}};
    for (const std::size_t i : {1U, 2U}) add_options(parts[i].words, selection);
    HttpPlan out;
    std::vector<std::pair<std::string, std::string>> shown;  // title, command
    for (Part& part : parts) {
      shown.emplace_back(part.title, part.words.front());
      for (const char* word : {"--no-ingest", "--format", "json", "--limit", "100"}) part.words.emplace_back(word);
      add_limits(part.words);
      out.questions.push_back(part.words);
    }
    ServedPage frame{
        .title = kernel,
        .root = "./",
        .crumbs = {{name, url("t", {{"i", name}})}, {"kernels", url("t/kernels", {{"i", name}})}, {kernel, ""}},
        .command = shown_command(executions),
        .body = fmt::format("<main><h1>{}</h1>\n<p>{} · {}</p>\n", html_text(inert_name(kernel)),
                            html_link({"SQL of the executions", url("sql", {{"i", name}, {"q", statement}})}),
                            html_link({"call paths", url("t/stacks", {{"i", name}, {"name", only.substr(7)}})}))};
    out.takes_faults = true;
    out.answer = [this, frame, shown, request](Questions asked) {
      ServedPage made = frame;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        made.body += fmt::format("<h2>{}</h2>\n", shown[i].first);
        if (asked[i]->exit_code() != 0) {
          made.body += paragraphs({names_.without_paths(asked[i]->message())}, "note");
          continue;
        }
        const Answered answered = read_answer(names_.without_paths(asked[i]->printed()), shown[i].second);
        if (answered.tables.empty()) made.body += paragraphs(answered.warnings, "note");
        for (const AnsweredTable& table : answered.tables) {
          TableLinks links = links_of(request, "./", names_);
          links.head = {};
          constexpr std::size_t kMostBytes = 300'000;
          made.body += "<div class=\"scroll\" tabindex=\"0\">\n" +
                       html_table(table.report, {shown[i].second, {}, ""}, kRowsOfPage, kMostBytes, links) + "</div>\n";
        }
      }
      made.body += "</main>\n";
      return page(std::move(made));
    };
    return out;
  }

  HttpPlan comparison(const HttpRequest& request, const std::string& section, const std::string& form) {
    const Words as = request.all("a"), bs = request.all("b");
    if (section.empty() && !form.empty()) throw Error(ErrorCode::kInput, "no such table");
    if (as.empty() || bs.empty()) throw usage_error("choose a baseline (A) and a candidate (B)");
    Words words = {"compare"};
    const bool sets = as.size() > 1 || request.param("sets") == "1";
    if (sets) words.emplace_back("--baseline");
    for (const std::string& one : as) words.push_back(names_.path_of(one));
    if (sets) words.emplace_back("--candidate");
    for (const std::string& one : bs) words.push_back(names_.path_of(one));
    words.emplace_back("--no-ingest");
    add_options(words, request.params);
    const std::string title = fmt::format("{} and {}", as.front(), bs.front());
    if (!section.empty()) {
      words.insert(words.begin() + 1, {"--section", section});
      Params whole = request.params;  // without what is about one table
      for (const char* one : {"sort", "columns", "offset"}) whole = changed(whole, one, "");
      ServedPage frame{.title = section + ": " + title,
                       .root = "../",
                       .crumbs = {{title, url("../c", whole)}, {section, ""}},
                       .body = {}};
      return rows_of(std::move(words), std::move(frame), request, form);
    }
    ServedPage frame{.title = title, .root = "./", .crumbs = {{title, ""}}, .body = {}};
    frame.body = "<nav class=\"tables\" aria-label=\"Tables of this comparison\">";
    const Words of_sets = {"verdict", "reasons", "ledger", "sets", "runs"};
    const Words of_two = {"verdict", "reasons", "ledger",    "fusion", "operations", "layers",  "roles",
                          "kernels", "steps",   "operators", "memory", "alignment",  "warnings"};
    for (const std::string& one : sets || bs.size() > 1 ? of_sets : of_two)
      frame.body += html_link({one, url("c/" + one, request.params)}) + " ";
    frame.body += "</nav>\n<p>" + html_link({"A: " + as.front(), url("t", {{"i", as.front()}})});
    for (const std::string& one : bs) frame.body += " · " + html_link({"B: " + one, url("t", {{"i", one}})});
    frame.body += "</p>\n";
    return report_of(std::move(words), std::move(frame), request);
  }

  HttpPlan trend(const HttpRequest& request, const std::string& form) {
    Words words = of_folders("trend");
    add_options(words, request.params);
    ServedPage frame{.title = "Trend", .root = "./", .crumbs = {{"trend", ""}}, .body = {}};
    const std::string metric = request.param("metric");
    std::string above = "<h1>Trend of " + html_text(metric.empty() ? "period" : metric) + "</h1>\n";
    above += "<form class=\"filter\" method=\"get\">\n" + field("metric", metric, "period, span, op:dense_gemm") +
             field("phase", request.param("phase"), "decode") +
             field("where", request.param("where"), "gpu LIKE '%H100%'") + "<button>Show</button></form>\n";
    HttpPlan out = rows_of(std::move(words), frame, request, form, above);
    let_follow(out.questions.front());
    if (!form.empty()) return out;
    out.answer = [this, frame, above](Questions asked) {
      ServedPage made = frame;
      made.body = "<main>\n" + above + trend_html(names_.without_paths(asked.front()->printed())) + "</main>\n";
      return page(std::move(made));
    };
    return out;
  }

  HttpPlan job(const HttpRequest& request) {
    const std::string folder = request.param("f");
    Words words = {"ranks", names_.folder_of(folder), "--no-ingest"};
    if (const std::string job = request.param("job"); !job.empty()) words.push_back("--job=" + job);
    ServedPage frame{.title = "Job " + folder, .root = "./", .crumbs = {{"job " + folder, ""}}, .body = {}};
    frame.body = "<nav class=\"tables\" aria-label=\"Ranks\">";
    for (const auto& [name, path] : names_.paths()) {
      if (folder == "." || folder.empty() || name.starts_with(folder + "/"))
        frame.body += html_link({name, url("t", {{"i", name}})}) + " ";
    }
    frame.body += "</nav>\n";
    HttpPlan out = report_of(words, frame, request);
    frame.body = "";
    words.insert(words.begin() + 1, {"--section", "ranks"});
    // No page is about several jobs: their ranks, with ways to each.
    HttpPlan several = rows_of(std::move(words), std::move(frame), request, "", "<h1>Several jobs</h1>\n");
    out.questions.push_back(std::move(several.questions.front()));
    out.are_alternatives = true;
    out.answer = [one = std::move(out.answer), all = std::move(several.answer)](Questions asked) {
      return asked.size() == 1 ? one(asked) : all(asked.subspan(1));
    };
    return out;
  }

  static std::string sql_form(const HttpRequest& request, const std::string& text) {
    // A statement too long for an address is sent as a form, by a page that names its origin.
    std::string out = fmt::format(
        "<meta name=\"referrer\" content=\"same-origin\">\n<h1>SQL</h1>\n"
        "<form class=\"sql\" id=\"sql\" method=\"{}\" action=\"sql\">\n",
        url_text(text).size() > kMostHeaderBytes / 2 ? "post" : "get");
    Params named;
    for (const std::string& one : request.all("i")) {
      named.emplace_back("i", one);
      out += hidden("i", one);
    }
    for (const auto& [name, value] : options_of_sql(request.params))
      out += is_view_flag(name) ? hidden(name, value) : field(name, value, "");
    out += fmt::format(
        "<textarea name=\"q\" rows=\"10\" spellcheck=\"false\" aria-label=\"SQL\">\n{}</textarea>\n"
        "<button>Run</button> <label><input type=\"checkbox\" name=\"plan\" value=\"1\"{}> plan</label> ",
        html_lines(text), request.param("plan").empty() ? "" : " checked");
    for (const Form& one : kForms) {
      if (request.is_post) out += fmt::format("<button formaction=\"sql.{0}\">{0}</button> ", one.ending);
    }
    return out + html_link({"questions with their SQL", url("sql", changed(named, "recipe", "list"))}) + " · " +
           html_link({"tables and columns", "schema"}) + "</form>\n";
  }

  HttpPlan sql(const HttpRequest& request, const std::string& form) {
    const Words indexes = request.all("i");
    if (indexes.empty()) throw usage_error("sql: name an index");
    const std::string query = request.param("q"), recipe = request.param("recipe"), table = request.param("from-table");
    ServedPage frame{.title = "SQL", .root = "./", .crumbs = {}, .body = {}};
    for (const std::string& one : indexes) frame.crumbs.push_back({one, url("t", {{"i", one}})});
    frame.crumbs.push_back({"sql", ""});
    Words words = {"sql"};
    for (const std::string& one : indexes) words.push_back(names_.path_of(one));
    if (!table.empty()) {  // its statement, to be changed
      const Words known = table_names();
      if (std::ranges::find(known, table) == known.end()) throw Error(ErrorCode::kInput, "no such table");
      words.front() = table;
      words.insert(words.end(), {"--no-ingest", "--explain"});
      add_options(words, request.params);
      return {.questions = {words}, .answer = [this, frame, request](Questions asked) {
                ServedPage out = frame;
                out.body = "<main>\n" + sql_form(request, names_.without_paths(asked.front()->printed())) + "</main>\n";
                return page(std::move(out));
              }};
    }
    if (recipe == "list") return rows_of({"sql", "--recipes"}, frame, request, form, sql_form(request, ""));
    if (query.empty() && recipe.empty()) {
      constexpr const char* kFirst = "SELECT name, count(*), sum(dur) FROM kernels GROUP BY name ORDER BY 3 DESC";
      frame.body = "<main>\n" + sql_form(request, kFirst) + "</main>\n";
      return ready(page(std::move(frame)));
    }
    words.emplace_back("--no-ingest");
    if (!recipe.empty()) words.push_back("--recipe=" + recipe);
    if (!request.param("plan").empty()) words.emplace_back("--plan");
    add_options(words, options_of_sql(request.params));
    // Neither an option nor the name of a file, whatever it looks like: both have no white space there.
    if (recipe.empty()) words.push_back((query.starts_with('-') ? " " : "") + query + "\n");
    return rows_of(std::move(words), frame, request, form, sql_form(request, query));
  }

  HttpPlan schema(const HttpRequest& request, const std::string& form) {
    const ServedPage frame{.title = "Tables and columns", .root = "./", .crumbs = {{"schema", ""}}, .body = {}};
    return rows_of({"schema"}, frame, request, form);
  }

  HttpPlan manual(const std::string& command) {
    if (known_command(command) == nullptr) throw Error(ErrorCode::kInput, "no such command");
    return printed({"help", command},
                   {.title = command, .root = "../", .crumbs = {{"help " + command, ""}}, .body = {}});
  }

  // What a command said beside its answer, but for what that has, too.
  [[nodiscard]] std::string notes_html(const Question& asked, std::string_view answer) const {
    std::vector<std::string> notes;
    for (const std::string& note : asked.notes()) notes.push_back(names_.without_paths(note));
    std::erase_if(notes, [&](const std::string& one) { return answer.find(html_text(one)) != std::string_view::npos; });
    return paragraphs(notes, "note");
  }

  // The text of a command as a page.
  HttpPlan printed(Words words, const ServedPage& frame) {
    if (words.front() != "help") add_limits(words);
    return {.questions = {words}, .answer = [this, frame](Questions asked) {
              ServedPage out = frame;
              const std::string text = names_.without_paths(asked.front()->printed());
              out.body =
                  fmt::format("<main><pre>{}</pre>\n{}</main>\n", html_lines(text), notes_html(*asked.front(), text));
              return page(std::move(out));
            }};
  }

  HttpPlan window(const HttpRequest& request) {
    Words words = {"export", names_.path_of(request.param("i")), "--no-ingest", "--format", "perfetto"};
    bool has_place = false;
    for (const auto& [name, value] : request.params) {
      const bool is_place = name == "step" || name == "from" || name == "to";
      if (is_place || name == "phase" || name == "device") words.push_back(fmt::format("--{}={}", name, value));
      has_place = has_place || is_place;
    }
    add_limits(words);
    HttpPlan out{.questions = {words}, .are_alternatives = true};
    // The whole, where an answer may be so large; else a step that is not the first, as that may be unlike the others.
    if (!has_place) {
      for (const char* place : {"--step=1", "--top-gaps=1"}) {
        out.questions.push_back(words);
        out.questions.back().emplace_back(place);
      }
    }
    out.answer = [](Questions asked) {
      constexpr std::string_view kFiles[] = {"window.json", "step1.json", "longest_gap.json"};
      return HttpAnswer{
          .body = asked.back()->printed(), .type = "application/json", .file = std::string(kFiles[asked.size() - 1])};
    };
    return out;
  }

  // All rows of a command as a file.
  HttpPlan file_of(Words words, const Form& form) {
    const std::string command = words.front();
    words.insert(words.end(), {"--format", std::string(form.format)});
    if (command != "schema" && command != "info") words.insert(words.end(), {"--limit", "0"});
    return {.questions = {words}, .answer = [this, form, command](Questions asked) {
              return HttpAnswer{.body = names_.without_paths(asked.front()->printed()),
                                .type = std::string(form.type),
                                .file = fmt::format("{}.{}", command, form.ending)};
            }};
  }

  // The rows of a command as a page, or as a file of that form.
  HttpPlan rows_of(Words words, ServedPage frame, const HttpRequest& request, const std::string& form,
                   std::string above = "") {
    const std::string command = words.front();
    const bool has_pages = command != "trend" && command != "schema";
    const Words page_of = {"--limit", std::to_string(kRowsOfPage), "--offset", std::to_string(offset_of(request))};
    Words told = words;
    if (form.empty() && has_pages && offset_of(request) > 0) told.insert(told.end(), page_of.begin(), page_of.end());
    frame.command = shown_command(told);
    add_limits(words);
    if (!form.empty()) return file_of(std::move(words), *std::ranges::find(kForms, form, &Form::ending));
    if (has_pages) {
      words.insert(words.end(), page_of.begin(), page_of.end());
      words.emplace_back("--total");
    }
    words.insert(words.end(), {"--format", "json"});
    const std::string_view last = std::string_view(request.path).substr(request.path.rfind('/') + 1);
    for (const Form& one : kForms) {
      if (request.is_post) break;  // the form has them
      frame.files.push_back({std::string(one.ending), url(fmt::format("{}.{}", last, one.ending), request.params)});
    }
    return {.questions = {words},
            .answer = [this, frame = std::move(frame), request, command, has_pages,
                       above = std::move(above)](Questions asked) {
              ServedPage out = frame;
              Answered answered = read_answer(names_.without_paths(asked.front()->printed()), command);
              out.body = fmt::format("<main>\n{}{}", above, paragraphs(answered.sentences, "headline"));
              constexpr std::size_t kMostBytes = 8'000'000;  // as of all answers
              for (AnsweredTable& table : answered.tables) {
                part_sums(table, offset_of(request), kRowsOfPage);
                if (!table.section.empty()) out.body += fmt::format("<h2>{}</h2>\n", html_text(table.section));
                out.body += "<div class=\"scroll\" tabindex=\"0\">\n";
                TableLinks links = links_of(request, out.root, names_);
                if (command == "schema" || command == "sql") links.head = {};  // they have an order of their own
                out.body += html_table(table.report, {command, {}, table.section}, kAllRows, kMostBytes, links);
                out.body += "</div>\n";
                if (has_pages) out.body += pages_html(request, table, answered.tables.size() > 1);
              }
              const std::size_t offset = offset_of(request);
              const std::string from = offset > 0 ? fmt::format(" behind the first {}", offset) : "";
              if (answered.tables.empty()) out.body += fmt::format("<p class=\"empty\">No rows{}.</p>\n", from);
              out.body += paragraphs(answered.warnings, "note") + "</main>\n";
              return page(std::move(out));
            }};
  }

  // The page that a command writes with `-o`, as a view.
  HttpPlan report_of(Words words, ServedPage frame, const HttpRequest& request) {
    frame.command = shown_command(words);
    frame.crumbs.insert(frame.crumbs.begin(), {"Traces", frame.root});
    add_limits(words);
    words.insert(words.end(), {"--format", "html"});
    return {.questions = {words}, .answer = [this, frame = std::move(frame), request](Questions asked) {
              ServedPage made = frame;
              if (asked.front()->exit_code() != 0)
                made.body += paragraphs({"Left out: " + names_.without_paths(asked.front()->message())}, "note");
              const std::string printed = names_.without_paths(asked.front()->printed());
              made.body += notes_html(*asked.front(), printed);
              return HttpAnswer{
                  .body = served_report(printed, made, [&](const std::string& one) { return link_of(one, request); })};
            }};
  }

  [[nodiscard]] HttpAnswer page(ServedPage frame) const {
    frame.crumbs.insert(frame.crumbs.begin(), {"Traces", frame.root});
    return {.body = served_page(frame)};
  }

  [[nodiscard]] std::string shown_command(const Words& words) const {
    std::string out = "trace-query";
    for (const std::string& word : words) {
      const std::string shown = names_.without_paths(word.substr(0, word.find_last_not_of('\n') + 1));
      const auto index = names_.paths().find(shown);
      const bool is_index = index != names_.paths().end() && index->second == word;
      out += ' ' + shell_word(is_index ? shown + ".tracedb" : shown);
    }
    return out;
  }

  // About all that was given.
  [[nodiscard]] Words of_folders(const std::string& command) const {
    Words words = {command};
    words.insert(words.end(), names_.given().begin(), names_.given().end());
    return words;
  }

  // Links may lead to folders that were not given.
  void let_follow(Words& words) const {
    if (names_.follows()) std::erase(words, "--read-only");
  }

  // Changes where what it shows does.
  [[nodiscard]] std::string etag_of(const HttpRequest& request) const {
    std::string text = fmt::format("{} {} {}", kVersion, request.path, request.takes_gzip);
    std::string about;  // the indexes that the view is of; else all
    for (const auto& [name, value] : request.params) {
      text += fmt::format("\n{}={}", name, value);
      if (name == "i" || name == "a" || name == "b") about += names_.identity(names_.path_of(value));
    }
    return fmt::format("\"{:016x}\"", hash64(text + (about.empty() ? names_.identity() : about)));
  }

  // What `ls` and `trend` print of indexes of one identity, under a filter in SQL: the first page needs both, and asks
  // for the second behind its first answer, which takes seconds where indexes are new.
  struct Listed {
    std::string key, list, trend;
  };
  // One for each page that is open beside others; those asked for last are kept.
  Listed& listed(const std::string& key) {
    constexpr std::size_t kMostKept = 16;
    const auto found = std::ranges::find(listed_, key, &Listed::key);
    if (found == listed_.end())
      listed_.push_front({key, "", ""});
    else
      listed_.splice(listed_.begin(), listed_, found);
    if (listed_.size() > kMostKept) listed_.pop_back();
    return listed_.front();
  }

  IndexNames names_;
  std::list<Listed> listed_;
  std::string perfetto_;  // "https://ui.perfetto.dev"
};

}  // namespace

std::unique_ptr<HttpPages> trace_pages(IndexNames names, std::string perfetto) {
  return std::make_unique<TracePages>(std::move(names), std::move(perfetto));
}

}  // namespace tracedb
