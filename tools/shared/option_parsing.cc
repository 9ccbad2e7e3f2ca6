#include "shared/option_parsing.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "ingest/trace_list.h"
#include "shared/usage_error.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

[[noreturn]] void refuse(const std::string& token, const po::options_description& shown) {
  std::vector<std::string> known;
  for (const auto& option : shown.options()) known.push_back("--" + option->long_name());
  const std::string name = token.substr(0, token.find('='));
  throw usage_error("unknown option {}{}", name, did_you_mean(name, known));
}

// A text on the command line, and what "name=path" names.
void add_file(std::vector<NamedFile>& files, const std::string& option, const std::string& text) {
  files.push_back({option, text});
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    files.push_back({option, text.substr(equals + 1)});
  }
}

// All texts on the command line, whatever their option means: those that are not files do no harm.
std::vector<NamedFile> named_files(const po::variables_map& values, const std::string& positional) {
  std::vector<NamedFile> files;
  for (const auto& [name, value] : values) {
    const std::string option = name == positional ? "" : "--" + name;
    if (const auto* text = boost::any_cast<std::string>(&value.value())) add_file(files, option, *text);
    const auto* list = boost::any_cast<std::vector<std::string>>(&value.value());
    for (const std::string& text : list != nullptr ? *list : std::vector<std::string>()) add_file(files, option, text);
  }
  return files;
}

}  // namespace

void require_safe_outputs(const po::variables_map& values, std::span<const OutputOption> outputs,
                          const char* positional) {
  const std::vector<NamedFile> files = named_files(values, positional);
  for (const OutputOption& output : outputs) {
    for (const NamedFile& file : files) {
      if (file.option != "--" + output.name) continue;
      std::vector<NamedFile> others = files;
      std::erase_if(others, [&](const NamedFile& other) { return other.option == file.option; });
      require_safe_output(file, output.content, others);
    }
  }
}

po::variables_map parse_options(std::span<const std::string> words, const po::options_description& shown,
                                const po::options_description& hidden, const char* positional) {
  po::options_description all;
  all.add(shown).add(hidden);
  all.add_options()(positional, po::value<std::vector<std::string>>());
  po::positional_options_description positions;
  positions.add(positional, -1);
  constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const po::parsed_options parsed = po::command_line_parser(std::vector<std::string>(words.begin(), words.end()))
                                        .options(all)
                                        .positional(positions)
                                        .style(kStyle)
                                        .allow_unregistered()
                                        .run();
  for (const po::option& option : parsed.options) {
    if (option.unregistered) refuse(option.original_tokens.at(0), shown);
  }
  po::variables_map values;
  po::store(parsed, values);
  return values;
}

std::chrono::nanoseconds parse_seconds(const std::string& text) {
  const auto value = parse_double(text);
  if (!value || *value <= 0 || *value > 1e9) {
    throw usage_error("'{}' is not a number of seconds; write e.g. 600 or 0.5", text);
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*value));
}

std::size_t parse_size(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = text;
  double factor = 1;
  const std::size_t unit = digits.empty() ? std::string_view::npos : kUnits.find(digits.back());
  if (unit != std::string_view::npos) {
    factor = std::pow(1024.0, static_cast<double>(unit + 1));
    digits.remove_suffix(1);
  }
  const auto value = parse_double(digits);
  if (!value || *value <= 0 || *value * factor > 1e15) {
    throw usage_error("'{}' is not a size; write e.g. 64K, 200M or 2G", text);
  }
  return static_cast<std::size_t>(*value * factor);
}

std::int64_t parse_whole(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most) {
  const auto value = parse_int64(text);
  if (value && *value >= least && *value <= most) return *value;
  throw usage_error("{} {}: give a whole number from {} to {}", option, text, least, most);
}

std::vector<std::filesystem::path> read_path_list(const std::filesystem::path& list) {
  std::string text;
  if (list == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return parse_path_list(text);
  }
  std::ifstream file(list, std::ios::binary);
  if (!file || std::filesystem::is_directory(list)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: the list of traces cannot be read", printable_path(list)));
  }
  text.assign(std::istreambuf_iterator<char>(file), {});
  return parse_path_list(text);
}

}  // namespace tracedb
