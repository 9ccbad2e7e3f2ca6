#include "report/delimited.h"
#include "report/renderers.h"

namespace tracedb {
namespace {

class RenderedCsv final : public Delimited {
 public:
  using Delimited::Delimited;

 private:
  char delimiter() const override { return ','; }
  std::string_view line_end() const override { return "\r\n"; }

  std::string quote(const std::string& escaped) const override {
    if (escaped.find_first_of(",\"") == std::string::npos) return escaped;
    std::string out = "\"";
    for (const char c : escaped) {
      if (c == '"') out.push_back('"');
      out.push_back(c);
    }
    return out + '"';
  }
};

}  // namespace

std::unique_ptr<TableRenderer> make_csv_renderer(std::ostream& out, const RenderOptions& options) {
  return std::make_unique<RenderedCsv>(out, options);
}

}  // namespace tracedb
