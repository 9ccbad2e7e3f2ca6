// The options of one form of make-trace, each declared once: name, field, help and range. What --help prints and what
// is read both follow. Fields must outlive the table; what they hold before is the default.
// Errors: Error{kUsage} naming the option.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tracedb {

constexpr std::int64_t kMillion = 1'000'000;

using Texts = std::vector<std::string>;

// "OPTION: 'TEXT' is not EXPECTED"
[[noreturn]] void reject(std::string_view option, std::string_view text, std::string_view expected);
// nullopt: not a whole number.
std::optional<std::int64_t> parse_integer(std::string_view text);
// "1.25" -> 1250000. At most six fraction digits count.
std::int64_t parse_ppm(std::string_view option, std::string_view text);
// The parts that are not empty.
Texts split_list(std::string_view text, char separator = ',');

class OptionTable {
 public:
  explicit OptionTable(const std::string& title) : all_(title) {}

  // `take` gets the value where there is one.
  template <class T, class Take>
  void row(const char* name, boost::program_options::typed_value<T>* value, const char* help, Take take) {
    all_.add_options()(name, value, help);
    const std::string key = all_.options().back()->long_name();
    takers_.emplace_back(key, [key, take](const boost::program_options::variables_map& values) {
      if (values.count(key) != 0) take(values[key].template as<T>());
    });
  }
  template <class T>
  void number(const char* name, T& field, const char* help, std::type_identity_t<T> low = std::numeric_limits<T>::min(),
              std::type_identity_t<T> high = std::numeric_limits<T>::max()) {
    row(name, boost::program_options::value<T>()->default_value(field), help, [=, &field](T value) {
      field = value;
      if (value >= low && value <= high) return;
      throw Error(ErrorCode::kUsage, fmt::format("--{}: {} is not in {}..{}", name, value, low, high));
    });
  }
  // Of an enumeration, by the names of its values.
  template <class Enum>
  void choice(const char* name, Enum& field, const char* help, std::span<const std::string_view> names,
              const std::string& expected) {
    text(name, std::string(names[static_cast<std::size_t>(field)]).c_str(), help, [=, &field](const std::string& word) {
      const auto found = std::ranges::find(names, word);
      if (found == names.end()) throw Error(ErrorCode::kUsage, fmt::format("--{}: '{}' is {}", name, word, expected));
      field = static_cast<Enum>(found - names.begin());
    });
  }
  using Take = std::function<void(const std::string&)>;
  void text(const char* name, const char* initial, const char* help, const Take& take);  // nullptr: no default
  void path(const char* name, std::optional<std::string>& field, const char* help);
  void each(const char* name, const char* help, const Take& take);  // repeatable
  // A number such as 1.25; the field gets it in parts per million, divided.
  void fraction(const char* name, const char* initial, std::int64_t& field, const char* help, int divisor = 1);
  void on_off(const char* name, bool& field, const char* help);
  void flag(const char* name, bool& field, const char* help);  // without a value
  void help(const char* name, const char* help) { all_.add_options()(name, help); }

  // Sorts the words. False where they ask for help, which `text` is. `argument` must be among them.
  bool parse(int argc, char** argv, std::string_view program, std::string_view argument, const std::string& text);
  // Sets the fields; where `names` are given only those, and an option beside them is refused. The second of them is
  // what they go with.
  void take(std::initializer_list<std::string_view> names = {}) const;
  [[nodiscard]] bool is_given(const char* name) const { return values_.count(name) != 0 && !values_[name].defaulted(); }
  [[nodiscard]] const boost::program_options::options_description& options() const { return all_; }
  [[nodiscard]] std::string description() const;

 private:
  boost::program_options::options_description all_;
  boost::program_options::variables_map values_;
  std::vector<std::pair<std::string, std::function<void(const boost::program_options::variables_map&)>>> takers_;
};

}  // namespace tracedb
