#include "option_parsing.h"

#include <fmt/format.h>

#include <vector>

#include "base/closest_name.h"
#include "base/decimal.h"
#include "base/error.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

[[noreturn]] void refuse(const std::string& token, const po::options_description& shown) {
  std::vector<std::string> known;
  for (const auto& option : shown.options()) known.push_back("--" + option->long_name());
  const std::string name = token.substr(0, token.find('='));
  throw Error(ErrorCode::kUsage, fmt::format("unknown option {}{}", name, did_you_mean(name, known)));
}

}  // namespace

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

std::int64_t parse_whole(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most) {
  const auto value = parse_int64(text);
  if (value && *value >= least && *value <= most) return *value;
  throw Error(ErrorCode::kUsage, fmt::format("{} {}: give a whole number from {} to {}", option, text, least, most));
}

}  // namespace tracedb
