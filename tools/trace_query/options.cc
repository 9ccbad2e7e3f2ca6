#include "trace_query/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdlib>
#include <iostream>
#include <system_error>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "shared/option_parsing.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

std::string format_names() {
  std::string names;
  for (const Renderer& renderer : renderers()) names += (names.empty() ? "" : ", ") + std::string(renderer.name);
  return names;
}

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

}  // namespace

struct CommandLine::Options {
  po::options_description described{"Options"};
  std::vector<OutputOption> outputs;
  po::variables_map values;
};

CommandLine::~CommandLine() = default;

CommandLine::CommandLine(const Command& command, std::initializer_list<OptionGroup> groups)
    : command_(command), options_(std::make_unique<Options>()) {
  for (const OptionGroup group : groups) {
    switch (group) {
      case OptionGroup::kOutput:
        add("format", OptionKind::kValue, ("one of " + format_names() + " (default: table)").c_str());
        for (const Renderer& renderer : renderers()) {
          const std::string help = fmt::format("same as --format {}", renderer.name);
          add(std::string(renderer.name).c_str(), OptionKind::kFlag, help.c_str());
        }
        add("output,o", OptionKind::kOutputFile, "write to this file instead of standard output");
        add("timeunit", OptionKind::kValue, "auto, ns, us, ms or s; JSON always has ns");
        add("wide", OptionKind::kFlag, "all columns and full names, even on a narrow terminal");
        add("color", OptionKind::kValue,
            "auto (default: on a terminal, unless NO_COLOR is set), always or never: verdicts stand out");
        add("raw-cells", OptionKind::kFlag, "CSV and TSV: no ' before text that a spreadsheet would evaluate");
        break;
      case OptionGroup::kRows:
        add("limit", OptionKind::kValue,
            "first N rows, the rest in one [others] row; 0: all (default: 30 for a table on standard output, else 0)");
        add("sort", OptionKind::kValue, "COL or COL:asc; largest first unless :asc is given");
        add("columns", OptionKind::kValue, "only these columns, in this order: total_time,instances,name");
        break;
      case OptionGroup::kSelection:
        add("op", OptionKind::kValue, "only kernels of this operation class, a GLOB: 'norm*'");
        add("name", OptionKind::kValue, "only names that match a GLOB (* ? [), contain a text, or match a /REGEX/");
        [[fallthrough]];
      case OptionGroup::kPlaces:
        add("device", OptionKind::kValue, "only this device number");
        add("stream", OptionKind::kValue, "only this stream");
        add("step", OptionKind::kValue, "only step A, or steps A..B, A.., ..B");
        add("phase", OptionKind::kValue,
            "only steps of this kind: prefill, decode, mixed, train, other, unknown; "
            "none: in no step");
        add("from", OptionKind::kValue,
            "only what starts at or after this time: 12345 (ns), 1.5ms, 2s; timeline and gaps cut work off there");
        add("to", OptionKind::kValue, "only what starts before this time; timeline and gaps cut work off there");
        break;
      case OptionGroup::kRules:
        add("rules", OptionKind::kValue, "classes by these rules: default, wafer, or a file of rules");
        break;
      case OptionGroup::kLayers:
        add("layer", OptionKind::kValue,
            "only layer A, or layers A..B, A.., ..B; STACK:A..B of one stack of several; head, tail: around the "
            "layers; none");
        break;
      case OptionGroup::kSteps:
        add("step-regex", OptionKind::kValue,
            "steps are the annotations that match this expression, instead of those the built-in grammar knows; its "
            "groups say what a step is: (?<kind>..) (?<context_requests>..) (?<context_tokens>..) "
            "(?<generation_requests>..) (?<generation_tokens>..), or, unnamed, kind, context tokens and generation "
            "tokens in this order");
        break;
      case OptionGroup::kCapture:
        add("capture", OptionKind::kValue,
            "take operators, Python stacks and layers of graph replays from this trace: a run of the same model "
            "without "
            "graphs, or the one in which the graphs were captured");
        break;
      case OptionGroup::kExplain:
        add("explain", OptionKind::kFlag, "print the SQL and what it reads instead of the answer");
        break;
      case OptionGroup::kInput:
        add("no-ingest", OptionKind::kFlag, "never build an index: a trace without a valid one is an error");
        break;
    }
  }
  add("timeout", OptionKind::kValue,
      "give up after this many seconds, not counting those to build an index (default: 600; 0: never)");
  add("max-memory", OptionKind::kValue,
      "give up beyond this much memory, e.g. 500M or 4G (default: 2G and 16 times the size of the inputs; 0: no "
      "limit)");
  add("quiet,q", OptionKind::kFlag, "no notes on standard error");
  add("help,h", OptionKind::kFlag, "show this help");
}

void CommandLine::add(const char* names, OptionKind kind, const char* help) {
  auto adder = options_->described.add_options();
  switch (kind) {
    case OptionKind::kFlag:
      adder(names, help);
      break;
    case OptionKind::kValue:
      adder(names, po::value<std::string>()->value_name("X"), help);
      break;
    case OptionKind::kOutputFile: {
      const std::string name = names;
      options_->outputs.push_back({name.substr(0, name.find(','))});
      adder(names, po::value<std::string>()->value_name("FILE"), help);
      break;
    }
    case OptionKind::kList:
      adder(names, po::value<std::vector<std::string>>()->value_name("X"), help);
      break;
  }
}

bool CommandLine::parse(std::span<const std::string> args) {
  options_->values = parse_options(args, options_->described, {}, "positional");
  positional_ = list("positional");
  if (has("help")) {
    print_help();
    return false;
  }
  require_safe_outputs(options_->values, options_->outputs, "positional");
  set_limits();
  return true;
}

void CommandLine::set_limits() const {
  const std::string seconds = text("timeout").value_or("600");
  if (seconds != "0") RunLimits::of_process().limit_time(parse_seconds(seconds));
  const std::string size = text("max-memory").value_or("");
  if (size != "0") RunLimits::of_process().limit_memory(size.empty() ? usual_memory(positional_) : parse_size(size));
}

void CommandLine::print_help() const {
  std::cout << fmt::format("Usage: trace-query {}\n\n{}\n\n", command_.usage, command_.summary) << options_->described
            << fmt::format("\nExample:\n{}\n{}", command_.example, more_help_);
}

bool CommandLine::knows(const std::string& name) const {
  return options_->described.find_nothrow(name, false) != nullptr;
}

bool CommandLine::has(const std::string& name) const { return options_->values.count(name) > 0; }

std::optional<std::string> CommandLine::text(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return options_->values[name].as<std::string>();
}

std::vector<std::string> CommandLine::list(const std::string& name) const {
  if (!has(name)) return {};
  return options_->values[name].as<std::vector<std::string>>();
}

std::vector<std::string> CommandLine::names(const std::string& name) const {
  std::vector<std::string> out;
  for (const std::string& text : list(name)) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      out.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return out;
}

std::optional<std::int64_t> CommandLine::number(const std::string& name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto parsed = parse_int64(*value);
  if (!parsed || *parsed < 0) {
    throw Error(ErrorCode::kUsage, fmt::format("--{} {}: not a number, or a negative one", name, *value));
  }
  return parsed;
}

std::span<const std::string> CommandLine::inputs() const {
  if (positional_.empty()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{}: no trace or index given; usage: trace-query {}", command_.name, command_.usage));
  }
  return positional_;
}

const Renderer& CommandLine::renderer() const {
  std::string wanted = text("format").value_or("");
  std::vector<std::string> known;
  for (const Renderer& renderer : renderers()) {
    known.emplace_back(renderer.name);
    if (!has(known.back())) continue;
    if (!wanted.empty() && wanted != renderer.name) {
      throw Error(ErrorCode::kUsage, fmt::format("two formats: {} and {}", wanted, renderer.name));
    }
    wanted = renderer.name;
  }
  if (wanted.empty()) return renderers()[0];
  if (const Renderer* found = find_renderer(wanted)) return *found;
  throw Error(ErrorCode::kUsage,
              fmt::format("--format {}: there are {}{}", wanted, format_names(), did_you_mean(wanted, known)));
}

bool CommandLine::color(bool terminal) const {
  const std::string wanted = text("color").value_or("auto");
  if (wanted == "always") return true;
  if (wanted == "never") return false;
  if (wanted != "auto") {
    throw Error(ErrorCode::kUsage, fmt::format("--color {}: there are auto, always and never", wanted));
  }
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return terminal && (no_color == nullptr || *no_color == '\0');
}

TimeUnit CommandLine::time_unit() const {
  const auto wanted = text("timeunit");
  if (!wanted) return TimeUnit::kAuto;
  if (const auto unit = time_unit_from(*wanted)) return *unit;
  throw Error(ErrorCode::kUsage, fmt::format("--timeunit {}: there are auto, ns, us, ms and s", *wanted));
}

}  // namespace tracedb
