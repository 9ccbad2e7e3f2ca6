#include "passes/kernel_classes.h"

#include <utility>

namespace tracedb {
namespace {

// The index is opened so that nothing can be written, temporary tables included; this one is ours.
class Writable {
 public:
  explicit Writable(Database& database) : database_(database) { database_.execute("PRAGMA query_only=OFF"); }
  ~Writable() { Statement(database_, "PRAGMA query_only=ON").run(); }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

 private:
  Database& database_;
};

constexpr std::string_view kTable =
    "PRAGMA temp_store=MEMORY; DROP TABLE IF EXISTS temp.kernel_class;"
    "CREATE TEMP TABLE kernel_class (name_id INTEGER PRIMARY KEY, class TEXT NOT NULL, rule TEXT, pattern TEXT)";

template <class Visit>
void visit_names(Database& database, Visit visit) {
  Statement names(database, "SELECT id, name FROM kernel_name ORDER BY id");
  while (names.step()) visit(names.int64(0), names.text(1));
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
  const Writable writable(database);
  database.execute(kTable);
  database.execute("BEGIN");
  Statement insert(database, "INSERT INTO temp.kernel_class VALUES (?1, ?2, ?3, ?4)");
  visit_names(database, [&](std::int64_t id, std::string_view name) {
    const Classification result = classifier.classify(name);
    insert.bind(1, id).bind(2, std::string_view(classifier.class_name(result.class_id)));
    if (result.rule_id != kNoRule) insert.bind(3, classifier.rule_name(result.rule_id));
    const std::string label = classifier.label(name, result.rule_id);
    const bool labelled = result.rule_id != kNoRule && !classifier.rules().rules[result.rule_id].label.empty();
    if (labelled) insert.bind(4, std::string_view(label));
    insert.run();
  });
  database.execute("COMMIT");
}

}  // namespace tracedb
