#include "sql/tables/set_scan.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
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

}  // namespace tracedb
