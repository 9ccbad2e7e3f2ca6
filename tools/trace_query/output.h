// The output of a command: standard output, or the file of -o. Notes go to standard error.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/files/partial_file.h"
#include "report/sql_report.h"
#include "report_page/report_page.h"
#include "trace_query/options.h"

namespace tracedb {

// The file of -o, replaced atomically: it has the old content or all of the new. Pipes and devices (/dev/stdout), and
// files in folders that cannot be written to, are written in place.

class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);  // Error{kResource} when it cannot be written

  [[nodiscard]] std::ostream& stream() { return stream_; }
  void finish();  // Error{kResource} when not all of it could be written

 private:
  void open_anonymous(const std::filesystem::path& folder);
  void require(bool condition, const char* what) const;
  void link_into_place();

  std::filesystem::path path_;
  std::filesystem::path target_;  // behind links
  std::ofstream stream_;
  FileDescriptor anonymous_fd_;         // a file without a name yet: a killed run leaves nothing
  std::optional<PartialFile> partial_;  // where there are no such files
};

// Standard output, or the file of -o.
class OutputTarget {
 public:
  explicit OutputTarget(const std::optional<std::string>& path);  // none, "-": standard output; Error{kResource}

  [[nodiscard]] std::ostream& stream() { return file_ ? file_->stream() : *standard_; }
  [[nodiscard]] bool is_file() const { return file_.has_value(); }
  void finish();  // Error{kResource} when not all of it could be written

 private:
  std::ostream* standard_;
  std::optional<OutputFile> file_;
};

// A report about one of the inputs of a run.
struct TraceReport {
  Report report;
  std::vector<std::string> warnings;  // why it is empty, what it leaves out
};

// How many rows --limit leaves; 0: all. Files and machines get everything, a terminal what can be taken in.
std::size_t row_limit(const CommandLine& line);

// Rows that --offset leaves out before the first.
std::size_t row_offset(const CommandLine& line);

// A line on standard error, but for --quiet.
void note(const CommandLine& line, const std::string& text);

// Whether rows say which input they are about: where there are several, and always in CSV, TSV and JSON lines, whose
// shape then does not depend on the number of inputs.
bool names_inputs(const CommandLine& line);

// In front of the others: of the formats in which each line names its input or its table.
void add_text_column(Report& report, const char* key, const char* head, const std::string& text);

class Output {
 public:
  explicit Output(const CommandLine& line);  // Error{kResource} when the file cannot be written

  [[nodiscard]] std::ostream& stream() { return target_.stream(); }
  [[nodiscard]] std::unique_ptr<TableRenderer> renderer();
  TableRenderer* document();  // of all tables of the run; null: each is one of its own

  // Sorts, limits and prints a report; `warnings` also go to standard error.
  void print(Report report, const ReportHead& head, const std::vector<std::string>& warnings);
  // The same for one of several tables of a run, which are one document in formats that can say so.
  void section(Report report, const ReportHead& head);
  void arranged_section(Report report, const ReportHead& head);  // as it is: sorted and limited already
  void end_sections(const std::vector<std::string>& warnings);   // of that document
  // The same for a report that is made of each input. Machines get one table, whose first column is the input (left out
  // where a JSON document has one input), when finish() is called; people get a table for each at once, under its name.
  void add(const std::string& name, const std::string& input, TraceReport report);
  // HTML. The tables are sorted and limited as those of reports. Error{kUsage} where it
  // would go to a terminal.
  void print_page(ReportPage page);
  void note(const std::string& text) const;  // once, however often it is said
  void shorten_names(Report& report) const;  // kernels by what distinguishes them, but for --wide
  // A blank line, and for people `title`, between two tables of one run.
  void separate(const std::string& title);

  // Above the tables: for people as text, in JSON as a member of the document, in other formats not at all.
  void sentences(Report told, const std::string& name, const std::vector<std::string>& inputs);
  // For sentences: that of a terminal, at most 80.
  [[nodiscard]] std::size_t page_width() const;

  void finish();  // the file appears under its name; Error{kResource} when not all of it could be written

 private:
  void arrange(Report& report);
  void write(const Report& report, const ReportHead& head, const std::vector<std::string>& warnings);

  const CommandLine& line_;
  OutputTarget target_;
  std::size_t width_ = 0;  // of a table; 0: any
  std::unique_ptr<TableRenderer> document_;
  bool any_ = false;
  std::size_t cut_rows_ = 0, cut_tables_ = 0;
  mutable std::set<std::string> noted_;
  Report merged_;  // rows of all inputs so far; without columns: none came
  ReportHead merged_head_;
  std::vector<std::string> merged_warnings_;
};

}  // namespace tracedb
