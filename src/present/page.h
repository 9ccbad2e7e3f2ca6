// The answer of `compare` to people, on one page: who is faster and by how much, the reasons in order of size, fusions,
// warnings, and the commands that show more. Its sentences are made of measured facts alone. Pure.
#pragma once

#include <string>

#include "base/text/sentence.h"
#include "compare/reasons.h"
#include "present/page_text.h"
#include "present/sections.h"
#include "present/words.h"

namespace tracedb {

struct PageInput {
  const SectionInput& in;
  const std::vector<GroupReasons>& reasons;
  std::string baseline, candidate;  // as the command line has them
};

// As much as fits into 60 lines of `width`; the rest is named, with the option that shows it.
Page compare_page(const PageInput& input, std::size_t width);

}  // namespace tracedb
