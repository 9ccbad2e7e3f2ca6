// Kernel time by name, operation class or role, and by pass of training.
#include "base/text/numbered_texts.h"
#include "passes/columns/group_stats.h"
#include "passes/tables/pass_tables.h"
#include "trace/kernel_name.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoPass = "[no pass]";
constexpr std::string_view kNoHlo = "[no HLO operation]";
constexpr std::string_view kNameless = "[no name]";  // a name id that is not in kernel_name: a damaged index

enum class GroupBy { kName, kOp, kRole, kHlo };

// Groups by the id of a kernel's name, where names that are alike are one, or by its role.
class Labels {
 public:
  Labels(Workload& workload, GroupBy by) {
    names_ = workload.events().kernels.ids("name_id");
    if (by == GroupBy::kRole) {
      roles_ = &workload.roles();
      for (const RoleInfo& info : kAllRoles) labels_.number(std::string(info.name));
      return;
    }
    groups_.push_back(labels_.number(std::string(kNameless)));
    if (by == GroupBy::kOp) {
      const KernelClasses& classes = workload.classes();
      for (std::uint32_t id = 1; id < classes.end(); ++id) {
        if (classes.of(id).known) enter(id, classes.class_of(id));
      }
      return;
    }
    Statement rows(workload.index().database(), kKernelTexts);
    while (rows.step()) {
      const auto hlo = by == GroupBy::kHlo ? parse_hlo_kernel(rows.text(1)) : std::nullopt;
      enter(rows.id(0), by == GroupBy::kName ? rows.text(1) : hlo ? rows.text(1).substr(hlo->kernel.size()) : kNoHlo);
    }
  }
  [[nodiscard]] GroupId of(std::size_t row) const {
    if (roles_ != nullptr) return static_cast<GroupId>(roles_->of(row).role);
    return names_[row] < groups_.size() ? groups_[names_[row]] : groups_[0];
  }
  [[nodiscard]] std::size_t count() const { return labels_.all().size(); }
  [[nodiscard]] std::string_view label(std::size_t group) const { return labels_.all()[group]; }

 private:
  void enter(std::size_t id, std::string_view label) {
    for_id(groups_, id, groups_[0]) = labels_.number(std::string(label));
  }

  const KernelRoles* roles_ = nullptr;    // null: not by role
  std::span<const std::uint32_t> names_;  // by row
  std::vector<GroupId> groups_;           // by id
  NumberedTexts labels_;
};

// By pass of training: each group in as many parts as there are passes, and one for what has none.
constexpr GroupId kPassParts = kPassNames.size() + 1;
void split_by_pass(std::span<GroupId> groups, std::span<const std::uint32_t> pass) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != kNoGroup) groups[i] = groups[i] * kPassParts + pass[i];
  }
}
std::string_view pass_label(std::size_t part) { return part == 0 ? kNoPass : kPassNames[part - 1]; }

// How many distinct names each group holds. `shared`: a name may be in several groups.
std::vector<std::int64_t> distinct_names(std::span<const GroupId> groups, std::span<const std::uint32_t> names,
                                         std::size_t count, bool shared) {
  std::vector<std::vector<bool>> seen(shared ? count : 1);
  std::vector<std::int64_t> out(count, 0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == kNoGroup) continue;
    auto is_seen = for_id(seen[shared ? groups[i] : 0], names[i]);
    if (!is_seen) ++out[groups[i]];
    is_seen = true;
  }
  return out;
}

// What an index has of an HLO operation, by one of its runs, and what its name says.
void add_hlo(const Index& index, std::string_view text, std::uint32_t cpu_op, TableRows& rows) {
  const HloKernel hlo = parse_hlo_kernel(text).value_or(HloKernel{{}, {}, text, {}, {}, {}});
  TextById operators(
      index,
      "SELECT s.concrete_inputs ->> '$[0].hlo_category', s.concrete_inputs ->> '$[0].flops', "
      "s.concrete_inputs ->> '$[0].bytes_accessed', t.value FROM cpu_op c LEFT JOIN op_shape s ON s.id = c.shape_id "
      "JOIN string t ON t.id = c.name_id WHERE c.id = ?");
  const Statement* const more = operators.row(cpu_op);
  const auto number = [&](int column) {
    return more != nullptr && !more->is_null(column) ? std::optional(more->int64(column)) : std::nullopt;
  };
  rows.add(hlo.op)
      .add(known_text(hlo.module))
      .add(known_text(hlo.opcode))
      .add(known_text(hlo.target))
      .add(known_text(hlo.shape));
  rows.add(more == nullptr ? std::nullopt : known_text(more->text(0))).add(number(1)).add(number(2));
  rows.add(more == nullptr ? std::nullopt : known_text(more->text(3)));
}

void fill_groups(Workload& workload, TableRows& rows, GroupBy by, bool by_pass) {
  const EventTables& tables = workload.events();
  const EventColumns& kernels = tables.kernels;
  const EventFilter filter = workload.filter();
  const GroupId parts = by_pass ? kPassParts : 1;
  const Labels labels(workload, by);
  const auto name = kernels.ids("name_id");
  ColumnArray<GroupId> memory(name.size());
  const std::span<GroupId> groups = memory.values();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = filter.keeps_kernel(i) ? labels.of(i) : kNoGroup;
  }
  if (by_pass) split_by_pass(groups, kernels.ids("pass"));
  const GroupedEvents events{kernels.int64s("ts"), kernels.int64s("dur"), kernels.ids("stream_id"),
                             tables.device_of_stream, groups};
  std::vector<std::uint32_t> run_of(by == GroupBy::kHlo ? labels.count() : 0);  // a cpu_op of each
  for (std::size_t i = 0; i < groups.size() && !run_of.empty(); ++i) {
    if (groups[i] != kNoGroup && run_of[groups[i]] == 0) run_of[groups[i]] = kernels.ids("cpu_op_id")[i];
  }
  const std::vector<GroupStats> stats = group_stats(events, labels.count() * parts);
  const std::vector<std::int64_t> names =
      distinct_names(groups, name, stats.size(), (by_pass && by == GroupBy::kOp) || by == GroupBy::kRole);
  const std::int64_t busy = busy_time(events);
  for (std::size_t g = 0; g < stats.size(); ++g) {
    const GroupStats& own = stats[g];
    if (own.count == 0) continue;
    const auto known = [&](auto value) { return own.known > 0 ? std::optional(value) : std::nullopt; };
    if (by == GroupBy::kHlo) {
      add_hlo(workload.index(), labels.label(g), run_of[g], rows);
    } else {
      rows.add(labels.label(g / parts));
    }
    if (by_pass) rows.add(pass_label(g % parts));
    rows.add(names[g]).add(own.count).add(own.known).add(own.total).add(own.busy);
    rows.add(known(own.min)).add(known(own.max)).add(known(own.median)).add(known(own.p90)).add(known(own.p99));
    rows.add(known(own.stddev)).add(busy);
  }
}

template <GroupBy by, bool by_pass>
void fill_groups_by(Workload& workload, const PassOptions&, TableRows& rows) {
  fill_groups(workload, rows, by, by_pass);
}

// The operation class of every kernel name, and the rule that chose it.

}  // namespace

void fill_classes(Workload& workload, const PassOptions&, TableRows& rows) {
  const KernelClasses& classes = workload.classes();
  for (std::uint32_t id = 1; id < classes.end(); ++id) {
    const KernelClasses::Entry& entry = classes.of(id);
    if (entry.known) rows.add(id).add(classes.class_of(id)).add(known_text(entry.rule)).add(known_text(entry.label));
  }
}

std::vector<PassTable> kernel_group_tables() {
  using enum GroupBy;
  return {declared_table("kernels_by_name", fill_groups_by<kName, false>),
          declared_table("kernels_by_pass", fill_groups_by<kName, true>),
          declared_table("ops", fill_groups_by<kOp, false>),
          declared_table("ops_by_pass", fill_groups_by<kOp, true>),
          declared_table("ops_by_role", fill_groups_by<kRole, false>),
          declared_table("ops_by_hlo", fill_groups_by<kHlo, false>)};
}

void fill_roles(Workload&, const PassOptions&, TableRows& rows) {
  for (const RoleInfo& info : kAllRoles) rows.add(info.name).add(to_string(info.family)).add(info.meaning);
}

}  // namespace tracedb
