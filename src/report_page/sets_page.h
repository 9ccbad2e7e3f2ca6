// The page of two sets of runs: what `compare` says, the runs as dots, the ledger as a waterfall with intervals,
// tables. Pure.
#pragma once

#include <span>

#include "present/set_sections.h"
#include "report_page/report_page.h"

namespace tracedb {

ReportPage sets_report_page(const SetsAnswer& answer, std::span<const SetSection* const> tables);

}  // namespace tracedb
