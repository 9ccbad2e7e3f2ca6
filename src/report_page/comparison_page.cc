#include "report_page/comparison_page.h"

#include <fmt/format.h>

#include <utility>

#include "base/text/amounts.h"
#include "present/cells.h"
#include "present/page.h"
#include "present/side_names.h"

namespace tracedb {
namespace {

constexpr std::size_t kTextWidth = 200;  // a window breaks lines itself; this decides how much is said

}  // namespace

ReportPage comparison_page(const ComparisonPageInput& input) {
  const SectionInput& in = input.in;
  const TraceDescription& a = in.baseline.description;
  const TraceDescription& b = in.candidate.description;
  const SideNames names = side_names(a.devices, b.devices, a.label, b.label);
  ReportPage page;
  page.kind = page.command = "compare";
  page.title = fmt::format("{} and {}: compare", a.label, b.label);
  page.sides = {{"a", names.baseline, a.label, a.devices}, {"b", names.candidate, b.label, b.devices}};
  const auto reasons = find_reasons(in.comparison, in.sources());
  page.text = compare_page({in, reasons, input.baseline, input.candidate}, kTextWidth);
  const PictureInput pictures = {{&in.baseline, &in.candidate},
                                 {&in.baseline_index, &in.candidate_index},
                                 {names.baseline, names.candidate},
                                 in.kernel_names,
                                 in.comparison};
  add_pictures(pictures, page);
  for (const Section* section : input.tables) {
    Report report = section->table.make(in);
    drop_column(report, "trace");
    if (CycleWords::active()) name_cycles(report);
    page.tables.push_back(table_of(section->name, section->summary, std::move(report)));
  }
  return page;
}

}  // namespace tracedb
