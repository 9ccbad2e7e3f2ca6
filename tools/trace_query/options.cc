#include "trace_query/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "base/files/input_file.h"
#include "base/files/sandbox.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "compare/runs/roll_up.h"
#include "index/locate.h"
#include "trace_query/help.h"
#include "trace_query/limits.h"
#include "trace_query/open.h"
#include "trace_query/output.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;
using enum OptionGroup;

std::string format_names() {
  std::string names;
  for (const Renderer& renderer : renderers()) names += (names.empty() ? "" : ", ") + std::string(renderer.name);
  return names;
}

constexpr std::string_view kPageFormat = "html";

bool ends_as_page(std::string_view path) { return path.ends_with(".html") || path.ends_with(".htm"); }

// Memory grows with the size of an index, never with what is in it. The index of a compressed trace is about as large.
std::uint64_t usual_memory(const std::vector<std::string>& inputs) {
  constexpr std::uint64_t kLeast = std::uint64_t{2} << 30U;
  constexpr std::uint64_t kFactor = 16;
  std::uint64_t bytes = 0;
  for (const std::string& input : inputs) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(input, error);
    if (!error) bytes += size;
  }
  return kLeast + kFactor * bytes;
}

struct SharedOption {
  OptionGroup group;
  const char* names;
  const char* help;
  OptionKind kind = OptionKind::kValue;
};

// Options of several commands, by group, in the order of the help.
constexpr SharedOption kSharedOptions[] = {
    {kPlaces, "device", "only these devices, by number: 0 or 0,1", OptionKind::kList},
    {kPlaces, "stream", "only these streams: 7 or 7,20", OptionKind::kList},
    {kPlaces, "step", "only step A, or steps A..B, A.., ..B, or several: 1,3,7..9", OptionKind::kList},
    {kPlaces, "phase",
     "only steps of these kinds: prefill, decode, mixed, train, other, unknown, unit; none: in no step; several: "
     "decode,mixed",
     OptionKind::kList},
    {kPlaces, "from",
     "only what starts at or after this time: 12345 (ns), 1.5ms, 2s; timeline and gaps cut work off there"},
    {kPlaces, "to", "only what starts before this time; timeline and gaps cut work off there"},
    {kSelection, "op", "only kernels of these operation classes, names or GLOBs: norm,'attention*'", OptionKind::kList},
    {kSelection, "name", "only names that match a GLOB (* ? [), contain a text, or match a /REGEX/"},
    {kLayers, "layer",
     "only layer A, or layers A..B, A.., ..B; STACK:A..B of one stack of several; head, tail: around the layers; none"},
    {kSteps, "step-regex",
     "steps are the annotations that match this expression, instead of those the built-in grammar knows; its groups "
     "say what a step is: (?<kind>..) (?<context_requests>..) (?<context_tokens>..) (?<generation_requests>..) "
     "(?<generation_tokens>..), or, unnamed, kind, context tokens and generation tokens in this order"},
    {kCapture, "capture",
     "take operators, Python stacks and layers of graph replays from this trace: a run of the same model without "
     "graphs, or the one in which the graphs were captured"},
    {kRules, "rules", "classes by these rules: default, wafer, or a file of rules (or set TRACEDB_RULES)"},
    {kRows, "limit,n",
     "first N rows, the rest in one [others] row; 0: all (default: 30 for a table on standard output, else 0)"},
    {kRows, "cum", "as many of the first rows as make up so many percent of the time (share): 95"},
    {kRows, "offset", "without the first N rows: with --limit a page of a table"},
    {kRows, "total", "json: total_rows says how many rows there are", OptionKind::kFlag},
    {kRows, "sort", "COL or COL:asc; largest first unless :asc is given"},
    {kRows, "columns", "only these columns, in this order: total_time,instances,name"},
    {kOutput, "output,o",
     "write to this file instead of standard output; its ending names the format: x.csv, x.json, x.md",
     OptionKind::kOutputFile},
    {kOutput, "budget", "compact: at most so many bytes; next_offset says where the rest begins"},
    {kOutput, "timeunit", "auto, ns, us, ms or s; JSON always has ns"},
    {kOutput, "width",
     "characters in a line of a table; 0: any (default: TRACEDB_COLUMNS or COLUMNS, else those of the terminal, else "
     "160)"},
    {kOutput, "wide", "tables with all columns and whole names, however long their lines get", OptionKind::kFlag},
    {kOutput, "color", "auto (default: on a terminal, unless NO_COLOR is set), always or never: verdicts stand out"},
    {kOutput, "raw-cells", "CSV and TSV: no ' before text that a spreadsheet would evaluate", OptionKind::kFlag},
    {kExplain, "explain", "print the SQL and what it reads instead of the answer", OptionKind::kFlag},
    {kFiles, "files-from",
     "read more names of traces, indexes and folders from this file, one a line or separated by NUL; -: standard "
     "input"},
    {kNoIngest, "no-ingest", "never build an index: a trace without a valid one is an error", OptionKind::kFlag},
    {kTimeline, "per-stream", "a row for each stream instead of each device", OptionKind::kFlag},
    {kTimeline, "kernel-wait",
     "gaps below this time before work that was already launched are kernel_wait (default: 2us)"},
    {kMicroIdle, "micro-idle", "gaps below this time are micro idle (default: 10us)"},
    {kSteady, "steady", "only the longest run of steps whose decode batch is within 5 % of the largest",
     OptionKind::kFlag},
    {kSequences, "length", "kernels in a sequence: 2 to 64 (default 3)"},
    {kSequences, "least", "only sequences seen at least this often (default 2)"},
    {kByFrames, "by",
     "module: by class of nn.Module; function (or line): by function of your own code, with the line where it begins; "
     "your own is that of --own or, without it, all files but those of Python, torch, triton, numpy and the like"},
    {kFrames, "own", "only frames of these files, GLOBs: 'vllm/*,train.py'", OptionKind::kList},
    {kFrames, "modules", "only nn.Module frames, those of one class and caller together: Layer_*", OptionKind::kFlag},
    {kFrames, "each-module", "only nn.Module frames, one by one", OptionKind::kFlag},
    {kCallTree, "all-frames", "also frames that only call one other frame", OptionKind::kFlag},
    {kLimits, "timeout",
     "give up after this many seconds, not counting those to build an index (default: 600; 0: never)"},
    {kLimits, "max-memory",
     "give up beyond this much memory, e.g. 500M or 4G (default: 2G and 16 times the size of the inputs; 0: no limit)"},
    {kLimits, "read-only",
     "give up the rights to write files but those of the cache, to read others than the command line names, to start "
     "programs and to connect, and never build an index; for indexes of unknown origin",
     OptionKind::kFlag},
    {kEvery, "quiet,q", "no notes on standard error", OptionKind::kFlag},
    {kEvery, "help,h", "show this help", OptionKind::kFlag},
};

bool is_own(OptionGroup group) { return group >= kTimeline && group <= kCallTree; }

bool selects(OptionGroup group) {
  return group == kPlaces || group == kSelection || group == kLayers || group == kSteps || group == kCapture ||
         group == kRules;
}

// Another spelling of an option: --normalize.
std::vector<std::string> in_our_spelling(std::span<const std::string> args) {
  constexpr std::string_view kTheirs = "--normalize", kOurs = "--normalise";
  std::vector<std::string> words(args.begin(), args.end());
  for (std::string& word : words) {
    if (word == kTheirs || word.starts_with(std::string(kTheirs) + "=")) word.replace(0, kTheirs.size(), kOurs);
  }
  return words;
}

// Options of other tools, and what there is instead.
constexpr std::string_view kOtherOptions[][2] = {
    {"--top", "-n N, --limit N: the first N rows"},
    {"--filter", "--name, --op, --phase, --step, --layer, --device, --from, --to select (--help); sql has WHERE"}};

// Of -o: a name that ends otherwise than those of the formats of a command is refused; a format that is given is
// written under any name.
void require_known_ending(const CommandLine& line) {
  std::vector<std::string> known;
  bool given = line.has("compat");  // writes what the other program does
  for (const Renderer& renderer : line.knows("csv") ? renderers() : std::span<const Renderer>()) {
    std::istringstream endings{std::string(renderer.endings)};
    for (std::string ending; endings >> ending;) known.push_back("." + ending);
    given = given || line.has("format") || line.has(std::string(renderer.name));
  }
  if (line.can_page()) known.insert(known.end(), {".html", ".htm"});
  const bool has_own = line.knows("format") && !line.knows("csv");  // export
  if (!given && !has_own && !known.empty()) refuse_unknown_ending(line.text("output").value_or(""), known);
}

void refuse_other_options(const CommandLine& line, std::span<const std::string> args) {
  for (const std::string& arg : args) {
    for (const auto& [other, ours] : kOtherOptions) {
      if (arg.substr(0, arg.find('=')) != other || line.knows(std::string(other.substr(2)))) continue;
      throw usage_error("unknown option {}: use {}", other, ours);
    }
  }
}

}  // namespace

const std::string& known_phase(const std::string& text) {
  static const std::vector<std::string> kKinds = split_names(std::string(kStepKindWords) + ",none");
  if (std::ranges::find(kKinds, text) == kKinds.end()) {
    throw usage_error("--phase {}: use prefill, decode, mixed, train, other, unknown, unit or none{}", text,
                      did_you_mean(text, kKinds));
  }
  return text;
}

void refuse_unknown_ending(const std::string& file, std::span<const std::string> known) {
  const std::string ending = std::filesystem::path(file).extension();
  if (ending.empty() || std::ranges::find(known, ending) != known.end()) return;
  throw usage_error("-o {}: no format has the ending {}; there are {}", printable_path(file), ending,
                    fmt::join(known, ", "));
}

void require_known(std::string_view option, const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) != known.end()) return;
  throw usage_error("--{} {}: there are {}{}", option, word, fmt::join(known, ", "), did_you_mean(word, known));
}

std::string_view format_of_name(std::string_view path) {
  if (ends_as_page(path)) return kPageFormat;
  const Renderer* renderer = find_renderer_of_file(path);
  return renderer == nullptr || renderer->name == "table" ? "" : renderer->name;
}

CommandLine::CommandLine(const Command& command, const std::vector<OptionGroup>& groups)
    : command_(command), formats_(format_names()), own_(fmt::format("Options of {}", command.name)) {
  for (const OptionGroup group : groups) add_group(group);
  if (std::ranges::find(groups, kServer) == groups.end()) add_group(kLimits);
  add_group(kEvery);
  has_page_ = std::ranges::find(groups, kPage) != groups.end();
}

void CommandLine::add_to(Described& to, const char* names, OptionKind kind, const char* help) {
  auto adder = to.add_options();
  const std::string all = names;
  if (kind == OptionKind::kOutputFile) outputs_.push_back({all.substr(0, all.find(','))});
  if (kind == OptionKind::kFlag) {
    adder(names, help);
  } else if (kind == OptionKind::kList || kind == OptionKind::kWords) {
    auto* const words = po::value<std::vector<std::string>>();
    if (kind == OptionKind::kWords) words->multitoken()->composing();
    adder(names, words->value_name(kind == OptionKind::kWords ? "X..." : "X"), help);
  } else {
    adder(names, po::value<std::string>()->value_name(kind == OptionKind::kOutputFile ? "FILE" : "X"), help);
  }
}

void CommandLine::add_group(OptionGroup group) {
  if (group == kPage) formats_ += fmt::format(", {} (one page to look at and to hand on)", kPageFormat);
  if (group == kSelection) add_group(kPlaces);
  if (group == kCallTree) add_group(kFrames);
  if (group == kInput) {
    add_group(kFiles);
    add_group(kNoIngest);
  }
  if (group == kOutput) {
    add_to(common_, "format", OptionKind::kValue, ("one of " + formats_ + " (default: table)").c_str());
    for (const Renderer& renderer : renderers()) {
      const std::string name(renderer.name);
      add_to(common_, name.c_str(), OptionKind::kFlag, ("same as --format " + name).c_str());
    }
  }
  for (const SharedOption& option : kSharedOptions) {
    if (option.group != group) continue;
    add_to(is_own(group) ? own_ : selects(group) ? selection_ : common_, option.names, option.kind, option.help);
  }
}

void CommandLine::add(std::initializer_list<OptionGroup> groups) {
  for (const OptionGroup group : groups) add_group(group);
}

CommandLine::Described CommandLine::all() const {
  Described out;
  for (const Described* part : {&own_, &selection_, &common_}) {
    if (!part->options().empty()) out.add(*part);
  }
  return out;
}

bool CommandLine::parse(std::span<const std::string> args) {
  if (!args.empty() && args.front() == kCompleteOption) {
    std::cout << to_lines(complete_command(command_, args.subspan(1), all()));
    return false;
  }
  if (args.size() == 1 && args.front() == kManualOption) {
    std::cout << command_manual(command_, more_help_,
                                {{"Options", &own_}, {"Selection", &selection_}, {"Common options", &common_}});
    return false;
  }
  refuse_other_options(*this, args);
  values_ = parse_options(in_our_spelling(args), all(), {}, "positional");
  positional_ = words("positional");
  if (has("help")) {
    std::cout << fmt::format("Usage: trace-query {}\n\n{}\n", command_.usage, command_.summary) << all()
              << fmt::format("\nExample:\n{}\n{}", command_.example, more_help_);
    return false;
  }
  require_safe_outputs(values_, outputs_, "positional");
  require_known_ending(*this);
  if (!finds_inputs_) return true;
  std::vector<std::string> notes;
  inputs_ = knows("files-from") ? find_inputs(positional_, text("files-from"), &notes) : positional_;
  for (const std::string& one : notes) note(*this, one);
  set_limits();
  return true;
}

void CommandLine::set_inputs(std::vector<std::string> inputs) {
  inputs_ = std::move(inputs);
  if (!finds_inputs_) set_limits();
}

void CommandLine::set_limits() const {
  const bool is_fixed = has("read-only");  // a server set the limits, for somebody who cannot
  if (is_fixed) limit_rights();            // before the clock: its thread has no more rights either
  const std::string seconds = text("timeout").value_or("600");
  if (seconds != "0") run_limits::limit_time(parse_seconds(seconds), is_fixed);
  const std::string size = text("max-memory").value_or("");
  if (size != "0") run_limits::limit_memory(size.empty() ? usual_memory(inputs_) : parse_size(size), is_fixed);
}

void CommandLine::limit_rights() const {
  for (const OutputOption& output : outputs_) {
    if (has(output.name)) throw usage_error("--read-only goes without --{}: answers on standard output", output.name);
  }
  std::vector<std::filesystem::path> readable;  // what the command line names, and the index or the trace beside it
  const auto add = [&](const std::string& word) {
    std::error_code error;
    if (word.empty() || !std::filesystem::exists(word, error)) return;
    readable.emplace_back(word);
    readable.push_back(sidecar_path(word));
    // Not where a link leads out of the folder.
    if (const auto trace = trace_beside(word); trace && !std::filesystem::is_symlink(*trace, error))
      readable.push_back(*trace);
  };
  std::ranges::for_each(inputs_, add);
  std::ranges::for_each(positional_, add);
  for (const auto& [name, value] : values_) {
    if (!value.empty()) std::ranges::for_each(words(name), add);
  }
  add(setting("rules", "TRACEDB_RULES").value_or(""));
  const std::filesystem::path cache = cache_directory();
  RollUpCache(cache).make_folder();
  if (const std::string failed = restrict_thread(readable, std::span(&cache, 1)); !failed.empty()) {
    throw Error(ErrorCode::kResource, "--read-only: this system refused it: " + failed);
  }
}

bool CommandLine::knows(const std::string& name) const { return all().find_nothrow(name, false) != nullptr; }

bool CommandLine::has(const std::string& name) const { return values_.count(name) > 0; }

std::optional<std::string> CommandLine::setting(const std::string& name, const char* variable) const {
  if (has(name)) return text(name);
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> CommandLine::text(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return values_[name].as<std::string>();
}

std::vector<std::string> CommandLine::words(const std::string& name) const {
  if (!has(name)) return {};
  const po::variable_value& given = values_[name];
  const auto* one = boost::any_cast<std::string>(&given.value());
  return one != nullptr ? std::vector{*one} : given.as<std::vector<std::string>>();
}

std::vector<std::string> split_names(const std::string& text) {
  const auto parts = split_text(text, ',');
  return {parts.begin(), parts.end()};
}

std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& name) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    const bool joined = word->starts_with(name + "=");
    if (*word != name && !joined) continue;
    if (!joined && word + 1 == words.end()) throw usage_error("{}: give a value", name);
    std::string value = joined ? word->substr(name.size() + 1) : *(word + 1);
    words.erase(word, word + (joined ? 1 : 2));
    return value;
  }
  return std::nullopt;
}

std::vector<std::string> CommandLine::names(const std::string& name) const {
  std::vector<std::string> out;
  for (const std::string& text : words(name)) std::ranges::move(split_names(text), std::back_inserter(out));
  return out;
}

std::optional<std::int64_t> CommandLine::number(const std::string& name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto parsed = parse_int64(*value);
  if (!parsed || *parsed < 0) throw usage_error("--{} {}: not a number, or a negative one", name, *value);
  return parsed;
}

std::optional<double> CommandLine::percent(const std::string& name, double least, double most,
                                           std::string_view range) const {
  const auto given = text(name);
  if (!given) return std::nullopt;
  std::string_view number = *given;
  if (number.ends_with('%')) number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  const auto value = parse_double(number);
  if (value && *value >= least && *value <= most) return value;
  throw usage_error("--{} {}: give percent{}", name, *given, range);
}

void CommandLine::refuse(std::initializer_list<const char*> names, std::string_view text) const {
  for (const char* name : names) {
    if (has(name)) throw usage_error(fmt::runtime(text), name);
  }
}

const std::vector<std::string>& CommandLine::inputs() const {
  if (inputs_.empty()) {
    throw usage_error("{}: no trace or index given; usage: trace-query {}", command_.name, command_.usage);
  }
  return inputs_;
}

bool CommandLine::hides(std::string_view column) const {
  const std::string sort = text("sort").value_or("");
  return for_people() && !has("columns") && sort.substr(0, sort.rfind(':')) != column;
}

bool CommandLine::page() const {
  if (!has_page_) return false;
  if (!knows("format")) return true;
  if (const auto format = text("format")) return *format == kPageFormat;
  const auto all = renderers();
  const bool other = std::ranges::any_of(all, [&](const Renderer& one) { return has(std::string(one.name)); });
  return !other && ends_as_page(text("output").value_or(""));
}

std::string_view CommandLine::written_format() const { return page() ? kPageFormat : renderer().name; }

const Renderer& CommandLine::renderer() const {
  std::string wanted = text("format").value_or("");
  std::vector<std::string> known;
  for (const Renderer& renderer : renderers()) {
    known.emplace_back(renderer.name);
    if (!has(known.back())) continue;
    if (!wanted.empty() && wanted != renderer.name) throw usage_error("two formats: {} and {}", wanted, renderer.name);
    wanted = renderer.name;
  }
  if (page()) return renderers()[0];
  if (wanted.empty()) {
    const Renderer* by_ending = find_renderer_of_file(text("output").value_or(""));
    return by_ending != nullptr ? *by_ending : renderers()[0];
  }
  if (const Renderer* found = find_renderer(wanted)) return *found;
  throw usage_error("--format {}: there are {}{}", wanted, formats_, did_you_mean(wanted, known));
}

bool CommandLine::color(bool terminal) const {
  const std::string wanted = text("color").value_or("auto");
  if (wanted == "always") return true;
  if (wanted == "never") return false;
  if (wanted != "auto") throw usage_error("--color {}: there are auto, always and never", wanted);
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return terminal && (no_color == nullptr || *no_color == '\0');
}

TimeUnit CommandLine::time_unit() const {
  const auto wanted = text("timeunit");
  if (!wanted) return TimeUnit::kAuto;
  if (const auto unit = time_unit_from(*wanted)) return *unit;
  throw usage_error("--timeunit {}: there are auto, ns, us, ms and s", *wanted);
}

}  // namespace tracedb
