#include <fmt/format.h>

#include "report/json_text.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

class RenderedJson final : public TableRenderer {
 public:
  explicit RenderedJson(std::ostream& out) : out_(out) {}

  void begin(const ReportHead& head, std::span<const Column> columns) override {
    columns_.assign(columns.begin(), columns.end());
    objects_ = JsonObjects(columns);
    if (begun_ && !in_section_) return;
    if (begun_) {
      close_table();
      out_ << ",\n";
    } else {
      out_ << "{\"schema\": " << json_string(fmt::format("tracedb.{}/{}", head.name, head.version))
           << ",\n \"inputs\": " << json_list(head.inputs) << ",\n";
      if (head.page && head.page->total != kAllRows) out_ << " \"total_rows\": " << head.page->total << ",\n";
      in_section_ = !head.section.empty();
    }
    begun_ = true;
    any_ = false;
    open_table(head);
  }

  void row(std::span<const Cell> cells) override {
    line_ = any_ ? ",\n  " : "\n  ";
    objects_.append(line_, cells);
    out_ << line_;
    any_ = true;
  }

  void end(std::span<const std::string> warnings) override {
    close_table();
    if (in_section_) out_ << (in_list_ ? "]" : ",\n \"sections\": []");
    out_ << ",\n \"warnings\": " << json_list(warnings) << "}\n";
  }

 private:
  void open_table(const ReportHead& head) {
    in_member_ = head.member;
    if (head.member) {
      out_ << ' ' << json_string(head.section) << ": [";
      return;
    }
    if (in_section_) {
      if (!in_list_) out_ << " \"sections\": [\n";
      in_list_ = true;
      out_ << "{\"section\": " << json_string(head.section) << ",\n";
    }
    units();
  }
  void units() {
    out_ << " \"units\": {";
    const char* separator = "";
    for (const Column& column : columns_) {
      if (column.unit == Unit::kAny || column.unit == Unit::kText) continue;
      out_ << separator << json_string(column.key) << ": " << json_string(to_string(column.unit));
      separator = ", ";
    }
    out_ << "},\n \"rows\": [";
  }
  void close_table() {
    out_ << (any_ ? "\n ]" : "]");
    if (in_section_ && !in_member_) out_ << '}';
  }

  std::ostream& out_;
  std::vector<Column> columns_;
  JsonObjects objects_;
  std::string line_;
  bool begun_ = false;
  bool in_section_ = false;  // the document has sections
  bool in_list_ = false;     // the list of those is open
  bool in_member_ = false;   // the table is a member of the document
  bool any_ = false;
};

class RenderedJsonLines final : public TableRenderer {
 public:
  explicit RenderedJsonLines(std::ostream& out) : out_(out) {}
  void begin(const ReportHead&, std::span<const Column> columns) override { objects_ = JsonObjects(columns); }
  void row(std::span<const Cell> cells) override {
    line_.clear();
    objects_.append(line_, cells);
    out_ << line_ << '\n';
  }
  void end(std::span<const std::string>) override {}

 private:
  std::ostream& out_;
  JsonObjects objects_;
  std::string line_;
};

}  // namespace

std::unique_ptr<TableRenderer> make_json_renderer(std::ostream& out, const RenderOptions&) {
  return std::make_unique<RenderedJson>(out);
}

std::unique_ptr<TableRenderer> make_jsonl_renderer(std::ostream& out, const RenderOptions&) {
  return std::make_unique<RenderedJsonLines>(out);
}

}  // namespace tracedb
