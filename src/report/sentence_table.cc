#include "report/sentence_table.h"

#include "report/json_text.h"

namespace tracedb {

std::vector<Column> sentence_columns() {
  using Others = OthersAggregate;
  return {{"about", "About", Unit::kText, Others::kLabel, {}, "the candidate, job, series or trace it is about"},
          {"id", "Sentence", Unit::kText, Others::kNone, {}, "what kind of sentence it is: compare.headline"},
          {"text", "Text", Unit::kText, Others::kNone, Fit::kWrapped, "as people read it"},
          {std::string(kJsonKey), "Figures", Unit::kText, Others::kNone, Fit::kWrapped,
           "its figures by name, as an object: times in ns, shares as parts of 1; clause.figure of clauses"}};
}

std::vector<std::string> sentence_texts(const Report& table) {
  std::vector<std::string> out;
  for (const Row& row : table.rows) out.push_back(std::get<std::string>(row[2]));
  return out;
}

void add_sentence(Report& table, const std::string& about, const Sentence& sentence) {
  if (sentence.id.empty()) return;
  table.rows.push_back({about, sentence.id, sentence.text, json_object(sentence.figures)});
}

}  // namespace tracedb
