#include "passes/sql/kernel_sql_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/failure.h"
#include "sql/scripts.h"
#include "trace/event_names.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

constexpr std::string_view kString = "SELECT value FROM string WHERE id = ?1";

// A parent comes before its children: one that does not is a damaged index and must not send us in circles.
constexpr std::string_view kModuleOfStack =
    "WITH RECURSIVE up(id, parent_id, frame_id) AS (SELECT id, parent_id, frame_id FROM stack WHERE id = ?1 UNION ALL "
    "SELECT b.id, b.parent_id, b.frame_id FROM up JOIN stack b ON b.id = up.parent_id AND b.id < up.id) SELECT "
    "substr(m.value, 12) FROM up JOIN frame f ON f.id = up.frame_id JOIN string m ON m.id = f.name_id WHERE m.value "
    "GLOB 'nn.Module: *' ORDER BY up.id DESC LIMIT 1";

// The row that an id stands for; nullopt: none of `rows`.
std::optional<std::size_t> row_of(std::int64_t id, std::size_t rows) {
  if (id < 1 || static_cast<std::uint64_t>(id) > rows) return std::nullopt;
  return static_cast<std::size_t>(id) - 1;
}

template <class T>
void give(SqlCall& call, const std::optional<T>& value) {
  if (value) call.give(*value);
}
void give(SqlCall& call, const ArrayValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) call.give(*number);
  if (const auto* text = std::get_if<std::string>(&value)) call.give(std::string_view(*text));
}

// Answers by a function, or a member, of the functions and an id.
template <auto kAnswer>
void of_id(SqlCall& call) {
  auto* functions = static_cast<KernelSqlFunctions*>(call.context());
  const auto id = call.integer(0);
  if (functions != nullptr && id) give(call, std::invoke(kAnswer, *functions, *id));
}

void op_class(SqlCall& call) {
  auto* functions = static_cast<KernelSqlFunctions*>(call.context());
  const auto name = call.text(0);
  if (functions != nullptr && name) call.give(functions->op_class(*name));
}

void short_name_of(SqlCall& call) {
  if (const auto name = call.text(0)) call.give(std::string_view(short_name(*name)));
}

void is_own_frame(SqlCall& call) {
  if (const auto frame = call.text(0)) call.give(std::int64_t{frame_origin(*frame) == FrameOrigin::kOwn});
}

constexpr std::string_view kStackColumn = "stack", kLayerColumn = "layer", kLayerPartColumn = "layer_part",
                           kRoleColumn = "role", kRoleSourceColumn = "role_source",
                           kRoleConfidenceColumn = "role_confidence_pct", kStepColumn = "step", kPhaseColumn = "phase";

template <const std::string_view& kColumn>
const ArrayValue& of_kernel(KernelSqlFunctions& functions, std::int64_t id) {
  return functions.of_kernel(kColumn, id);
}

// The number of the step, from 0, that a copy or fill is in; nullopt: in none.
std::optional<std::int64_t> memory_step(KernelSqlFunctions& functions, std::int64_t id) {
  const StepSet& steps = functions.workload().steps();
  const auto row = row_of(id, steps.of_memory.size());
  return row && steps.of_memory[*row] != 0 ? std::optional<std::int64_t>(steps.of_memory[*row] - 1) : std::nullopt;
}

std::optional<std::string_view> memory_phase(KernelSqlFunctions& functions, std::int64_t id) {
  const auto step = memory_step(functions, id);
  if (!step) return std::nullopt;
  return to_string(functions.workload().steps().steps[static_cast<std::size_t>(*step)].info.kind);
}

std::optional<std::int64_t> kernel_selected(KernelSqlFunctions& functions, std::int64_t id) {
  return functions.is_selected(id) ? 1 : 0;
}

using Changes = std::map<std::string, std::string, std::less<>>;

// "step kernel_step(v.id), phase ..." by name.
Changes changes_of(std::string_view text) {
  Changes changed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    const std::string_view change = text.substr(0, end);
    const std::size_t blank = change.find(' ');
    changed.emplace(change.substr(0, blank), change.substr(blank + 1));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return changed;
}

// "{kernels: step kernel_step(v.id), phase ...}" in a script is the list of the columns of main.kernels, as they are,
// but for those named, which are what stands behind their name. "{kernels over kernel_rows}": those that kernel_rows
// has are its own. Other columns, of an index made by another version, are looked up by the first one.
std::string columns_of_view(Database& database, std::string_view head, std::string_view changes) {
  constexpr std::string_view kOver = " over ";
  const std::size_t over = head.find(kOver);
  const std::string view(head.substr(0, over));
  const Changes changed = changes_of(changes);
  Statement columns(
      database,
      "SELECT name, ?2 = '' OR name IN (SELECT name FROM pragma_table_info(?2)) FROM pragma_table_info(?1, 'main')",
      view, over == std::string_view::npos ? std::string_view() : head.substr(over + kOver.size()));
  std::string out, first;
  while (columns.step()) {
    const std::string name(columns.text(0));
    if (first.empty()) first = name;
    const auto change = changed.find(name);
    std::string source = fmt::format("v.\"{}\"", name);
    if (change != changed.end()) {
      source = change->second;
    } else if (columns.int64(1) == 0) {
      source = fmt::format("(SELECT w.\"{0}\" FROM main.\"{1}\" w WHERE w.\"{2}\" = v.\"{2}\")", name, view, first);
    }
    out += fmt::format("{}{} AS \"{}\"", out.empty() ? "" : ", ", source, name);
  }
  return out;
}

std::string with_columns(Database& database, std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find('{');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const std::size_t end = text.find('}', begin);
    const std::string_view list = text.substr(begin + 1, end - begin - 1);
    const std::size_t colon = std::min(list.find(": "), list.size());
    out += columns_of_view(database, list.substr(0, colon), list.substr(std::min(colon + 2, list.size())));
    text.remove_prefix(end + 1);
  }
}

struct KernelFunction {
  SqlFunctionHelp help;
  void (*add)(Database&, const char* name, int arguments, void* context);
};

constexpr KernelFunction kFunctions[] = {
    {{"op_class", "op_class(name)", "operation class of any kernel name under the active rules"},
     add_function<op_class>},
    {{"short_name", "short_name(name)", "any kernel name demangled, without return type, template and argument lists"},
     add_function<short_name_of>},
    {{"is_own_frame", "is_own_frame(name)", "1: a Python frame of the user's or a framework's own code; else 0"},
     add_function<is_own_frame>},
    {{"kernel_stack", "kernel_stack(id)", "stack of layers that a kernel is in; NULL: in none"},
     add_function<of_id<of_kernel<kStackColumn>>>},
    {{"kernel_layer", "kernel_layer(id)", "index of its layer in that stack; NULL: in none"},
     add_function<of_id<of_kernel<kLayerColumn>>>},
    {{"kernel_layer_part", "kernel_layer_part(id)",
      "layer; head or tail: before the first or after the last layer of a step; NULL: unknown"},
     add_function<of_id<of_kernel<kLayerPartColumn>>>},
    {{"kernel_role", "kernel_role(id)", "role of a kernel at its place: qkv_proj, gate_up ...; NULL: not known"},
     add_function<of_id<of_kernel<kRoleColumn>>>},
    {{"kernel_role_source", "kernel_role_source(id)", "how its role is known: modules, class, order; NULL: it is not"},
     add_function<of_id<of_kernel<kRoleSourceColumn>>>},
    {{"kernel_role_confidence", "kernel_role_confidence(id)", "how sure its role is, in percent; NULL: it has none"},
     add_function<of_id<of_kernel<kRoleConfidenceColumn>>>},
    {{"kernel_step", "kernel_step(id)", "number of a kernel's step, from 0; NULL: in none"},
     add_function<of_id<of_kernel<kStepColumn>>>},
    {{"kernel_phase", "kernel_phase(id)", "kind of that step"}, add_function<of_id<of_kernel<kPhaseColumn>>>},
    {{"kernel_selected", "kernel_selected(id)",
      "1: a kernel is of the selection, --step, --op and so on; else 0; an error where none is"},
     add_function<of_id<kernel_selected>>},
    {{"memory_step", "memory_step(id)", "number of the step of a copy or fill, from 0; NULL: in none"},
     add_function<of_id<memory_step>>},
    {{"memory_phase", "memory_phase(id)", "kind of that step"}, add_function<of_id<memory_phase>>},
    {{"capture_op", "capture_op(id)",
      "operator that launched a kernel in the trace given by --capture; a graph replay names none"},
     add_function<of_id<&KernelSqlFunctions::capture_op>>},
    {{"capture_module", "capture_module(id)", "innermost module there"},
     add_function<of_id<&KernelSqlFunctions::capture_module>>},
};

}  // namespace

std::string_view KernelSqlFunctions::op_class(std::string_view name) {
  if (!classifier_ && rules_ != nullptr) classifier_.emplace(rules_->compiled());
  if (!classifier_) classifier_.emplace(workload().rules().compiled(), platform_of(workload().index()));
  name_.assign(name);
  const auto known = classes_.find(name_);
  if (known != classes_.end()) return classifier_->class_name(known->second);
  const ClassId id = classifier_->classify(name_).class_id;
  classes_.emplace(name_, id);
  return classifier_->class_name(id);
}

const ArrayValue& KernelSqlFunctions::of_kernel(std::string_view name, std::int64_t kernel_id) {
  static const ArrayValue kNone;
  if (!kernels_) kernels_.emplace(workload());
  auto column = columns_.find(name);
  if (column == columns_.end()) column = columns_.emplace(name, kernels_->column(name)).first;
  const auto row = row_of(kernel_id, kernels_->size());
  return row ? column->second.values()[column->second.places()[*row]] : kNone;
}

bool KernelSqlFunctions::is_selected(std::int64_t kernel_id) {
  const std::size_t kernels = workload().events().kernels.size();
  if (!filter_) {
    filter_.emplace(workload().filter());
    std::size_t row = 0;
    while (row < kernels && !filter_->keeps_kernel(row)) ++row;
    if (row == kernels) {
      std::string why = "no kernel matches the selection";
      for (const std::string& note : workload().missing_notes()) why += "; " + note;
      throw Error(ErrorCode::kUsage, why);
    }
  }
  const auto row = row_of(kernel_id, kernels);
  return row && filter_->keeps_kernel(*row);
}

const Launcher* KernelSqlFunctions::launcher(std::int64_t kernel_id) {
  if (workload().capture() == nullptr) return nullptr;
  const std::vector<std::uint32_t>& launchers = workload().origins().launcher;
  const auto row = row_of(kernel_id, launchers.size());
  return row && launchers[*row] != 0 ? &workload().capture()->capture.launchers[launchers[*row] - 1] : nullptr;
}

std::optional<std::string_view> KernelSqlFunctions::capture_text(std::uint32_t id, Texts& texts, std::string_view sql) {
  const auto [entry, is_new] = texts.try_emplace(id);
  if (is_new && id != 0) entry->second = TextById(workload().capture()->index, sql).of(id).value_or("");
  return entry->second.empty() ? std::nullopt : std::optional<std::string_view>(entry->second);
}

std::optional<std::string_view> KernelSqlFunctions::capture_op(std::int64_t kernel_id) {
  const Launcher* own = launcher(kernel_id);
  if (own == nullptr) return std::nullopt;
  const std::vector<std::uint32_t>& names = workload().capture()->capture.operator_name;
  return capture_text(own->cpu_op < names.size() ? names[own->cpu_op] : 0, operators_, kString);
}

std::optional<std::string_view> KernelSqlFunctions::capture_module(std::int64_t kernel_id) {
  const Launcher* own = launcher(kernel_id);
  return own == nullptr ? std::nullopt : capture_text(own->stack, modules_, kModuleOfStack);
}

std::vector<SqlFunctionHelp> kernel_functions_help() {
  std::vector<SqlFunctionHelp> help;
  for (const KernelFunction& f : kFunctions) help.push_back(f.help);
  return help;
}

void register_kernel_functions(Database& database, KernelSqlFunctions* functions) {
  for (const KernelFunction& f : kFunctions) f.add(database, f.help.name, 1, functions);
}

void add_kernel_views(Database& database) {
  const bool reads_only = database.query_int64("PRAGMA query_only") == 1;
  const std::string views = with_columns(database, script("sql_views"));
  database.execute("PRAGMA query_only=OFF; SAVEPOINT views");
  const auto failure = catch_error([&] { database.execute(views); });
  database.execute(failure ? "ROLLBACK TO views; RELEASE views" : "RELEASE views");
  if (reads_only) database.execute("PRAGMA query_only=ON");
  if (failure) throw Error(*failure);
}

void make_kernel_views(Database& database) {
  database.execute("PRAGMA temp_store=MEMORY");
  add_kernel_views(database);
}

}  // namespace tracedb
