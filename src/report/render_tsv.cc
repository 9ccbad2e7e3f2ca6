#include "report/delimited.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

class RenderedTsv final : public Delimited {
 public:
  using Delimited::Delimited;

 private:
  char delimiter() const override { return '\t'; }
  std::string_view line_end() const override { return "\n"; }
  // Tabs and line ends are escaped like every control character, so nothing needs quotes.
  std::string quote(const std::string& escaped) const override { return escaped; }
};

}  // namespace

std::unique_ptr<TableRenderer> make_tsv_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedTsv>(out, options);
}

}  // namespace tracedb
