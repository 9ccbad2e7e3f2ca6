// What a report is made of, and the interface of everything that prints one. Values in, text out: no database here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tracedb {

// How a column's numbers are meant. Times are ns whatever the renderer makes of them.
// kMoment: ns since 1970, shown as they are.
enum class Unit { kAny, kText, kCount, kTime, kMoment, kBytes, kPercent, kRatio, kBandwidth };
std::string_view to_string(Unit unit);  // "ns", "bytes", "percent", "GB/s", ...
std::optional<Unit> unit_from(std::string_view text);

// What the [others] row says for the rows that a limit cuts off.
enum class OthersAggregate { kNone, kLabel, kSum, kMin, kMax, kMean };
std::optional<OthersAggregate> others_aggregate_from(std::string_view text);

// What a column does on a terminal that has no room for all, declared as words: "6 wrapped".
struct Fit {
  int priority = 0;      // columns with the least go first; 1 to 10, the report's point has most; 0: not declared
  bool wrapped = false;  // prose, which goes on in the next line where a name loses its middle
  bool names = false;    // names of kernels, of which people see short ones (trace/display_name.h)

  static const Fit kUsual, kKept, kWrapped, kNames;
  bool operator==(const Fit&) const = default;
};
inline constexpr Fit Fit::kUsual{};
inline constexpr Fit Fit::kKept{5};
inline constexpr Fit Fit::kWrapped{8, true};
inline constexpr Fit Fit::kNames{6, false, true};
std::optional<Fit> fit_from(std::string_view text);  // "", "6", "wrapped", "names", "6 names"

// How texts about a change begin in tables for people.
inline constexpr std::string_view kWorseMark = "▲ ", kBetterMark = "▼ ";

struct Column {
  std::string key;   // in JSON, in --sort and in the SQL: total_time
  std::string head;  // for people, in the words of Nsight Systems: Total Time
  Unit unit = Unit::kAny;
  OthersAggregate others = OthersAggregate::kNone;
  Fit fit = {};
  std::string_view meaning = {};  // for `trace-query schema` and help; "": not declared
  bool is_json = false;           // its texts are JSON, and stand in JSON as they are
  std::string whole = {};         // of a share: the key of what it is a share of; [others] is that of the sums
};
inline Column text_column(const char* key, const char* head) { return {key, head, Unit::kText}; }

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate: unknown
using Row = std::vector<Cell>;

enum class TimeUnit { kAuto, kNs, kUs, kMs, kS };
std::optional<TimeUnit> time_unit_from(std::string_view text);
std::string_view to_string(TimeUnit unit);
double nanoseconds_per(TimeUnit unit);

// Cells as text: one place decides on digits, separators and time units.

std::optional<double> number(const Cell& cell);  // nullopt for text and unknown

// Exact and plain, for machines: integers in full, reals in at most 15 digits, "" for unknown. `per` divides times.
void append_plain_text(std::string& out, const Cell& cell, Unit unit, TimeUnit time_unit);

// For people: thousands separators, "-" for unknown. Times, ratios and rates have three significant digits, and never
// fewer before the point than they need; with `decimals` just so many behind it, as columns that add up must have.
std::string human_text(const Cell& cell, Unit unit, TimeUnit time_unit, std::optional<int> decimals = std::nullopt);

// The head with its unit: "Total Time (ms)".
std::string head_text(const Column& column, TimeUnit time_unit);

// The unit in which the largest of a column's times has one to five digits before the point.
TimeUnit fitting_unit(double largest_ns);

// One value with its unit behind it, for lists of facts: "12.345 ms", "1.50 GB", "83.1 %".
std::string fact_text(const Cell& cell, Unit unit, TimeUnit time_unit);

struct RenderOptions {
  TimeUnit time_unit = TimeUnit::kAuto;  // JSON always has ns
  std::size_t width = 0;                 // of a line of a table: longer texts lose their middle; 0: any
  bool one_row_as_list = true;           // a table of one row is printed as items and values
  bool color = false;                    // for a terminal: verdicts stand out
  std::size_t budget = 0;                // bytes of a compact document, at most; 0: any
  bool guard_formulas = true;            // CSV and TSV cells that a spreadsheet would compute get a leading '
};

inline constexpr std::size_t kAllRows = ~std::size_t{0};

// Which rows of a table are printed, where that is to be said.
struct RowPage {
  std::size_t offset = 0;          // rows left out before the first
  std::size_t listed = 0;          // rows printed, without those about others; kAllRows: all that come
  std::size_t total = 0;           // rows there are; kAllRows: those left out and all that come
  std::size_t counted = kAllRows;  // of so many no more were counted: there may be more
};

struct ReportHead {
  std::string name;                  // "kernels": schema "tracedb.kernels/1"
  std::vector<std::string> inputs;   // files it was made from
  std::string section = {};          // of a report that is several tables
  int version = 1;                   // of the shape: schema "tracedb.compare/2"
  bool member = false;               // of a section: in JSON a member of the document, before `sections`
  std::optional<RowPage> page = {};  // nullopt: not told
  std::string if_cut = {};           // a warning where a budget leaves rows to a next page
};

// Called begin, row for each row, end; once. Renderers of whole documents (Renderer::tables) take begin again before
// end: rows with other columns follow, or another section.
class TableRenderer {
 public:
  virtual ~TableRenderer() = default;
  virtual void begin(const ReportHead& head, std::span<const Column> columns) = 0;
  virtual void row(std::span<const Cell> cells) = 0;
  // Warnings are part of a JSON document; the other formats leave them to the caller's stderr.
  virtual void end(std::span<const std::string> warnings) = 0;
};

}  // namespace tracedb
