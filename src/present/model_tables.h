// A model against a profile as the tables that `model` prints.
#pragma once

#include <span>
#include <string>

#include "ascend/model_comparison.h"
#include "report/sql_report.h"

namespace tracedb {

// One pair of a model and a profile, or why it could not be compared.
struct ModelScenario {
  std::string name, model, profile;  // the two files
  double passes = 1;
  bool passes_assumed = false;  // nobody said how many
  ModelSide model_side;
  ProfileSide profile_side;
  ModelComparison comparison;
  std::string error;  // one line; empty: it was compared
};

enum class Language { kEnglish, kChinese };

// A row for each scenario, errors included; for machines.
Report model_summary(std::span<const ModelScenario> scenarios);

// The same of one scenario, as facts for people.
Report model_facts(const ModelScenario& scenario, Language language);

// A row for each kernel type, shape or source. For people the table closes with a [total] row and has the words of
// `language`; for machines the first column is the scenario.
Report model_operators(std::span<const ModelScenario> scenarios, ModelBy by);
Report model_operators(const ModelScenario& scenario, ModelBy by, Language language);

}  // namespace tracedb
