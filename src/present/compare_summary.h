// The section `summary` of a comparison: what a reader sees first.
#pragma once

#include "present/compare_sections.h"

namespace tracedb {

Report summary_section(const SectionInput& input);

}  // namespace tracedb
