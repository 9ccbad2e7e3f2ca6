// A manual page in roff (man macros), made from what --help says. Programs print theirs with --man, which the build
// runs.
#pragma once

#include <boost/program_options.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tracedb {

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

}  // namespace tracedb
