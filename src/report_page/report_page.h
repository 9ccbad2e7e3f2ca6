// The HTML page of a trace or of a comparison: one file with everything in it, that asks nobody for anything. Text and
// tables are there without a script; pictures are drawn by one (src/web) from data. Its bytes depend on what it shows
// and on nothing else. Pure.
//
// Limits keep it below 2 MB whatever the trace: tables have so many bytes and rows each, pictures as many marks as they
// declare (pictures/); what is left out is a named row, and sums still close.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/select/workload.h"
#include "present/page_text.h"
#include "present/sections.h"
#include "present/set_sections.h"
#include "report/sql_report.h"
#include "report_page/pictures/picture.h"

namespace tracedb {

// One of the traces that the page is about.
struct PageSide {
  std::string key;    // "a", "b"
  std::string label;  // "MI300X": as sentences call it
  std::string file, gpu;
};

struct PageTable {
  std::string id, title, note;  // `note`: what it shows, or why it is empty
  Report report;
};

// Of a section of a comparison.
PageTable table_of(std::string_view section, std::string_view summary, Report report);

struct ReportPage {
  std::string kind;     // trace, compare
  std::string title;    // of the window
  std::string command;  // whose tables these are, as ReportHead has it
  std::vector<PageSide> sides;
  Page text;  // the answer: headline, verdict, reasons ...
  std::vector<Picture> pictures;
  std::vector<std::string> absent;  // kinds of pictures that the trace has nothing for, and why
  std::vector<PageTable> tables;
};

// All pictures that the traces have something for; of the others, why not.
void add_pictures(const PictureInput& in, ReportPage& page);

// Leaves out pictures that would make it too large, and says so.
std::string html_page(const ReportPage& page);

// The pages that tracedb makes: of two traces that are compared, of two sets of runs, of one trace.

// The page of two traces that are compared: what `compare` says, its pictures and its sections. Pure.

struct ComparisonPageInput {
  const SectionInput& in;
  std::string baseline, candidate;         // as the command line has them
  std::span<const Section* const> tables;  // those that are shown
};

ReportPage comparison_page(const ComparisonPageInput& input);

// The page of two sets of runs: what `compare` says, the runs as dots, the ledger as a waterfall with intervals,
// tables. Pure.

ReportPage sets_report_page(const SetsAnswer& answer, std::span<const SetSection* const> tables);

// The page of one trace, under the options of a command line: what it is, its pictures and the tables of its reports.

struct TracePageInput {
  std::string path;       // as the command line has it
  std::string selection;  // "--phase decode"; "": everything
};

// Takes the parts of the workload, whose index has the tables of passes.
ReportPage trace_page(Workload& workload, const TracePageInput& input);

}  // namespace tracedb
