#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "base/text/closest_name.h"
#include "report/json_text.h"
#include "shared/usage_error.h"
#include "sql/user/schema_text.h"
#include "trace_query/command.h"
#include "trace_query/commands/mcp/mcp_parts.h"

namespace tracedb {
namespace {

constexpr int kMostRows = 200;  // of a page of a table

std::string text_of(const python::Value& arguments, std::string_view name) {
  const python::Value* const found = arguments.find(name);
  return found == nullptr ? "" : python::str(*found);
}

// A GLOB of a name, for one that an answer showed: with escapes for what must not be printed, and brackets of its own.
std::string glob_of_shown(std::string name) {
  const auto has = [&name](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("[") && !has("*") && !has("?") && !has("…") && !has("[[]") && !name.starts_with('/')) {
    std::string whole = "*";
    for (const char c : name) whole += c == '[' ? "[[]" : std::string(1, c);
    name = whole + "*";
  }
  for (std::size_t at = name.find('\\'); at != std::string::npos; at = name.find('\\', at + 1)) {
    const std::size_t length = name[at + 1] == 'x' ? 4 : name[at + 1] == 'u' ? 6 : 0;
    if (length > 0) name.replace(at, std::min(length, name.size() - at), "?");
  }
  return name;
}

// Arguments that are options of their names, with - for _.
void add_given(McpQuestion& to, const python::Value& arguments, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const python::Value* const found = arguments.find(name);
    if (found == nullptr) continue;
    std::string option = fmt::format("--{}", name);
    std::ranges::replace(option, '_', '-');
    std::string value = python::str(*found);
    if (name == "name") value = glob_of_shown(std::move(value));
    to.words.push_back(option + "=" + value);  // which may begin as an option does
  }
}

McpQuestion table_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "compact"});
  return {std::move(words), true, {}};
}

// Of a name, or of a list of names.
std::vector<std::string> paths_of(const IndexNames& names, const python::Value& given, std::string_view argument) {
  if (given.kind == python::Kind::kText) return {names.path_by_part(given.text)};
  constexpr std::size_t kMostIndexes = 50;
  if (given.items.empty() || given.items.size() > kMostIndexes)
    throw usage_error("{}: give 1 to {}", argument, kMostIndexes);
  std::vector<std::string> out;
  for (const python::Value& one : given.items) {
    if (one.kind != python::Kind::kText) throw usage_error("{}: names are texts", argument);
    out.push_back(names.path_by_part(one.text));
  }
  return out;
}

McpQuestion ask_list_indexes(const IndexNames& names, const python::Value& arguments) {
  McpQuestion out = table_of({"ls"});
  out.words.insert(out.words.end(), names.given().begin(), names.given().end());
  out.words.insert(out.words.end(),
                   {"--columns", "index_path,state,name,gpu,framework,model,rank,steps,period,period_on,kernels,date"});
  add_given(out, arguments, {"where"});
  out.identity = names.identity();
  return out;
}

McpQuestion ask_report(const IndexNames& names, const python::Value& arguments) {
  const std::string path = names.path_by_part(text_of(arguments, "index"));
  McpQuestion out{{"report", path, "--format", "table", "--width", "100"}, false, names.identity(path)};
  add_given(out, arguments, {"phase"});
  return out;
}

McpQuestion ask_table(const IndexNames& names, const python::Value& arguments) {
  const std::string path = names.path_by_part(text_of(arguments, "index"));
  if (text_of(arguments, "report") == "info") return {{"info", path, "--width", "100"}, false, names.identity(path)};
  McpQuestion out = table_of({text_of(arguments, "report"), path});
  add_given(out, arguments, {"phase", "step", "layer", "op", "name", "by", "sort", "columns", "what_if"});
  const python::Value* const rows = arguments.find("limit");
  if (rows != nullptr && (rows->number < 1 || rows->number > kMostRows)) throw usage_error("limit: 1 to {}", kMostRows);
  const std::string limit = text_of(arguments, "limit");
  out.words.insert(out.words.end(), {"--limit", limit.empty() ? "20" : limit});
  out.identity = names.identity(path);
  return out;
}

// Two traces, or two sets of runs where a side has several or the section is of sets alone.
McpQuestion ask_compare(const IndexNames& names, const python::Value& arguments) {
  McpQuestion out{{"compare"}, false, {}};
  const std::string section = text_of(arguments, "section");
  const bool sets = section == "sets" || section == "runs" || arguments.find("baseline")->items.size() > 1 ||
                    arguments.find("candidate")->items.size() > 1;
  for (const char* side : {"baseline", "candidate"}) {
    const std::vector<std::string> paths = paths_of(names, *arguments.find(side), side);
    if (sets) out.words.push_back(fmt::format("--{}", side));
    out.words.insert(out.words.end(), paths.begin(), paths.end());
    for (const std::string& path : paths) out.identity += names.identity(path);
  }
  out.is_table = !section.empty() && section != "page";
  out.has_commands = section == "reasons";
  out.words.insert(out.words.end(), {out.is_table ? "--section" : "--width", out.is_table ? section : "100"});
  if (out.is_table) out.words.insert(out.words.end(), {"--format", "compact"});
  add_given(out, arguments, {"phase"});
  return out;
}

McpQuestion ask_trend(const IndexNames& names, const python::Value& arguments) {
  McpQuestion out = table_of({"trend"});
  out.words.insert(out.words.end(), names.given().begin(), names.given().end());
  add_given(out, arguments, {"metric", "where", "phase"});
  out.identity = names.identity();
  return out;
}

McpQuestion ask_ranks(const IndexNames& names, const python::Value& arguments) {
  McpQuestion out{{"ranks", "--width", "100"}, false, names.identity()};
  const std::vector<std::string> paths = names.paths_below(text_of(arguments, "folder"));
  out.words.insert(out.words.begin() + 1, paths.begin(), paths.end());
  add_given(out, arguments, {"phase"});
  return out;
}

McpQuestion ask_sql(const IndexNames& names, const python::Value& arguments) {
  const python::Value* const query = arguments.find("query");
  const python::Value* const recipe = arguments.find("recipe");
  if ((query == nullptr) == (recipe == nullptr)) {
    throw usage_error("give either query or recipe (explain without a topic lists the recipes)");
  }
  McpQuestion out = table_of({"sql", "--max-rows", "10000"});
  for (const std::string& path : paths_of(names, *arguments.find("indexes"), "indexes")) {
    out.words.push_back(path);
    out.identity += names.identity(path);
  }
  if (recipe != nullptr) out.words.push_back("--recipe=" + python::str(*recipe));
  if (const python::Value* const params = arguments.find("params")) {
    for (const python::Member& one : params->members)
      out.words.push_back("--param=" + one.key + "=" + python::str(one.value));
  }
  if (query == nullptr) return out;
  // Neither an option nor the name of a file, whatever it looks like: both have no white space there.
  const std::string text = python::str(*query);
  out.words.push_back((text.starts_with('-') ? " " : "") + text + "\n");
  return out;
}

McpQuestion ask_explain(const IndexNames&, const python::Value& arguments) {
  std::string topic = text_of(arguments, "topic");
  constexpr std::string_view kView = "view ";  // tells it from the command of its name
  if (topic.starts_with(kView))
    return {{"schema", "--object=" + topic.substr(kView.size()), "--width", "100"}, false, {}};
  if (topic.empty() || topic == "agents") return {{"help", "agents"}, false, {}};
  if (topic == "recipes") return {{"sql", "--recipes"}, false, {}};
  if (known_command(topic) != nullptr) return {{"help", topic}, false, {}};
  if (std::ranges::find(recipes(), topic, &Recipe::name) != recipes().end())
    return {{"sql", "--recipes", "--recipe", topic}, false, {}};
  return {{"schema", "--object=" + topic, "--width", "100"}, false, {}};
}

// Whether a tool takes this value of an argument.
bool takes(const McpTool& tool, std::string_view name, const std::string& value) {
  const auto found = std::ranges::find(tool.arguments, name, &McpTool::Argument::name);
  return found != tool.arguments.end() &&
         (found->choices.empty() || std::ranges::find(found->choices, value) != found->choices.end());
}

// A call for the words of a command line; "": no tool answers it.
std::string call_of(const std::vector<std::string>& words, const std::map<std::string, std::string>& sides) {
  if (words.size() < 2) return "";
  const bool compares = words[1] == "compare";
  const McpTool& tool = *std::ranges::find(mcp_tools(), compares ? "compare" : "table", &McpTool::name);
  if (!compares && !takes(tool, "report", words[1])) return "";
  JsonWriter out;
  out.open('{');
  if (!compares) out.member("report", words[1]);
  std::size_t inputs = 0;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (const auto side = sides.find(words[i]); side != sides.end()) {
      out.member(!compares ? "index" : inputs++ == 0 ? "baseline" : "candidate", side->second);
      continue;
    }
    const std::string name = words[i].starts_with("--") ? words[i].substr(2) : "";
    if (i + 1 == words.size() || !takes(tool, name, words[i + 1])) return "";
    out.member(name, words[++i]);
  }
  return compares && inputs != 2 ? "" : fmt::format("{} {}", tool.name, out.close('}').take());
}

// Of the names in the commands of an answer, $A and the like, the indexes.
std::map<std::string, std::string> sides_of(const IndexNames& names, const std::vector<std::string>& question) {
  std::map<std::string, std::string> sides;
  const bool compares = question.front() == "compare";
  for (std::size_t i = 1; i < question.size() && i <= (compares ? 2U : 1U) && !question[i].starts_with("--"); ++i)
    sides[compares ? (i == 1 ? "$A" : "$B") : "$T"] = names.without_paths(question[i]);
  return sides;
}

}  // namespace

std::string with_file_names(const std::string& page) {
  std::string out;
  for (std::size_t i = 0; i < page.size();) {
    const bool begins = page[i] == '/' && (i == 0 || page[i - 1] == ' ' || page[i - 1] == '\n');
    const std::size_t end = begins ? std::min(page.find_first_of(" \n", i), page.size()) : i + 1;
    const std::size_t slash = begins ? page.rfind('/', end - 1) : i;
    out += begins ? page.substr(slash + 1, end - slash - 1) : page.substr(i, 1);
    i = end;
  }
  return out;
}

std::string with_calls(const std::string& page, const IndexNames& names, const std::vector<std::string>& question) {
  const std::map<std::string, std::string> sides = sides_of(names, question);
  std::string out;
  for (std::size_t begin = 0; begin < page.size();) {
    std::size_t end = std::min(page.find('\n', begin), page.size());
    std::string line = page.substr(begin, end - begin);
    while (line.ends_with('\\') && end < page.size()) {  // goes on in the next one
      const std::size_t next = std::min(page.find('\n', end + 1), page.size());
      line.back() = ' ';
      line += page.substr(end + 1, next - end - 1);
      end = next;
    }
    begin = end + 1;
    const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view rest = std::string_view(line).substr(text);
    if (text > 0 && rest.size() > 1 && rest[1] == '=' && sides.contains("$" + std::string(rest.substr(0, 1)))) continue;
    if (text > 0 && rest.starts_with("trace-query ")) {
      const std::string call = call_of(words_of(rest), sides);
      if (call.empty()) continue;  // a person's
      line = line.substr(0, text) + "next: " + call;
    }
    out += line + "\n";
  }
  return out;
}

std::string with_calls_in_cells(std::string table, std::size_t most, const IndexNames& names,
                                const std::vector<std::string>& question) {
  constexpr std::string_view kCommand = "\"trace-query ";
  const std::map<std::string, std::string> sides = sides_of(names, question);
  std::size_t end = 0;
  for (std::size_t at = table.find(kCommand); at != std::string::npos; at = table.find(kCommand, end)) {
    end = at + 1;
    while (end < table.size() && table[end] != '"') end += table[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, table.size());
    if (table.compare(end, 1, "]") != 0) continue;  // not in the last column, that of commands: a name
    const std::size_t size = end - at;
    const std::string call = call_of(words_of(table.substr(at + 1, size - 2)), sides);
    std::string cell = call.empty() ? "null" : json_string(call);
    if (table.size() - size + cell.size() > most) cell = "null";
    table.replace(at, size, cell);
    end = at + cell.size();
  }
  return table;
}

std::span<const McpTool> mcp_tools() {
  static const std::vector<McpTool> kTools = [] {
    const McpTool::Argument index{"index", "name of an index as list_indexes has it, or its unique part",
                                  McpTool::Argument::Type::kText, true};
    const McpTool::Argument cursor{"cursor", "nextCursor of the answer before"};
    const McpTool::Argument phase{"phase", "kind of step: prefill, decode, mixed, train"};
    std::vector<McpTool> out = {
        {"list_indexes",
         "Indexes of profiler traces: GPU, framework, model, rank, steps, period (ns), kernels, date.",
         {{"where", "SQL over the columns of ls, as in: gpu LIKE '%H100%'"}, cursor},
         ask_list_indexes},
        {"report", "What one trace is and what to look at first, in sentences.", {index, phase, cursor}, ask_report},
        {"table",
         "Rows of one report about one trace, largest first. Times are ns.",
         {index,
          {"report", "which table", McpTool::Argument::Type::kText, true, table_names()},
          phase,
          {"step", "3, 3..9"},
          {"layer", "7, 0..3"},
          {"op", "operation class, as ops has them"},
          {"name", "of a kernel or a part of it; a GLOB with * or ?"},
          {"by", "another grouping of the report, as its help says"},
          {"sort", "column, or column:asc"},
          {"columns", "only these, by commas"},
          {"what_if", "of critical-path: WHAT:FACTOR, as in dense_gemm:0.8"},
          {"limit", "rows: 1 to 200 (20)", McpTool::Argument::Type::kInteger},
          cursor},
         ask_table},
        {"compare",
         "Why one trace is slower or faster than another: verdict, reasons in order of size, fusions, warnings. Lists "
         "are sets of runs, which also say how sure a change is.",
         {{"baseline", "index, or indexes of runs", McpTool::Argument::Type::kTextOrTexts, true},
          {"candidate", "the same", McpTool::Argument::Type::kTextOrTexts, true},
          phase,
          {"section",
           "page (sentences), or rows of a section; of sets verdict, reasons, ledger, sets, runs",
           McpTool::Argument::Type::kText,
           false,
           {"page", "verdict", "reasons", "ledger", "fusion", "operations", "layers", "roles", "kernels", "steps",
            "alignment", "same-kernels", "warnings", "sets", "runs"}},
          cursor},
         ask_compare},
        {"trend",
         "A figure of many traces in order of time, and where its level changes.",
         {{"metric", "period, span, op:CLASS, kernel:NAME"}, {"where", "SQL over the columns of ls"}, phase, cursor},
         ask_trend},
        {"ranks",
         "The ranks of one job: who waits for whom in collectives, and why.",
         {{"folder", "of the job, as names of indexes begin; .: all", McpTool::Argument::Type::kText, true},
          phase,
          cursor},
         ask_ranks},
        {"sql",
         "Read-only SQL on one or several indexes (a first one named main; explain view kernels: columns), or a "
         "recipe.",
         {{"indexes", "names", McpTool::Argument::Type::kTexts, true},
          {"query", "one SELECT"},
          {"recipe", "name of a question of the cookbook: explain recipes"},
          {"params", "values of :name", McpTool::Argument::Type::kObject},
          cursor},
         ask_sql},
        {"explain",
         "What to ask, and what names mean. Topics: recipes, one of them, a command, a table or column, view NAME.",
         {{"topic", "nothing: a guide"}, cursor},
         ask_explain}};
    return out;
  }();
  return kTools;
}

void check_arguments(const McpTool& tool, const python::Value& arguments) {
  std::vector<std::string> known;
  for (const McpTool::Argument& one : tool.arguments) known.emplace_back(one.name);
  for (const python::Member& given : arguments.members) {
    const auto found = std::ranges::find(tool.arguments, given.key, &McpTool::Argument::name);
    if (found == tool.arguments.end()) {
      throw usage_error("{} has no argument '{}'{}; it has {}", tool.name, given.key, did_you_mean(given.key, known),
                        fmt::join(known, ", "));
    }
    const python::Kind kind = given.value.kind;
    using enum McpTool::Argument::Type;
    const bool fits = found->type == kText      ? kind == python::Kind::kText
                      : found->type == kInteger ? kind == python::Kind::kInt
                      : found->type == kObject
                          ? kind == python::Kind::kDict
                          : kind == python::Kind::kList || (found->type == kTextOrTexts && kind == python::Kind::kText);
    if (!fits) throw usage_error("argument '{}' of {} is of another type", given.key, tool.name);
    if (!found->choices.empty() && std::ranges::find(found->choices, given.value.text) == found->choices.end()) {
      throw usage_error("{} '{}': there are {}", given.key, given.value.text, fmt::join(found->choices, ", "));
    }
  }
  for (const McpTool::Argument& one : tool.arguments) {
    if (one.is_required && arguments.find(one.name) == nullptr)
      throw usage_error("{} needs the argument '{}': {}", tool.name, one.name, one.meaning);
  }
}

std::string tools_json() {
  constexpr std::string_view kTypes[] = {"string", "integer", "array", "object"};
  JsonWriter out;
  out.open('[');
  for (const McpTool& tool : mcp_tools()) {
    out.open('{').member("name", tool.name).member("description", tool.description).key("inputSchema").open('{');
    out.member("type", "object").key("properties").open('{');
    std::vector<std::string> required;
    for (const McpTool::Argument& one : tool.arguments) {
      out.key(one.name).open('{').member("description", one.meaning);
      if (one.type == McpTool::Argument::Type::kTextOrTexts) {
        out.key("anyOf").json(R"([{"type":"string"},{"type":"array","items":{"type":"string"}}])");
      } else {
        out.member("type", kTypes[static_cast<std::size_t>(one.type)]);
      }
      if (one.type == McpTool::Argument::Type::kInteger) out.member("minimum", 1).member("maximum", kMostRows);
      if (one.type == McpTool::Argument::Type::kTexts) out.key("items").json(R"({"type":"string"})");
      if (one.type == McpTool::Argument::Type::kObject) out.key("additionalProperties").json(R"({"type":"string"})");
      if (!one.choices.empty()) out.member("enum", one.choices);
      out.close('}');
      if (one.is_required) required.emplace_back(one.name);
    }
    out.close('}').member("required", required).key("additionalProperties").json("false").close('}');
    out.key("annotations")
        .json(R"({"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false})");
    out.close('}');
  }
  return out.close(']').take();
}

}  // namespace tracedb
