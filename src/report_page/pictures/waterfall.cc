// The account of the change (compare/ledger.h) as steps from one side's time to the other's; of one trace, from nothing
// to the time of a step.
#include <fmt/format.h>

#include <cmath>

#include "compare/ledger.h"
#include "present/reason_words.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostRows = 16;

std::string_view class_of(LedgerKind kind) {
  switch (kind) {
    case LedgerKind::kOperation:
    case LedgerKind::kConcurrent:
      return "compute";
    case LedgerKind::kFusion:
      return "fusion";
    case LedgerKind::kComm:
      return "comm";
    case LedgerKind::kIdle:
    case LedgerKind::kBetween:
      return "idle";
    default:
      return "other";
  }
}

std::string detail_of(const PictureInput& in, const GroupComparison& group, const LedgerItem& item) {
  if (!in.compares()) {
    const double kernels = item.candidate_n / static_cast<double>(group.candidate_units);
    return kernels > 0 ? fmt::format("kernels: {:.4g}", kernels) : "";
  }
  return fmt::format("{} -> {}; by count {}, by time {}", brief_time(item.change.baseline),
                     brief_time(item.change.candidate), signed_time(static_cast<double>(item.change.count_effect)),
                     signed_time(static_cast<double>(item.change.duration_effect)));
}

void add_row(DataWriter& data, std::string_view label, std::int64_t value, std::string_view kind,
             std::string_view detail) {
  data.open('{').member("label", label).member("value", value).member("class", kind);
  data.member("detail", detail).close('}');
}

Picture waterfall(const PictureInput& in, const GroupComparison& group) {
  const LedgerAccount account = ledger_of(group, in.kernel_names, LedgerBy::kOp);
  const LedgerItem& total = account.totals[group.has_period() ? 1 : 0];
  const std::int64_t start = std::llround(total.change.baseline);
  const std::string& measure = total.op;  // "[span]", "[period]"
  DataWriter data;
  data.member("unit", "ns").member("phase", phase_of(group));
  data.key("start").open('{').member("label", in.compares() ? in.names[0] : "0").member("value", start).close('}');
  data.key("rows").open('[');
  std::int64_t rest = total.change.change;
  std::size_t rows = 0;
  for (const LedgerItem& item : account.items) {
    if (item.change.change == 0 || rows == kMostRows || item.kind == LedgerKind::kRare) continue;
    add_row(data, item.op, item.change.change, class_of(item.kind), detail_of(in, group, item));
    rest -= item.change.change;
    ++rows;
  }
  if (rest != 0) add_row(data, "[others]", rest, "rest", fmt::format("{} more rows", account.items.size() - rows));
  const std::string what = measure.substr(1, measure.size() - 2);
  data.close(']').key("end").open('{').member("label", in.compares() ? in.names.back() : what);
  data.member("value", start + total.change.change).close('}');
  std::string title = in.compares() ? fmt::format("What changes the {} of {}", what, unit_words(in, group))
                                    : fmt::format("What the {} of {} is made of", what, unit_words(in, group));
  std::string note =
      in.compares() ? "Means; the rows add up to the change to the nanosecond. Communication and copies count where "
                      "nothing computes at the same time."
                    : "Means; the rows add up to the whole. Communication and copies count where nothing computes at "
                      "the same time.";
  return {id_of("waterfall", group), "waterfall", std::move(title), std::move(note), data.take()};
}

}  // namespace

Pictures waterfalls(const PictureInput& in) {
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) out.push_back(waterfall(in, group));
  return out;
}

}  // namespace tracedb
