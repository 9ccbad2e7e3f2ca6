// The shared part of CSV and TSV: rows as they come, headers with their units, times in ns unless requested otherwise.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "report/table.h"

namespace tracedb {

class Delimited : public TableRenderer {
 public:
  Delimited(std::ostream& out, const RenderOptions& options) : out_(out), options_(options) {}
  void begin(const ReportHead& head, std::span<const Column> columns) override;
  void row(std::span<const Cell> cells) override;
  void end(std::span<const std::string>) override {}

 protected:
  [[nodiscard]] virtual char delimiter() const = 0;
  [[nodiscard]] virtual std::string_view line_end() const = 0;
  [[nodiscard]] virtual std::string quote(const std::string& escaped) const = 0;

 private:
  [[nodiscard]] std::string field(const std::string& text, bool is_text) const;

  std::ostream& out_;
  const RenderOptions options_;
  std::vector<Column> columns_;
};

}  // namespace tracedb
