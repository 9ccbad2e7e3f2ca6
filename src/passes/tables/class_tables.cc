// The operation class of every kernel name, and the rule that chose it.
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

void fill_classes(Workload& workload, const PassOptions&, TableRows& rows) {
  const KernelClasses& classes = workload.classes();
  const auto known = [](std::string_view text) { return text.empty() ? std::nullopt : std::optional(text); };
  for (std::uint32_t id = 1; id < classes.end(); ++id) {
    const KernelClasses::Entry& entry = classes.of(id);
    if (entry.known) rows.add(id).add(classes.class_of(id)).add(known(entry.rule)).add(known(entry.label));
  }
}

}  // namespace

PassTable kernel_classes_table() {
  using enum ColumnType;
  return {"kernel_classes",
          "the operation class of each kernel name under the active rules",
          {{"name_id", kInteger, "", "id in kernel_name"},
           {"class", kText, "", "attention, dense_gemm, norm ...; other: no rule holds"},
           {"rule", kText, "", "the rule that chose it; NULL: none"},
           {"pattern", kText, "", "what the rule shows for the name; NULL: nothing"}},
          fill_classes};
}

PassTable roles_table() {
  using enum ColumnType;
  return {"roles",
          "the roles that kernels have in a model",
          {{"role", kText, "", "its name"},
           {"family", kText, "", "the coarser role that it is part of; itself where there is none"},
           {"meaning", kText, "", "what kernels of the role do"}},
          [](Workload&, const PassOptions&, TableRows& rows) {
            for (const RoleInfo& info : roles()) rows.add(info.name).add(to_string(info.family)).add(info.meaning);
          }};
}

}  // namespace tracedb
