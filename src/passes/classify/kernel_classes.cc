#include "passes/classify/kernel_classes.h"

#include "sql/temp_table.h"

namespace tracedb {
namespace {

template <class Visit>
void visit_names(Database& database, Visit visit) {
  Statement names(database, "SELECT id, name FROM kernel_name ORDER BY id");
  while (names.step()) visit(names.id(0), names.text(1));
}

}  // namespace

std::string platform_of(const Index& index) { return index.meta("vendor").value_or("unknown"); }

std::vector<KernelNameClass> classify_kernel_names(const Index& index, Classifier& classifier) {
  std::vector<KernelNameClass> rows;
  visit_names(index.database(), [&](std::int64_t id, std::string_view name) {
    rows.push_back({id, classifier.classify(name)});
  });
  return rows;
}

void make_kernel_class_table(const Index& index, Classifier& classifier) {
  Database& database = index.database();
  TempTable table(database, "kernel_class", "name_id INTEGER PRIMARY KEY, class TEXT NOT NULL, rule TEXT, pattern TEXT",
                  4);
  Statement& insert = table.insert();
  visit_names(database, [&](std::int64_t id, std::string_view name) {
    const Classification result = classifier.classify(name);
    insert.bind(1, id).bind(2, std::string_view(classifier.class_name(result.class_id)));
    if (result.rule_id != kNoRule) insert.bind(3, classifier.rule_name(result.rule_id));
    const std::string label = classifier.label(name, result.rule_id);
    const bool labelled = result.rule_id != kNoRule && !classifier.rules().rules[result.rule_id].label.empty();
    if (labelled) insert.bind(4, std::string_view(label));
    insert.run();
  });
}

}  // namespace tracedb
