// Where a command's data goes: standard output, or the file of -o. Notes go to standard error.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>

#include "query_options.h"
#include "query_output_file.h"
#include "report/sql_report.h"

namespace tracedb {

class Output {
 public:
  explicit Output(const CommandLine& line);  // Error{kResource} when the file cannot be written

  [[nodiscard]] std::ostream& stream() { return file_ ? file_->stream() : *standard_; }
  [[nodiscard]] std::unique_ptr<TableRenderer> renderer();

  // Sorts, limits and prints a report; `warnings` also go to standard error.
  void print(Report report, const ReportHead& head, const std::vector<std::string>& warnings);
  void note(const std::string& text) const;
  // A blank line, and for people `title`, between two tables of one run.
  void separate(const std::string& title);

  void finish();  // the file appears under its name; Error{kResource} when not all of it could be written

 private:
  [[nodiscard]] std::size_t row_limit() const;

  const CommandLine& line_;
  std::ostream* standard_;
  std::optional<OutputFile> file_;
  std::string path_;
  bool any_ = false;
};

}  // namespace tracedb
