// What programs say of themselves besides --help: manual pages, and the words for completion in shells.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// A manual page in roff (man macros), made from what --help says. Programs print theirs with --man, which the build
// runs.

inline constexpr std::string_view kManualOption = "--man";

class ManualPage {
 public:
  // ("trace-query-ops", "1", "kernel time by operation")
  ManualPage(std::string_view name, std::string_view section, std::string_view summary);

  void heading(std::string_view title);  // "OPTIONS"; written in capitals
  void subheading(std::string_view title);
  void paragraph(std::string_view text);
  void item(std::string_view head, std::string_view text);
  // Text as --help has it: blank lines end paragraphs, "  name  meaning" is an item, other indented lines stay as they
  // are.
  void help_text(std::string_view text);
  void lines(std::string_view text);  // as they are: usage, examples
  void options(std::string_view title, const boost::program_options::options_description& options);
  void exit_status();
  void see_also(std::initializer_list<std::string_view> pages);  // "trace-query(1)"

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The words with which a command line may go on, for completion in shells: the programs answer `--complete WORDS...`,
// and tools/completion has what asks them.

inline constexpr std::string_view kCompleteOption = "--complete";

struct Candidate {
  std::string word;
  std::string meaning = {};  // one line; may be empty
};

// What may stand in one place of a command line.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;    // also any file
  bool several = false;  // separated by commas
};

// Of an option that takes a value, by its long name.
using ValuesOf = std::function<Candidates(const boost::program_options::option_description&)>;

// For the last of `words`, which may be empty or begun. `arguments` are for a word that is neither an option nor the
// value of one.
Candidates complete(std::span<const std::string> words, const boost::program_options::options_description& options,
                    const ValuesOf& values_of, const Candidates& arguments);

// One line a candidate: word, TAB, meaning; then ":list" where a comma may follow, and ":files" where files may stand.
std::string to_lines(const Candidates& candidates);

// The words of a description that begins "a | b | c"; else none.
Candidates choices(std::string_view description);

// Words to choose from: "auto,always,never".
Candidates one_of(std::string_view words);

}  // namespace tracedb
