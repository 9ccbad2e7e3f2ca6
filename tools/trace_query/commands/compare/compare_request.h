// What the command line asks of a comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "present/gate.h"
#include "present/sections.h"
#include "trace_query/options.h"

namespace tracedb {

struct CompareRequest {
  CompareOptions options;
  LedgerBy ledger_by = LedgerBy::kOp;
  bool page = false;                     // one page for people; else `sections`
  std::vector<const Section*> sections;  // without the gate's where there is no gate
  std::optional<Gate> gate;
};

// --gate-inconclusive fail. Error{kUsage} for another word than pass and fail.
bool inconclusive_fails(const CommandLine& line);

CompareRequest parse_compare_request(const CommandLine& line);

// Error{kUsage} for a name in --phase that is no kind of steps.
void refuse_unknown_phases(const CommandLine& line);

// The traces in a folder; 0: it is none.
std::size_t traces_of_folder(const std::string& path);

// Of --step; nullopt: two traces are compared.
std::optional<std::uint32_t> requested_step(const CommandLine& line);

}  // namespace tracedb
