#include "report/json_text.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

class RenderedJson final : public TableRenderer {
 public:
  explicit RenderedJson(std::ostream& out) : out_(out) {}

  void begin(const ReportHead& head, std::span<const Column> columns) override {
    columns_.assign(columns.begin(), columns.end());
    if (begun_) return;
    begun_ = true;
    out_ << "{\"schema\": " << json_string("tracedb." + head.name + "/1")
         << ",\n \"inputs\": " << json_list(head.inputs) << ",\n \"units\": {";
    const char* separator = "";
    for (const Column& column : columns_) {
      if (column.unit == Unit::kAny || column.unit == Unit::kText) continue;
      out_ << separator << json_string(column.key) << ": " << json_string(to_string(column.unit));
      separator = ", ";
    }
    out_ << "},\n \"rows\": [";
  }

  void row(std::span<const Cell> cells) override {
    out_ << (any_ ? ",\n  " : "\n  ") << json_object(columns_, cells);
    any_ = true;
  }

  void end(std::span<const std::string> warnings) override {
    out_ << (any_ ? "\n ]" : "]") << ",\n \"warnings\": " << json_list(warnings) << "}\n";
  }

 private:
  std::ostream& out_;
  std::vector<Column> columns_;
  bool begun_ = false;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<TableRenderer> make_json_renderer(std::ostream& out, const RenderOptions&) {
  return std::make_unique<RenderedJson>(out);
}

}  // namespace tracedb
