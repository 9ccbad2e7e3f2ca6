// Command lines of trace-query: options shared by the commands, help, and errors with a suggestion. Wrong use is
// Error{kUsage}.
#pragma once

#include <boost/program_options.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/renderers.h"
#include "shared/option_parsing.h"
#include "shared/usage_error.h"
#include "trace_query/command.h"

namespace tracedb {

enum class OptionKind {
  kFlag,
  kValue,
  kList,
  kWords,       // all words up to the next option
  kOutputFile,  // a file to write, which parse() refuses where something would be lost
};

// "a,b" -> a, b
std::vector<std::string> split_names(const std::string& text);

// A word of an option and its value, taken out: --name VALUE or --name=VALUE.
std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& name);

// By the ending of a file's name: "csv", "html"; "" where it promises nothing.
std::string_view format_of_name(std::string_view path);

// Words of a command line that are checked alike for all commands. Error{kUsage} says which there are.

// Of --phase: a kind of step, or none.
inline constexpr std::string_view kStepKindWords = "prefill,decode,mixed,train,other,unknown,unit";
const std::string& known_phase(const std::string& text);

// Of -o: a name that ends otherwise than these (".csv") is refused; one without an ending promises nothing.
void refuse_unknown_ending(const std::string& file, std::span<const std::string> known);

// Of an option with these words to choose from.
void require_known(std::string_view option, const std::string& word, const std::vector<std::string>& known);

class CommandLine {
 public:
  CommandLine(const Command& command, const std::vector<OptionGroup>& groups);
  CommandLine& operator=(CommandLine&&) = delete;

  // `names`: "timeout" or "file,f".
  void add(const char* names, OptionKind kind, const char* help) { add_to(own_, names, kind, help); }
  void add(const char* names, const char* help) { add(names, OptionKind::kValue, help); }

  void add(std::initializer_list<OptionGroup> groups);  // behind what was added before

  // Text for the end of the help.
  void add_help(std::string text) { more_help_ = std::move(text); }

  // The command finds its inputs itself, and then calls set_inputs().
  void find_inputs_later() { finds_inputs_ = false; }

  // False when help was asked for and printed; also the manual page or the words for completion.
  bool parse(std::span<const std::string> args);

  [[nodiscard]] bool knows(const std::string& name) const;  // an option of this command
  [[nodiscard]] bool has(const std::string& name) const;    // given
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
  // The option, else what the environment variable says; an empty variable says nothing.
  [[nodiscard]] std::optional<std::string> setting(const std::string& name, const char* variable) const;
  [[nodiscard]] std::vector<std::string> words(const std::string& name) const;  // what was given, of either kind
  [[nodiscard]] std::vector<std::string> names(const std::string& name) const;  // of a list, also separated by commas
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name) const;  // not negative
  // "5", "5%", "5 %" from `least` to `most`; `range` says so in the error.
  [[nodiscard]] std::optional<double> percent(const std::string& name, double least = 0, double most = 1e9,
                                              std::string_view range = "") const;
  // What the word of an option stands for, the first where none is given. Error{kUsage} for another word: `choices`
  // says which there are.
  template <class Value>
  [[nodiscard]] Value choice(const std::string& name, std::initializer_list<std::pair<std::string_view, Value>> known,
                             std::string_view choices) const {
    const std::string word = text(name).value_or(std::string(known.begin()->first));
    for (const auto& [other, value] : known) {
      if (word == other) return value;
    }
    throw usage_error("--{} {}: {}", name, word, choices);
  }
  // Error{kUsage} for the first of these options that is given: `text` with its name in the place of {}. An option that
  // is ignored, such as a gate, would let everything pass.
  void refuse(std::initializer_list<const char*> names, std::string_view text) const;
  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }
  // The inputs (find_inputs()), or the arguments where they are not all inputs; Error when there is none.
  [[nodiscard]] const std::vector<std::string>& inputs() const;
  // Of a command whose first arguments are something else.
  void set_inputs(std::vector<std::string> inputs);

  [[nodiscard]] const Renderer& renderer() const;  // that of people where page()
  [[nodiscard]] bool for_people() const { return renderer().audience == Audience::kHuman; }
  // Whether a column that says little is left out: for people, who did not ask for it.
  [[nodiscard]] bool hides(std::string_view column) const;
  [[nodiscard]] bool can_page() const { return has_page_; }
  [[nodiscard]] bool page() const;                        // --format html, or a file that ends so
  [[nodiscard]] std::string_view written_format() const;  // of these
  [[nodiscard]] TimeUnit time_unit() const;
  [[nodiscard]] bool color(bool terminal) const;  // --color
  [[nodiscard]] bool quiet() const { return has("quiet"); }
  [[nodiscard]] const Command& command() const { return command_; }

 private:
  void set_limits() const;
  void limit_rights() const;  // --read-only

  using Described = boost::program_options::options_description;
  void add_to(Described& to, const char* names, OptionKind kind, const char* help);
  void add_group(OptionGroup group);
  [[nodiscard]] Described all() const;

  const Command& command_;
  std::string formats_;                                                // those of --format
  Described own_, selection_{"Selection"}, common_{"Common options"};  // in the order of the help
  std::vector<OutputOption> outputs_;
  boost::program_options::variables_map values_;
  std::vector<std::string> positional_, inputs_;
  std::string more_help_;
  bool finds_inputs_ = true;
  bool has_page_ = false;  // OptionGroup::kPage
};

}  // namespace tracedb
