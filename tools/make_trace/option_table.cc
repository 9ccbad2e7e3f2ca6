#include "make_trace/option_table.h"

#include <charconv>
#include <sstream>

#include "base/text/split.h"

namespace tracedb {

namespace po = boost::program_options;

void reject(std::string_view option, std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::kUsage, fmt::format("{}: '{}' is not {}", option, text, expected));
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::int64_t parse_ppm(std::string_view option, std::string_view text) {
  const auto dot = text.find('.');
  const auto whole = parse_integer(text.substr(0, dot));
  std::string fraction(dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1));
  fraction.resize(6, '0');
  const auto parts = parse_integer(fraction);
  if (!whole || !parts || *whole < 0 || *whole > 1000 || *parts < 0) reject(option, text, "a number such as 1.25");
  return *whole * kMillion + *parts;
}

Texts split_list(std::string_view text, char separator) {
  Texts parts;
  for (const std::string_view part : split_text(text, separator)) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

void OptionTable::text(const char* name, const char* initial, const char* help, const Take& take) {
  row(name, initial == nullptr ? po::value<std::string>() : po::value<std::string>()->default_value(initial), help,
      take);
}

void OptionTable::path(const char* name, std::optional<std::string>& field, const char* help) {
  text(name, nullptr, help, [&field](const std::string& text) { field = text; });
}

void OptionTable::each(const char* name, const char* help, const Take& take) {
  row(name, po::value<Texts>(), help, [take](const Texts& texts) { std::for_each(texts.begin(), texts.end(), take); });
}

void OptionTable::fraction(const char* name, const char* initial, std::int64_t& field, const char* help, int divisor) {
  text(name, initial, help,
       [=, &field](const std::string& text) { field = parse_ppm(fmt::format("--{}", name), text) / divisor; });
}

void OptionTable::on_off(const char* name, bool& field, const char* help) {
  text(name, field ? "on" : "off", help, [=, &field](const std::string& text) {
    field = text == "on";
    if (!field && text != "off") reject(fmt::format("--{}", name), text, "on or off");
  });
}

void OptionTable::flag(const char* name, bool& field, const char* help) {
  row(name, po::bool_switch(), help, [&field](bool value) { field = value; });
}

bool OptionTable::parse(int argc, char** argv, std::string_view program, std::string_view argument,
                        const std::string& text) {
  po::positional_options_description positional;
  positional.add("output", 1);
  po::store(po::command_line_parser(argc, argv).options(all_).positional(positional).run(), values_);
  if (values_.count("help") != 0) {
    fmt::print("{}", text);
    return false;
  }
  if (values_.count("output") != 0) return true;
  throw Error(ErrorCode::kUsage, fmt::format("no {} given; see {} --help", argument, program));
}

void OptionTable::take(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, take] : takers_) {
    if (names.size() == 0 || std::ranges::find(names, name) != names.end()) {
      take(values_);
    } else if (is_given(name.c_str())) {
      throw Error(ErrorCode::kUsage, fmt::format("--{} does not go with --{}", name, names.begin()[1]));
    }
  }
}

std::string OptionTable::description() const {
  std::ostringstream text;
  text << all_;
  return text.str();
}

}  // namespace tracedb
