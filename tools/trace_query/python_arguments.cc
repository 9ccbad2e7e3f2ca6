#include "trace_query/python_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/failure.h"
#include "base/python/integer.h"
#include "base/python/text.h"

namespace tracedb {
namespace {

bool is_negative_number(std::string_view text) {
  text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? whole : text.substr(point + 1);
  const auto digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return !fraction.empty() && digits(whole) && digits(fraction);
}

class Parser {
 public:
  Parser(std::string_view program, std::span<const PythonOption> options) : program_(program), options_(options) {}

  std::map<std::string, std::string> parse(std::span<const std::string> args) {
    std::vector<Argument> arguments;
    bool only_values = false;
    for (const std::string& text : args) {
      arguments.push_back(only_values ? Argument{text, false, nullptr, {}} : classify(text));
      only_values = only_values || text == "--";
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = arguments[i];
      if (argument.option == nullptr) {
        unknown_.push_back(argument.text);
        continue;
      }
      if (argument.value) {
        set(*argument.option, *argument.value);
      } else if (i + 1 < arguments.size() && !arguments[i + 1].is_option) {
        set(*argument.option, arguments[++i].text);
      } else {
        fail(fmt::format("argument {}: expected one argument", argument.option->name));
      }
    }
    check_all_given();
    return std::move(values_);
  }

 private:
  struct Argument {
    std::string text;
    bool is_option;                    // or looks like one
    const PythonOption* option;        // nullptr: a value, or an option nobody knows
    std::optional<std::string> value;  // behind '='
  };

  [[noreturn]] void fail(std::string_view message) const {
    throw Error(ErrorCode::kUsage, fmt::format("{}: error: {}", program_, message));
  }

  Argument classify(const std::string& text) const {
    if (text.size() < 2 || text.front() != '-') return {text, false, nullptr, {}};
    if (text == "--") return {text, true, nullptr, {}};
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = text.substr(equals + 1);
    for (const PythonOption& option : options_) {
      if (option.name == text) return {text, true, &option, {}};
      if (option.name == name) return {text, true, &option, value};
    }
    std::vector<const PythonOption*> matches;
    for (const PythonOption& option : options_) {
      if (name.starts_with("--") && option.name.starts_with(name)) matches.push_back(&option);
    }
    const bool may_be_help = name.starts_with("--") && std::string_view("--help").starts_with(name);
    if (matches.size() + (may_be_help ? 1 : 0) > 1) fail_ambiguous(text, matches, may_be_help);
    if (matches.size() == 1) return {text, true, matches.front(), value};
    const bool looks_like_value = is_negative_number(text) || text.find(' ') != std::string::npos;
    return {text, !looks_like_value, nullptr, {}};
  }

  [[noreturn]] void fail_ambiguous(const std::string& text, const std::vector<const PythonOption*>& matches,
                                   bool may_be_help) const {
    std::vector<std::string> names;
    if (may_be_help) names.emplace_back("--help");
    for (const PythonOption* option : matches) names.push_back(option->name);
    fail(fmt::format("ambiguous option: {} could match {}", text, fmt::join(names, ", ")));
  }

  void set(const PythonOption& option, const std::string& value) {
    if (option.type == PythonOption::Type::kText) {
      values_[option.name] = value;
      return;
    }
    const std::optional<std::string> digits = python::parse_int(value);
    if (!digits) fail(fmt::format("argument {}: invalid int value: {}", option.name, python::repr(value)));
    values_[option.name] = *digits;
  }

  void check_all_given() {
    std::vector<std::string> missing;
    for (const PythonOption& option : options_) {
      if (values_.contains(option.name)) continue;
      if (option.fallback) {
        values_[option.name] = *option.fallback;
      } else {
        missing.push_back(option.name);
      }
    }
    if (!missing.empty()) fail(fmt::format("the following arguments are required: {}", fmt::join(missing, ", ")));
    if (!unknown_.empty()) fail(fmt::format("unrecognized arguments: {}", fmt::join(unknown_, " ")));
  }

  std::string_view program_;
  std::span<const PythonOption> options_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> unknown_;
};

}  // namespace

std::map<std::string, std::string> parse_python_arguments(std::string_view program,
                                                          std::span<const PythonOption> options,
                                                          std::span<const std::string> args) {
  return Parser(program, options).parse(args);
}

std::optional<CompatArguments> compat_arguments(std::span<const std::string> args) {
  constexpr std::string_view kOption = "--compat";
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool joined = args[i].starts_with(std::string(kOption) + "=");
    if (!joined && (args[i] != kOption || i + 1 == args.size())) continue;
    CompatArguments out{joined ? args[i].substr(kOption.size() + 1) : args[i + 1], {}};
    out.rest.assign(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(i));
    out.rest.insert(out.rest.end(), args.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)), args.end());
    return out;
  }
  return std::nullopt;
}

int run_python_program(const std::function<void()>& program) {
  const std::optional<Error> failed = catch_error(program);
  std::cout.flush();
  if (!failed) return 0;
  const bool of_program = failed->code() == ErrorCode::kAnswerIsNo || failed->code() == ErrorCode::kUsage;
  if (!of_program) throw Error(*failed);
  std::cerr << failed->what() << '\n';
  return static_cast<int>(failed->code());
}

}  // namespace tracedb
