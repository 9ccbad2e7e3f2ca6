// The shared part of renderers for people: they need all rows before the first line, to choose time units and widths.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "report/table.h"

namespace tracedb {

class BufferedTable : public TableRenderer {
 public:
  BufferedTable(std::ostream& out, const RenderOptions& options) : out_(out), options_(options) {}

  // A table of one row with more columns than this is printed as items and values, where the options say so.
  static constexpr std::size_t kMostColumnsOfOneRow = 6;
  // Of what says what a row is about, as the column does in which [others] stands.
  static constexpr int kKeyPriority = 10;

  void begin(const ReportHead& head, std::span<const Column> columns) override;
  void row(std::span<const Cell> cells) override;
  void end(std::span<const std::string> warnings) override;

 protected:
  struct Text {
    std::vector<std::string> heads;
    std::vector<bool> right_aligned;  // columns of numbers
    std::vector<bool> empty;          // nothing is known in any row, or all is 0
    std::vector<Fit> fit;             // with a priority in any case
    std::vector<std::vector<std::string>> rows;
    bool fold_heads = false;  // where there is no room for them in one line
  };
  virtual std::string escape(const std::string& text) const = 0;
  virtual void print(const Text& text) = 0;
  // What the text was made of.
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Row>& cells() const { return rows_; }

  std::ostream& out_;
  const RenderOptions options_;

 private:
  // How times are shown: totals, which add up, and all others.
  struct TimeUnits {
    TimeUnit sums = TimeUnit::kNs, others = TimeUnit::kNs;
  };
  [[nodiscard]] TimeUnits time_units() const;
  [[nodiscard]] std::optional<int> decimals_of_sums(TimeUnit unit) const;
  [[nodiscard]] bool is_sum(std::size_t column) const;
  [[nodiscard]] bool is_numeric(std::size_t column) const;
  [[nodiscard]] bool is_empty(std::size_t column) const;
  [[nodiscard]] Unit unit_of(std::size_t column) const;
  [[nodiscard]] Fit fit_of(std::size_t column) const;
  [[nodiscard]] Text text_of_rows() const;
  [[nodiscard]] Text text_of_one_row() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool one_unit_ = false;  // for all times
  bool is_report_ = false;
  bool is_exact_ = false;  // numbers without a unit are the user's own
};

}  // namespace tracedb
