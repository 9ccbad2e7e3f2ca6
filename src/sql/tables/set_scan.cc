#include "sql/tables/set_scan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/failure.h"

namespace tracedb {
namespace {

constexpr std::size_t kBatchBytes = 64 << 10, kBatchesAhead = 4, kMembersAhead = 4;  // ahead: for each thread
constexpr std::int64_t kFirstRows = 16, kMostRows = 1024;

// Whether the members beside it still have an answer.
bool is_of_member(const Error& failure) {
  return failure.code() == ErrorCode::kInput || failure.code() == ErrorCode::kTransient;
}

bool is_fulfilled(std::string_view comparison, const SqlValue& label, const SqlValue& value) {
  if (comparison == "=") return label == value;
  if (comparison == "<") return label < value;
  if (comparison == "<=") return label <= value;
  if (comparison == ">") return label > value;
  return label >= value;
}

// Values of two types may still be equal to SQLite, which looks at every row again.
bool may_be_fulfilled(const LabelCondition& condition, const SqlValue& label) {
  return std::ranges::any_of(condition.values, [&](const SqlValue& value) {
    return label.index() != value.index() || is_fulfilled(condition.comparison, label, value);
  });
}

// NULL fulfils no comparison.
bool may_match(const std::vector<LabelCondition>& conditions, const std::vector<SqlValue>& labels, bool all_known) {
  return std::ranges::all_of(conditions, [&](const LabelCondition& condition) {
    const SqlValue& label = labels[condition.label];
    return label.index() == 0 ? !all_known : may_be_fulfilled(condition, label);
  });
}

void bind(Statement& statement, const std::vector<SqlValue>& values) {
  int index = 0;
  for (const SqlValue& value : values) {
    const auto bind_one = [&, place = ++index](const auto& one) {
      if constexpr (std::is_same_v<decltype(one), const SqlBlob&>) {
        statement.bind(place, std::as_bytes(std::span(one.bytes)));
      } else {
        statement.bind(place, one);
      }
    };
    std::visit(bind_one, value);
  }
}

constexpr std::size_t kLongestPattern = 1000;  // as for the statement itself
constexpr std::size_t kMostValues = 1000;      // of IN; more are left to the statement

constexpr std::array<PassedComparison, 12> kComparisons = {{
    {SQLITE_INDEX_CONSTRAINT_EQ, "=", true, 0.05},
    {SQLITE_INDEX_CONSTRAINT_LT, "<", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_LE, "<=", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_GT, ">", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_GE, ">=", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_NE, "!=", false, 0.9},
    {SQLITE_INDEX_CONSTRAINT_IS, "IS", false, 0.05},
    {SQLITE_INDEX_CONSTRAINT_ISNOT, "IS NOT", false, 0.9},
    {SQLITE_INDEX_CONSTRAINT_LIKE, "LIKE", false, 0.25},
    {SQLITE_INDEX_CONSTRAINT_GLOB, "GLOB", false, 0.25},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, "IS NULL", false, 0.5},
    {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "IS NOT NULL", false, 0.9},
}};

// nullopt: more than are passed on.
std::optional<std::vector<SqlValue>> values_of(sqlite3_value* value, bool is_list) {
  if (!is_list) return std::vector{to_sql_value(value)};
  std::vector<SqlValue> out;
  sqlite3_value* one = nullptr;
  for (int code = sqlite3_vtab_in_first(value, &one); code == SQLITE_OK && one != nullptr;
       code = sqlite3_vtab_in_next(value, &one)) {
    if (out.size() == kMostValues) return std::nullopt;
    out.push_back(to_sql_value(one));
  }
  return out;
}

// The statement of a plan.
class QueryMaker {
 public:
  QueryMaker(const SetSource& source, const SetTable& table, const char* plan, sqlite3_value** values)
      : source_(source), table_(table), lines_(plan) {
    std::string columns, order, line;
    std::getline(lines_, columns);
    std::getline(lines_, order);
    for (std::size_t i = 0; std::getline(lines_, line); ++i) add_condition(line, values[i]);
    select(columns);
    out_.query.sql += where_ + order_by(order);
  }

  MemberQuery take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string from() const { return table_.source.empty() ? quoted_name(table_.name) : table_.source; }

  void select(const std::string& line) {
    std::istringstream words(line);
    std::string kind, list;
    words >> kind;
    out_.places.assign(table_.columns.size(), -1);
    for (std::size_t column = 0; words >> column;) {
      out_.places[column] = static_cast<int>(out_.query.columns++);
      list += (list.empty() ? "" : ", ") + quoted_name(table_.columns[column].name);
    }
    out_.query.sql = fmt::format("SELECT {}{} FROM {}", kind == "distinct" && !list.empty() ? "DISTINCT " : "",
                                 list.empty() ? "count(*)" : list, from());
  }

  [[nodiscard]] std::string order_by(const std::string& line) const {
    std::istringstream words(line);
    std::string out;
    char direction = '+';
    for (std::size_t column = 0; words >> direction >> column;) {
      out += fmt::format("{}{}{}", out.empty() ? " ORDER BY " : ", ", quoted_name(table_.columns[column].name),
                         direction == '-' ? " DESC" : "");
    }
    return out;
  }

  void add_condition(const std::string& line, sqlite3_value* value) {
    std::istringstream words(line);
    std::size_t column = 0;
    int code = 0, is_list = 0;
    words >> column >> code >> is_list;
    const PassedComparison& comparison = *find_comparison(static_cast<unsigned char>(code));
    auto values = values_of(value, is_list != 0);
    if (!values) return;
    if (column < source_.labels()) {
      out_.query.conditions.push_back({column, comparison.sql, std::move(*values)});
    } else {
      add_comparison(quoted_name(table_.columns[column - source_.labels()].name), comparison, value, *values,
                     is_list != 0);
    }
  }

  void add_comparison(const std::string& name, const PassedComparison& comparison, sqlite3_value* value,
                      std::vector<SqlValue>& values, bool is_list) {
    if (comparison.sql.ends_with("NULL")) {
      add_term(fmt::format("{} {}", name, comparison.sql));
      return;
    }
    const bool is_pattern = comparison.sql == "LIKE" || comparison.sql == "GLOB";
    if (is_pattern && static_cast<std::size_t>(sqlite3_value_bytes(value)) > kLongestPattern) return;
    std::vector<std::string> marks;
    for (SqlValue& one : values) {
      out_.query.values.push_back(std::move(one));
      marks.push_back(fmt::format("?{}", out_.query.values.size()));
    }
    add_term(is_list ? fmt::format("{} IN ({})", name, fmt::join(marks, ", "))
                     : fmt::format("{} {} {}", name, comparison.sql, marks[0]));
  }

  void add_term(const std::string& term) { where_ += (where_.empty() ? " WHERE " : " AND ") + term; }

  const SetSource& source_;
  const SetTable& table_;
  std::istringstream lines_;
  MemberQuery out_;
  std::string where_;
};

}  // namespace

// The rows of one member.
class SetScan::Reader {
 public:
  Reader(DatabaseSet& set, const SetQuery& query, std::size_t member) : query_(query) {
    if (!may_match(query.conditions, set.known_labels(member), false)) return;
    database_ = set.open(member);
    if (!database_) return;
    labels_ = std::make_shared<const std::vector<SqlValue>>(set.labels(member, *database_));
    if (!may_match(query.conditions, *labels_, true)) return;
    statement_.emplace(*database_, query.sql);
    bind(*statement_, query.values);
  }

  ~Reader() {
    if (interruptible_) database_->interrupt_on(nullptr);
  }
  Reader& operator=(Reader&&) = delete;

  void interrupt_on(const std::atomic<bool>& flag) {
    if (!statement_) return;
    database_->interrupt_on(&flag);
    interruptible_ = true;
  }

  // The next rows; nullopt: there are none.
  std::optional<Batch> next() {
    if (!statement_) return std::nullopt;
    Batch batch{RowBatch(query_.columns), labels_};
    while (batch.rows.rows() < most_rows_ && batch.rows.bytes() < kBatchBytes) {
      if (!statement_->step()) {
        statement_.reset();
        break;
      }
      take_row(batch.rows);
    }
    most_rows_ = std::min(2 * most_rows_, kMostRows);
    return batch.rows.rows() > 0 ? std::optional(std::move(batch)) : std::nullopt;
  }

 private:
  void take_row(RowBatch& rows) {
    if (query_.columns == 0) {
      rows.end_rows(statement_->int64(0));
      return;
    }
    for (int column = 0; column < static_cast<int>(query_.columns); ++column) {
      rows.add(sqlite3_column_value(statement_->handle(), column));
    }
    rows.end_rows();
  }

  const SetQuery& query_;
  std::shared_ptr<Database> database_;  // before the statement, which must end first
  Labels labels_;
  std::optional<Statement> statement_;
  std::int64_t most_rows_ = kFirstRows;
  bool interruptible_ = false;
};

SetScan::SetScan(DatabaseSet& set, SetQuery query)
    : set_(set), query_(std::move(query)), threads_(std::min(set.threads(), set.size())) {
  for (std::size_t i = 0; threads_ > 1 && i < threads_; ++i) {
    tasks_.emplace_back([this] { work(); }, [this] { stopped_ = true; });
  }
}

SetScan::~SetScan() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool SetScan::next() {
  ++row_;
  while (!batch_ || row_ >= batch_->rows.rows()) {
    batch_ = next_batch();
    row_ = 0;
    if (!batch_) return false;
  }
  return true;
}

void SetScan::check_cancelled() const {
  const std::atomic<bool>* flag = set_.cancelled();
  if (flag != nullptr && flag->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
}

void SetScan::handle(std::size_t member, const Error& failure) {
  if (!is_of_member(failure) || set_.label_columns().empty()) throw Error(failure);
  set_.leave_out(member, failure);
}

std::optional<SetScan::Batch> SetScan::next_batch() { return threads_ > 1 ? batch_read_ahead() : batch_read_here(); }

std::optional<SetScan::Batch> SetScan::batch_read_here() {
  while (current_ < set_.size()) {
    check_cancelled();
    std::optional<Batch> batch;
    const std::optional<Error> failure = catch_error([&] {
      if (!reader_) reader_ = std::make_unique<Reader>(set_, query_, current_);
      batch = reader_->next();
    });
    if (batch) return batch;
    reader_.reset();
    if (failure) handle(current_, *failure);
    ++current_;
  }
  return std::nullopt;
}

std::optional<SetScan::Batch> SetScan::batch_read_ahead() {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  std::unique_lock lock(mutex_);
  while (current_ < set_.size()) {
    check_cancelled();
    Stream& stream = streams_[current_];
    if (!stream.batches.empty()) {
      Batch batch = std::move(stream.batches.front());
      stream.batches.pop_front();
      changed_.notify_all();
      return batch;
    }
    if (stream.ended) {
      const std::optional<Error> failure = stream.failure;
      streams_.erase(current_++);
      changed_.notify_all();
      if (failure) handle(current_ - 1, *failure);
      continue;
    }
    changed_.wait_for(lock, kBetweenLooks);
  }
  return std::nullopt;
}

std::optional<std::size_t> SetScan::claim() {
  std::unique_lock lock(mutex_);
  const std::size_t ahead = kMembersAhead * threads_;
  changed_.wait(lock, [&] { return stopped_ || claimed_ == set_.size() || claimed_ < current_ + ahead; });
  if (stopped_ || claimed_ == set_.size()) return std::nullopt;
  return claimed_++;
}

bool SetScan::push(std::size_t member, Batch batch) {
  std::unique_lock lock(mutex_);
  Stream& stream = streams_[member];
  changed_.wait(lock, [&] { return stopped_ || stream.batches.size() < kBatchesAhead; });
  if (stopped_) return false;
  stream.batches.push_back(std::move(batch));
  if (member == current_) changed_.notify_all();
  return true;
}

void SetScan::end(std::size_t member, std::optional<Error> failure) {
  const std::lock_guard lock(mutex_);
  Stream& stream = streams_[member];
  stream.ended = true;
  stream.failure = std::move(failure);
  changed_.notify_all();
}

void SetScan::read(std::size_t member) {
  Reader reader(set_, query_, member);
  reader.interrupt_on(stopped_);
  while (auto batch = reader.next()) {
    if (!push(member, std::move(*batch))) return;
  }
}

void SetScan::work() {
  while (const auto member = claim()) end(*member, catch_error([&] { read(*member); }));
}

const PassedComparison* find_comparison(unsigned char code) {
  const auto* const found = std::ranges::find(kComparisons, code, &PassedComparison::code);
  return found == kComparisons.end() ? nullptr : found;
}

MemberQuery make_query(const SetSource& source, const SetTable& table, const char* plan, sqlite3_value** values) {
  return QueryMaker(source, table, plan, values).take();
}

void pass_conditions(const Database& database, bool passes) {
  for (SetSource* const source : database.sources<SetSource>()) source->passes_conditions = passes;
}

bool has_sets(const Database& database) { return !database.sources<SetSource>().empty(); }

}  // namespace tracedb
