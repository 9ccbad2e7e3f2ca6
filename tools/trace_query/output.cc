#include "trace_query/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/text/amounts.h"
#include "report/escape.h"
#include "shared/terminal.h"
#include "trace/display_name.h"

namespace tracedb {
namespace {

constexpr std::size_t kUsualWidth = 100;  // of a terminal that does not say
constexpr std::size_t kPipeWidth = 160;   // of what is no terminal
constexpr std::size_t kPageWidth = 80;    // most, of sentences
constexpr std::size_t kUsualRows = 30;
constexpr int kNoDescriptor = -1;
constexpr const char* kColumnsVariable = "TRACEDB_COLUMNS";

// 0: any. `file`: the table goes into one.
std::size_t table_width(const CommandLine& line, bool file) {
  if (line.has("wide") || line.renderer().name != "table") return 0;
  if (const auto width = line.number("width")) return static_cast<std::size_t>(*width);
  const bool terminal = !file && isatty(STDOUT_FILENO) == 1;
  return line_width(file ? kNoDescriptor : STDOUT_FILENO).value_or(terminal ? kUsualWidth : kPipeWidth);
}

// Those of the usual columns that the report has, separated by commas; "": none.
std::string usual_columns(const CommandLine& line, const Report& report) {
  const auto names = line.setting("columns", kColumnsVariable);
  std::string out;
  for (const std::string& name : split_names(names.value_or(""))) {
    if (find_column(report.columns, name)) out += (out.empty() ? "" : ",") + name;
  }
  return out;
}

namespace fs = std::filesystem;

fs::path path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Where nothing can be put in its place, or must not be.
bool is_written_directly(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (!exists) return fs::is_symlink(path, error);
  return !fs::is_regular_file(path, error) || ::access(folder.c_str(), W_OK) != 0;
}

}  // namespace

void add_text_column(Report& report, const char* key, const char* head, const std::string& text) {
  report.columns.insert(report.columns.begin(), {key, head, Unit::kText, OthersAggregate::kNone});
  for (Row& row : report.rows) row.insert(row.begin(), text);
}

bool names_inputs(const CommandLine& line) {
  const Renderer& renderer = line.renderer();
  return line.inputs().size() > 1 ||
         (renderer.audience == Audience::kMachine && renderer.name != "json" && renderer.name != "compact");
}

void note(const CommandLine& line, const std::string& text) {
  if (!line.quiet()) std::cerr << "note: " << escape_text(text) << '\n';
}

std::size_t row_limit(const CommandLine& line) {
  if (!line.knows("limit")) return 0;
  const bool for_reading = line.text("output").value_or("-") == "-" && line.renderer().name == "table";
  return static_cast<std::size_t>(line.number("limit").value_or(for_reading ? kUsualRows : 0));
}

std::size_t row_offset(const CommandLine& line) { return static_cast<std::size_t>(line.number("offset").value_or(0)); }

Output::Output(const CommandLine& line)
    : line_(line), target_(line.text("output")), width_(table_width(line, target_.is_file())) {
  if (line.has("budget") && line.renderer().name != "compact")
    throw usage_error("--budget bounds --format compact alone");
  if (!target_.is_file()) return;
  const std::string file = *line.text("output");
  const std::string_view named = format_of_name(file), written = line.written_format();
  if (!named.empty() && named != written) {
    note(fmt::format("{} is written as {}, not {} as its name says", printable_path(file), written, named));
  }
}

std::unique_ptr<TableRenderer> Output::renderer() {
  RenderOptions options;
  options.time_unit = line_.time_unit();
  options.budget = static_cast<std::size_t>(line_.number("budget").value_or(0));
  options.guard_formulas = !line_.has("raw-cells");
  const bool terminal = !target_.is_file() && isatty(STDOUT_FILENO) == 1;
  options.color = line_.color(terminal);
  options.width = width_;
  options.one_row_as_list = !line_.has("columns");
  return line_.renderer().make(stream(), options);
}

void Output::print(Report report, const ReportHead& head, const std::vector<std::string>& warnings) {
  arrange(report);
  write(report, head, warnings);
}

TableRenderer* Output::document() {
  if (!document_ && line_.renderer().tables == Tables::kOneDocument) document_ = renderer();
  return document_.get();
}

void Output::section(Report report, const ReportHead& head) {
  arrange(report);
  arranged_section(std::move(report), head);
}

void Output::arranged_section(Report report, const ReportHead& head) {
  if (document() == nullptr) {
    // The first table of some, or one without rows, says what is known of it.
    const bool told = !any_ || report.rows.empty();
    separate(head.section);
    return write(report, head, {noted_.begin(), told ? noted_.end() : noted_.begin()});
  }
  if (line_.renderer().name == "jsonl") add_text_column(report, "section", "Section", head.section);
  ReportHead told = head;
  told.page = report.page;
  document_->begin(told, report.columns);
  for (const Row& row : report.rows) document_->row(row);
}

void Output::end_sections(const std::vector<std::string>& warnings) {
  if (document() != nullptr) document_->end(warnings);
}

void Output::sentences(Report told, const std::string& name, const std::vector<std::string>& inputs) {
  if (line_.renderer().name == "json") return section(std::move(told), {name, inputs, "sentences", 1, true});
  if (!line_.for_people()) return;
  for (const std::string& sentence : sentence_texts(told)) {
    for (const std::string& text : wrap_text(escape_text(sentence), page_width())) stream() << text << '\n';
  }
  if (!told.rows.empty()) separate("");
}

void Output::write(const Report& report, const ReportHead& head, const std::vector<std::string>& warnings) {
  render(report, head, warnings, *renderer());
  for (const std::string& warning : warnings) note(warning);
}

void Output::add(const std::string& name, const std::string& input, TraceReport report) {
  const bool several = line_.inputs().size() > 1;
  if (several) {
    for (std::string& warning : report.warnings) warning.insert(0, input + ": ");
  }
  if (!names_inputs(line_) || line_.for_people()) {
    separate(several ? input : "");
    return print(std::move(report.report), {name, {input}}, report.warnings);
  }
  arrange(report.report);
  add_text_column(report.report, "input", "Input", input);
  merged_.columns = std::move(report.report.columns);
  std::move(report.report.rows.begin(), report.report.rows.end(), std::back_inserter(merged_.rows));
  merged_head_.name = name;
  merged_head_.inputs.push_back(input);
  merged_warnings_.insert(merged_warnings_.end(), report.warnings.begin(), report.warnings.end());
}

void Output::shorten_names(Report& report) const {
  if (line_.has("wide")) return;
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    if (!report.columns[c].fit.names) continue;
    std::vector<std::string> names;
    for (const Row& row : report.rows) {
      if (const auto* name = std::get_if<std::string>(&row[c])) names.push_back(*name);
    }
    const std::vector<std::string> shown = display_names(names);
    auto next = shown.begin();
    for (Row& row : report.rows) {
      if (std::holds_alternative<std::string>(row[c])) row[c] = *next++;
    }
  }
}

void Output::arrange(Report& report) {
  if (const auto sort = line_.text("sort")) sort_rows(report, parse_sort_key(*sort));
  const std::size_t rows = report.rows.size();
  std::size_t limit = row_limit(line_);
  const std::size_t offset = row_offset(line_);
  if (const auto percent = line_.percent("cum", 0, 100, " from 0 to 100")) {
    const std::size_t enough = std::max(rows_that_make_up(report, *percent), offset + 1) - offset;
    limit = line_.has("limit") && limit > 0 ? std::min(limit, enough) : enough;
  }
  if (line_.knows("offset")) {
    const std::size_t left = rows - std::min(offset, rows);
    const auto first = report.rows.end() - static_cast<std::ptrdiff_t>(left);
    if (limit > 0 && left > 0 && !report.whole) {  // [others] holds the rows before, too
      limit = std::min(limit, left);
      std::rotate(report.rows.begin(), first, report.rows.end());
    } else {
      report.rows.erase(report.rows.begin(), first);
    }
    const bool told = offset > 0 || line_.has("total") || line_.renderer().name == "compact";
    if (told) report.page = RowPage{offset, limit == 0 || report.whole ? left : std::min(limit, left), rows};
  }
  limit_rows(report, limit);
  if (!line_.has("limit") && !line_.has("cum") && report.rows.size() < rows) {
    cut_rows_ += rows - limit;
    ++cut_tables_;
  }
  std::move(report.footer.begin(), report.footer.end(), std::back_inserter(report.rows));
  report.footer.clear();
  const bool human_readable = line_.for_people();
  if (line_.has("columns")) {
    choose_columns(report, *line_.text("columns"));
  } else if (line_.knows("columns") && !line_.knows("section") && human_readable) {
    if (const std::string usual = usual_columns(line_, report); !usual.empty()) choose_columns(report, usual);
  }
  if (human_readable) shorten_names(report);
}

void Output::print_page(ReportPage page) {
  if (!target_.is_file() && isatty(STDOUT_FILENO) == 1) {
    throw usage_error("a page is for a browser: give -o FILE.html, or redirect standard output");
  }
  for (PageTable& table : page.tables) {
    if (const auto sort = line_.text("sort")) sort_rows(table.report, parse_sort_key(*sort));
    if (line_.has("limit")) limit_rows(table.report, row_limit(line_));
    if (!line_.has("columns")) continue;
    std::move(table.report.footer.begin(), table.report.footer.end(), std::back_inserter(table.report.rows));
    table.report.footer.clear();
    choose_columns(table.report, *line_.text("columns"));
  }
  stream() << html_page(page);
}

void Output::note(const std::string& text) const {
  if (noted_.insert(text).second) tracedb::note(line_, text);
}

void Output::separate(const std::string& title) {
  const bool human_readable = line_.for_people();
  if (any_ && (human_readable || line_.renderer().name == "csv" || line_.renderer().name == "tsv")) stream() << '\n';
  if (human_readable && !title.empty()) {
    const std::string text = escape_text(title);
    for (const std::string& part : width_ > 0 ? wrap_text(text, width_) : std::vector{text}) stream() << part << '\n';
    stream() << '\n';
  }
  any_ = true;
}

std::size_t Output::page_width() const {
  if (const auto width = line_.number("width"); width && *width > 0) return static_cast<std::size_t>(*width);
  return std::min(line_width(target_.is_file() ? kNoDescriptor : STDOUT_FILENO).value_or(kPageWidth), kPageWidth);
}

void Output::finish() {
  if (!merged_.columns.empty()) write(merged_, merged_head_, merged_warnings_);
  if (cut_tables_ > 0) {
    const std::string tables = cut_tables_ > 1 ? fmt::format(" of {} tables", cut_tables_) : "";
    note(fmt::format("[others] is {}{}; --limit 0 shows all", counted(cut_rows_, "more row"), tables));
  }
  target_.finish();
}

OutputFile::OutputFile(const fs::path& path) : path_(path), target_(path) {
  std::error_code error;
  if (fs::is_symlink(path, error) && fs::exists(path, error)) target_ = fs::canonical(path, error);
  const fs::path folder = directory_of(target_);
  if (is_written_directly(path, folder)) {
    stream_.open(path, std::ios::binary | std::ios::trunc);
  } else {
    open_anonymous(folder);
  }
  require(stream_.is_open(), "cannot be written");
}

void OutputFile::open_anonymous(const fs::path& folder) {
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  require(!replaces || ::access(target_.c_str(), W_OK) == 0, "cannot be written");
  anonymous_fd_ = FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (anonymous_fd_.is_open()) stream_.open(path_of(anonymous_fd_.get()), std::ios::binary);
  if (!stream_.is_open()) {
    require(::access(folder.c_str(), W_OK) == 0, "cannot be written");
    partial_.emplace(target_);
    stream_.open(partial_->path(), std::ios::binary | std::ios::trunc);
  }
  if (replaces)
    ::chmod(partial_ ? partial_->path().c_str() : path_of(anonymous_fd_.get()).c_str(), old.st_mode & 07777);
}

void OutputFile::require(bool condition, const char* what) const {
  if (condition) return;
  const std::string reason = errno != 0 ? fmt::format(": {}", std::strerror(errno)) : "";
  throw Error(ErrorCode::kResource, fmt::format("{}: {}{}", printable_path(path_), what, reason));
}

void OutputFile::finish() {
  errno = 0;
  stream_.close();
  require(!stream_.fail(), "not everything could be written");
  if (partial_) {
    partial_->publish(std::nullopt);
  } else if (anonymous_fd_.is_open()) {
    require(::fsync(anonymous_fd_.get()) == 0, "not everything could be written");
    link_into_place();
  }
}

// A link cannot replace a file, a rename can.
void OutputFile::link_into_place() {
  std::random_device chance;
  fs::path name;
  do {
    name = target_;
    name += fmt::format(".{:06x}.partial", chance() & 0xffffffU);
  } while (::linkat(AT_FDCWD, path_of(anonymous_fd_.get()).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0 &&
           errno == EEXIST);
  if (::rename(name.c_str(), target_.c_str()) == 0) return;
  const int error = errno;
  ::unlink(name.c_str());
  errno = error;
  require(false, "cannot be put in place");
}

OutputTarget::OutputTarget(const std::optional<std::string>& path) : standard_(&std::cout) {
  if (path && *path != "-") file_.emplace(*path);
}

void OutputTarget::finish() {
  if (!file_) return finish_standard_output();
  stream().flush();
  file_->finish();
}

}  // namespace tracedb
