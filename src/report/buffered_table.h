// The shared part of renderers for people: they need all rows before the first line, to choose time units and widths.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "report/cell_text.h"
#include "report/table.h"

namespace tracedb {

class BufferedTable : public TableRenderer {
 public:
  BufferedTable(std::ostream& out, const RenderOptions& options) : out_(out), options_(options) {}
  void begin(const ReportHead& head, std::span<const Column> columns) override;
  void row(std::span<const Cell> cells) override;
  void end(std::span<const std::string> warnings) override;

 protected:
  struct Text {
    std::vector<std::string> heads;
    std::vector<bool> right_aligned;  // columns of numbers
    std::vector<bool> optional;       // figures of a report: may be left out where there is no room
    std::vector<bool> empty;          // nothing is known in any row
    std::vector<Fit> fit;
    std::vector<std::vector<std::string>> rows;
  };
  virtual std::string escape(const std::string& text) const = 0;
  virtual void print(const Text& text) = 0;

  std::ostream& out_;
  const RenderOptions options_;

 private:
  [[nodiscard]] TimeUnit column_unit(std::size_t column) const;
  [[nodiscard]] TimeUnit shared_unit() const;
  [[nodiscard]] bool is_numeric(std::size_t column) const;
  [[nodiscard]] bool is_empty(std::size_t column) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool one_unit_ = false;  // for all times
};

}  // namespace tracedb
