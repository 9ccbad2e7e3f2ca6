#include "trace_query/sql/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <thread>

#include "base/failure.h"
#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "index/index.h"
#include "index/locate.h"
#include "index/packed_columns.h"
#include "passes/sql/event_rows.h"
#include "report/escape.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSchemas = 10;  // of SQLite
constexpr std::size_t kMostThreads = 8;   // each holds an index open

bool is_identifier(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::ranges::all_of(text, fits);
}

SqlInput take_apart(const std::string& given) {
  std::error_code error;
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || fs::exists(given, error) || !is_identifier(given.substr(0, equals))) {
    return {given, {}};
  }
  return {given.substr(equals + 1), given.substr(0, equals)};
}

void refuse_names(const std::vector<SqlInput>& inputs) {
  std::set<std::string> known = {"main", "temp"};
  for (const SqlInput& input : inputs) {
    if (input.name.empty() || known.insert(ascii_lower(input.name)).second) continue;
    throw usage_error("{}={}: there is another {} already; choose another name", input.name, input.path, input.name);
  }
}

// The letter of an input, or the next that is no name yet.
std::string free_letter(std::size_t input, const std::set<std::string>& taken) {
  std::string letter(1, static_cast<char>('a' + static_cast<int>(input)));
  while (taken.contains(letter)) ++letter[0];
  return letter;
}

// As UTC to the second; NULL for a clock that does not count from 1970.
SqlValue date_text(const std::optional<std::int64_t>& nanoseconds) {
  if (nanoseconds.value_or(0) < kFirstDate) return std::monostate();
  const std::string text = moment_text(*nanoseconds);  // "2025-05-14 06:27:24.851617869 UTC"
  return text.substr(0, 10) + "T" + text.substr(11, 8) + "Z";
}

std::optional<std::string> meta(Database& database, std::string_view key) {
  return database.query_text(fmt::format("SELECT value FROM meta WHERE key = {}", quoted_text(key)));
}

std::optional<std::int64_t> integer(const std::optional<std::string>& text) {
  return text ? parse_int64(*text) : std::nullopt;
}

template <class T>
SqlValue or_null(const std::optional<T>& value) {
  return value ? SqlValue(*value) : SqlValue();
}

// Views, tables of the passes and, if wanted, tables: what a statement can select from.
enum class WithTables { kNo, kYes };
std::vector<SetTable> all_tables(Database& database, WithTables with_tables) {
  std::vector<SetTable> tables;
  const auto names = database.query_texts(
      "SELECT name FROM main.sqlite_schema WHERE type IN ('view', ?1) AND name NOT GLOB 'sqlite_*' UNION "
      "ALL SELECT name FROM temp.sqlite_schema WHERE name = 'python_calls' ORDER BY 1",
      with_tables == WithTables::kYes ? "table" : "view");
  for (const std::string& name : names) tables.push_back(describe_table(database, name));
  for (const PackedTable& table : packed_tables()) {
    if (table.alone && with_tables == WithTables::kYes) {
      tables.push_back(describe_table_function(database, std::string(table.name)));
    }
  }
  for (const PassTable& table : pass_tables()) {
    tables.push_back(describe_table_function(database, std::string(table.name)));
  }
  return tables;
}

}  // namespace

std::vector<SqlInput> find_sql_inputs(const std::vector<std::string>& given,
                                      const std::optional<std::string>& files_from, std::vector<std::string>& notes) {
  std::vector<SqlInput> inputs;
  for (const std::string& word : given) {
    const SqlInput input = take_apart(word);
    const std::vector<std::string> paths = find_inputs(std::vector{input.path}, std::nullopt, &notes);
    if (!input.name.empty() && paths.size() != 1) {
      throw usage_error("{}: {} traces and indexes, which cannot have one name: give one of them", word, paths.size());
    }
    for (const std::string& path : paths) inputs.push_back({path, input.name});
  }
  if (files_from) {
    for (const std::string& path : find_inputs({}, files_from, &notes)) inputs.push_back({path, {}});
  }
  refuse_names(inputs);
  return inputs;
}

IndexSet::IndexSet(std::vector<SqlInput> inputs, const CommandLine& line, const RequestedWorkload& requested,
                   const PassOptions& options)
    : line_(line), requested_(requested), options_(options), inputs_(std::move(inputs)) {
  const auto cores = static_cast<std::size_t>(std::max(1U, std::thread::hardware_concurrency()));
  threads_ = std::min(static_cast<std::size_t>(line.number("threads").value_or(0)), kMostThreads);
  if (threads_ == 0) threads_ = std::min(cores, kMostThreads);
  const bool has_stream = std::ranges::any_of(inputs_, [](const auto& in) { return is_stream(in.path); });
  if (inputs_.size() == 1 || has_stream || requested.capture() != nullptr)
    threads_ = 1;          // those are read by one thread
  requested.load_rules();  // which threads share
  name_inputs();
  open_schemas();
}

void IndexSet::name_inputs() {
  std::map<std::string, int> uses;
  for (const SqlInput& input : inputs_) {
    fs::path path = input.path;
    if (path.extension() == kIndexSuffix) path.replace_extension();
    names_.push_back(input.name.empty() ? path.filename().string() : input.name);
    ++uses[names_.back()];
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (uses[names_[i]] > 1 && inputs_[i].name.empty()) names_[i] = inputs_[i].path;
  }
  uses.clear();
  for (std::string& name : names_) {
    if (const int use = ++uses[name]; use > 1) name += fmt::format("#{}", use);
  }
}

void IndexSet::open_schemas() {
  std::set<std::string> taken;
  for (const SqlInput& input : inputs_) taken.insert(ascii_lower(input.name));
  const std::size_t count = std::min(inputs_.size(), kMostSchemas);
  schemas_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = inputs_[i].name.empty() ? free_letter(i, taken) : inputs_[i].name;
    taken.insert(ascii_lower(name));
    Schema& schema = schemas_.emplace_back();
    schema.name = name;
    schema.failure = catch_error([&] { schema.index = make(i); });
    if (!schema.failure) continue;
    const bool is_last_hope =
        i + 1 == count && std::ranges::none_of(schemas_, [](const Schema& other) { return other.index != nullptr; });
    if (is_last_hope || !run_limits::time_limit_reached().empty()) throw Error(*schema.failure);
    leave_out(i, *schema.failure);
  }
  while (schemas_[main_].index == nullptr) ++main_;
  require_places();
  if (main_ != 0) notes_[fmt::format("tables without a schema are those of {}", schemas_[main_].name)] = {main_};
}

// Of any of the indexes, those included that are opened only while they are read.
void IndexSet::require_places() {
  const Selection& selection = requested_.selection();
  if (selection.devices.empty() && selection.streams.empty()) return;
  KnownPlaces places;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (i < schemas_.size()) {
      if (schemas_[i].index) places.add(schemas_[i].index->index());
    } else {
      catch_error([&] { places.add(make(i)->index()); });  // it is told of where it is read
    }
  }
  places.require(selection);
}

void IndexSet::add_tables(std::string_view text) {
  Database& database = main().database();
  const bool has_schemas = inputs_.size() > 1 || !inputs_[0].name.empty();
  if (has_schemas) {
    const std::vector<SetTable> tables = all_tables(database, WithTables::kYes);
    // The first is where SQLite finds names without a schema that are neither tables nor views: those of the passes.
    add_schema(database, schemas_[main_], schemas_[main_].name, tables);
    for (std::size_t i = 0; i < schemas_.size(); ++i) {
      if (i != main_) add_schema(database, schemas_[i], schemas_[i].name, tables);
    }
  }
  if (!has_schemas && ascii_lower(text).find("all_") == std::string::npos) return;
  for (const SetTable& table : all_tables(database, WithTables::kNo)) add_table_of_all(database, *this, table);
}

std::span<const LabelColumn> IndexSet::label_columns() const {
  static constexpr LabelColumn kColumns[] = {{"index_name", "TEXT", "name of the trace"},
                                             {"source", "TEXT", "path of the trace"},
                                             {"job", "TEXT", "folder of the trace"},
                                             {"rank", "INTEGER", "rank of the trace in its job"},
                                             {"date", "TEXT", "when the trace begins, UTC"}};
  return kColumns;
}

std::vector<SqlValue> IndexSet::known_labels(std::size_t member) const { return {names_[member], {}, {}, {}, {}}; }

std::vector<SqlValue> IndexSet::labels(std::size_t member, Database& database) const {
  const std::optional<std::string> source = meta(database, "source_path");
  std::optional<std::string> job;
  if (source) job = source_path_text(source_path(*source).parent_path().filename());
  if (job && job->empty()) job.reset();
  return {names_[member], or_null(source), or_null(job), or_null(integer(meta(database, "rank"))),
          date_text(integer(meta(database, "base_time_ns")))};
}

std::shared_ptr<SqlIndex> IndexSet::make(std::size_t member) {
  constexpr const char* kSmallCache = "PRAGMA cache_size=-8192";
  std::unique_lock building(building_, std::defer_lock);
  if (file_kind(inputs_[member].path) != FileKind::kIndex) building.lock();
  const bool is_one_of_many = inputs_.size() > 1;
  auto index = std::make_shared<SqlIndex>(open_trace(inputs_[member].path, line_), requested_, options_,
                                          is_one_of_many ? SqlIndex::Sorting::kOnDisk : SqlIndex::Sorting::kInMemory);
  if (is_one_of_many) index->database().execute(kSmallCache);
  return index;
}

std::shared_ptr<Database> IndexSet::open(std::size_t member) {
  if (threads_ == 1 && member < schemas_.size() && schemas_[member].index) return schemas_[member].open(0);
  {
    const std::lock_guard lock(mutex_);
    if (left_out_.contains(member)) return nullptr;
    const auto found = std::ranges::find_if(idle_, [&](const auto& idle) { return idle.first == member; });
    if (found != idle_.end()) {
      auto index = std::move(found->second);
      idle_.erase(found);
      return check_out(member, index);
    }
  }
  return check_out(member, make(member));
}

std::shared_ptr<Database> IndexSet::check_out(std::size_t member, const std::shared_ptr<SqlIndex>& index) {
  Database* database = &index->database();
  return {database, [this, member, index](Database*) { take_back(member, index); }};
}

void IndexSet::take_back(std::size_t member, std::shared_ptr<SqlIndex> index) {
  constexpr std::size_t kMostIdle = 2;
  const std::lock_guard lock(mutex_);
  collect_notes(member, *index);
  index->database().release_page_cache();
  if (idle_.size() >= kMostIdle) idle_.erase(idle_.begin());
  idle_.emplace_back(member, std::move(index));
}

void IndexSet::collect_notes(std::size_t member, SqlIndex& index) {
  for (const std::string& note : index.take_notes()) {
    std::vector<std::size_t>& members = notes_[note];
    if (std::ranges::find(members, member) == members.end()) members.push_back(member);
  }
}

void IndexSet::leave_out(std::size_t member, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!left_out_.insert(member).second) return;
  }
  std::cerr << "trace-query: " << escape_text(complaint(inputs_[member].path, why)) << '\n';
}

std::vector<std::pair<std::string, std::filesystem::path>> IndexSet::schema_files() const {
  std::vector<std::pair<std::string, std::filesystem::path>> out = {{"main", main().index().path()}};
  for (const Schema& schema : schemas_) {
    if (schema.index && inputs_.size() > 1) out.emplace_back(schema.name, schema.index->index().path());
  }
  return out;
}

std::vector<std::string> IndexSet::take_notes() {
  constexpr std::size_t kNamed = 3;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < schemas_.size(); ++i) {
    if (schemas_[i].index) collect_notes(i, *schemas_[i].index);
  }
  std::vector<std::string> out;
  for (const auto& [note, members] : std::exchange(notes_, {})) {
    std::vector<std::string> who;
    for (const std::size_t member : members) who.push_back(names_[member]);
    out.push_back(inputs_.size() == 1 ? note : fmt::format("{}: {}", first_names(who, kNamed), note));
  }
  return out;
}

std::shared_ptr<Database> IndexSet::Schema::open(std::size_t) {
  if (!index) throw Error(*failure);
  return {index, &index->database()};
}

SqlIndex::SqlIndex(OpenedTrace trace, const RequestedWorkload& requested, const PassOptions& options, Sorting sorting)
    : trace_(std::move(trace)), workload_(requested.of(trace_.index)), functions_(workload_) {
  register_kernel_functions(database(), &functions_);
  add_pass_tables(workload_, options);
  add_event_rows(database(), "", [this]() -> Workload& { return workload_; });
  sorting == Sorting::kInMemory ? make_kernel_views(database()) : add_kernel_views(database());
}

std::vector<std::string> SqlIndex::take_notes() {
  std::vector<std::string> notes = std::exchange(trace_.notes, {});
  for (std::string& note : workload_.take_notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace tracedb
