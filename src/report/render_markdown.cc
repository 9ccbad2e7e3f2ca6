#include "report/buffered_table.h"
#include "report/escape.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

class RenderedMarkdown final : public BufferedTable {
 public:
  using BufferedTable::BufferedTable;

 private:
  std::string escape(const std::string& text) const override { return escape_markdown(text); }

  void print(const Text& text) override {
    line(text.heads);
    out_ << '|';
    for (const bool right : text.right_aligned) out_ << (right ? " ---: |" : " --- |");
    out_ << '\n';
    for (const auto& row : text.rows) line(row);
  }

  void line(const std::vector<std::string>& cells) {
    out_ << '|';
    for (const std::string& cell : cells) out_ << ' ' << cell << " |";
    out_ << '\n';
  }
};

}  // namespace

std::unique_ptr<TableRenderer> make_markdown_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedMarkdown>(out, options);
}

}  // namespace tracedb
