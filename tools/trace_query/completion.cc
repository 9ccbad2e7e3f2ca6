#include "trace_query/completion.h"

#include <algorithm>

#include "passes/classify/rule_set.h"
#include "report/renderers.h"
#include "sql/user/schema_text.h"
#include "trace_query/export_formats.h"
#include "trace_query/options.h"
#include "trace_query/report_shapes.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

void add_words(Candidates& to, const Candidates& more) {
  for (const Candidate& candidate : more.words) {
    const bool known =
        std::ranges::any_of(to.words, [&](const Candidate& other) { return other.word == candidate.word; });
    if (!known) to.words.push_back(candidate);
  }
}

Candidates any_file() { return {{}, true, false}; }

Candidates as_list(Candidates candidates) {
  candidates.several = true;
  return candidates;
}

Candidates column_words(std::string_view command) {
  Candidates out;
  for (const ReportShape& shape : shapes_of_command(command)) {
    for (const Column& column : shape.columns) add_words(out, {{{column.key, std::string(column.meaning)}}});
  }
  return out;
}

Candidates section_words(std::string_view command) {
  Candidates out;
  for (const ReportShape& shape : shapes_of_command(command)) {
    if (shape.is_section) out.words.push_back({shape.variant, std::string(shape.summary)});
  }
  if (command == "compare") out.words.push_back({"all"});
  return as_list(out);
}

Candidates class_words(const std::string& prefix) {
  Candidates out;
  for (const std::string& name : load_rules("default").classes) out.words.push_back({prefix + name});
  return out;
}

Candidates recipe_words() {
  Candidates out;
  for (const Recipe& recipe : recipes()) out.words.push_back({std::string(recipe.name), std::string(recipe.question)});
  return out;
}

Candidates report_words() {
  Candidates out;
  for (const ReportShape& shape : report_shapes()) add_words(out, {{{std::string(shape.report)}}});
  return out;
}

Candidates format_words(std::string_view command) {
  Candidates out;
  if (command == "export") {
    for (const ExportFormat& format : kExportFormats)
      out.words.push_back({std::string(format.name), std::string(format.what)});
    return out;
  }
  if (command == "report") {
    for (const char* format : {"html", "table", "markdown", "json"}) out.words.push_back({format});
    return out;
  }
  for (const Renderer& renderer : renderers()) out.words.push_back({std::string(renderer.name)});
  return out;
}

Candidates rule_set_words() {
  Candidates out = any_file();
  for (const std::string& name : rule_set_names()) out.words.push_back({name});
  return out;
}

Candidates metric_words() {
  Candidates out = one_of("period,span,kernel:");
  add_words(out, class_words("op:"));
  return out;
}

// Words for the values of options, each only of the commands named, or of all.
struct KnownValues {
  std::string_view option, command, words;
};
constexpr KnownValues kKnownValues[] = {
    {"timeunit", "", "auto,ns,us,ms,s"},
    {"color", "", "auto,always,never"},
    {"layer", "", "head,tail,none"},
    {"normalise", "", "step,token,none"},
    {"gate-inconclusive", "", "pass,fail"},
    {"gate-metric", "", "worse,span,busy,period,kernel_time"},
    {"method", "", "sequence,wafer"},
    {"view", "", "tree,callers,flat,collapsed"},
    {"lang", "", "en,zh"},
    {"mapping-root", "", "auto,top"},
    {"hcom-dedup", "", "window=500ns,name,none"},
    {"boundaries", "", "stall,gap=,count=,none"},
    {"platform", "", "amd,nvidia"},
    {"compat", "aie", "stream"},
    {"compat", "model", "msmodeling"},
    {"by", "ops", "role,pass"},
    {"by", "kernels", "pass"},
    {"by", "layers", "pass"},
    {"by", "sequences", "name,op"},
    {"by", "stacks", "module,function"},
    {"by", "model", "kernel,shape,source"},
    {"by", "compare", "op,role,layer,kernel,class"},
};

// Options whose value is a file or a folder.
constexpr std::string_view kFileOptions[] = {"output",        "files-from", "capture",   "file",  "save-baseline",
                                             "baseline-file", "op-map",     "scenarios", "model", "profile",
                                             "trace-dir",     "data-dir",   "baseline"};

Candidates value_words(std::string_view command, const std::string& option) {
  for (const KnownValues& known : kKnownValues) {
    if (known.option == option && (known.command.empty() || known.command == command)) return one_of(known.words);
  }
  if (std::find(std::begin(kFileOptions), std::end(kFileOptions), option) != std::end(kFileOptions)) return any_file();
  if (option == "phase" && command == "trend") return one_of(kStepKindWords);
  if (option == "phase") return as_list(one_of(std::string(kStepKindWords) + ",none"));
  if (option == "op") return as_list(class_words(""));
  if (option == "class") return class_words("");
  if (option == "columns") return as_list(column_words(command));
  if (option == "sort") return column_words(command);
  if (option == "section") return section_words(command);
  if (option == "format") return format_words(command);
  if (option == "rules") return rule_set_words();
  if (option == "recipe") return recipe_words();
  if (option == "json-schema") return report_words();
  if (option == "metric") return metric_words();
  return {};
}

// "rules show|check [options] ..." has its actions in front.
Candidates argument_words(const Command& command, bool first) {
  Candidates out = any_file();
  const std::string usage = command.usage.substr(std::min(command.name.size() + 1, command.usage.size()));
  std::string word = usage.substr(0, usage.find(' '));
  if (!first || word.find('|') == std::string::npos || word.find('[') != std::string::npos) return out;
  std::replace(word.begin(), word.end(), '|', ',');
  return one_of(word);
}

}  // namespace

Candidates complete_command(const Command& command, std::span<const std::string> words,
                            const po::options_description& options) {
  const auto values = [&](const po::option_description& option) {
    return value_words(command.name, option.long_name());
  };
  return complete(words, options, values, argument_words(command, words.size() < 2));
}

Candidates complete_program(std::span<const Command> commands, std::span<const std::string> words) {
  Candidates known = any_file();
  for (const Command& command : commands)
    known.words.push_back({std::string(command.name), std::string(command.summary)});
  if (words.size() > 1) {
    known.files = false;
    return words.size() == 2 && words[0] == "help" ? complete(words.subspan(1), {}, {}, known) : Candidates{};
  }
  known.words.push_back({"help", "the columns of a report, too"});
  po::options_description options;
  options.add_options()("help", "every command")("version", "print the version");
  return complete(words, options, {}, known);
}

}  // namespace tracedb
