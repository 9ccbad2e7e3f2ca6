#include "report/json_text.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

class RenderedJsonLines final : public TableRenderer {
 public:
  explicit RenderedJsonLines(std::ostream& out) : out_(out) {}
  void begin(const ReportHead&, std::span<const Column> columns) override {
    columns_.assign(columns.begin(), columns.end());
  }
  void row(std::span<const Cell> cells) override { out_ << json_object(columns_, cells) << '\n'; }
  void end(std::span<const std::string>) override {}

 private:
  std::ostream& out_;
  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<TableRenderer> make_jsonl_renderer(std::ostream& out, const RenderOptions&) {
  return std::make_unique<RenderedJsonLines>(out);
}

}  // namespace tracedb
