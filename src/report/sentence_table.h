// Sentences as a table, for machines: what a command says to people, with its figures by name.
#pragma once

#include <string>
#include <vector>

#include "base/text/sentence.h"
#include "report/sql_report.h"

namespace tracedb {

std::vector<Column> sentence_columns();

std::vector<std::string> sentence_texts(const Report& table);  // as people read them

// `about`: which of several candidates, jobs or series. Sentences without an id are left out.
void add_sentence(Report& table, const std::string& about, const Sentence& sentence);

}  // namespace tracedb
