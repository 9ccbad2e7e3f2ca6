#include "fleet/catalogue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/failure.h"
#include "base/files/file_lock.h"
#include "base/files/input_file.h"
#include "base/files/partial_file.h"
#include "base/files/small_file.h"
#include "base/lookup.h"
#include "base/stream/content_hash.h"
#include "base/text/amounts.h"
#include "base/text/decimal.h"
#include "base/unknown.h"
#include "base/version.h"
#include "index/locate.h"
#include "index/validity.h"
#include "passes/layers/model_names.h"
#include "passes/select/workload.h"
#include "passes/tables/pass_tables.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

// As check_validity(), but for a trace whose size and times are those stored the index is not opened.
CatalogueState state_of(const std::filesystem::path& index, const std::filesystem::path& trace,
                        const TraceSummary& summary) {
  const auto now = trace.empty() ? std::nullopt : FileIdentity::behind_links(trace);
  if (!now) return CatalogueState::kNoTrace;
  const bool same = summary.source_bytes == static_cast<std::int64_t>(now->bytes) &&
                    summary.source_modified_ns == now->modified_ns &&
                    summary.source_inode == static_cast<std::int64_t>(now->inode);
  if (same) return CatalogueState::kIndexed;
  const ValidityResult result = check_validity(Index::open(index), trace, Effort::kReadOnly);
  return result.validity == Validity::kStale ? CatalogueState::kOutOfDate : CatalogueState::kIndexed;
}

std::optional<std::string> model_of(Workload& workload) {
  if (auto named = model_name(workload.index())) return named;
  const ModelFacts facts = model_facts(workload.index(), workload.classes().traits());
  if (facts.architecture == Architecture::kUnknown && !facts.diffusion) return std::nullopt;
  return architecture_text(facts);
}

std::vector<PhaseSummary> phases_of(Workload& workload) {
  add_pass_table(workload, "phases");
  std::vector<PhaseSummary> out;
  Statement rows(workload.index().database(),
                 "SELECT phase, steps, total_time, CAST(round(period) AS INTEGER), CAST(round(gpu_span) AS INTEGER), "
                 "period_on IS 'host' FROM temp.phases WHERE steps > 0 ORDER BY total_time DESC, phase");
  while (rows.step()) {
    out.push_back({std::string(rows.text(0)), rows.int64(1), rows.int64(2), rows.integer(3), rows.integer(4),
                   rows.int64(5) == 1});
  }
  return out;
}

std::optional<std::int64_t> world_size_of(Database& database) {
  Statement size(
      database,
      "SELECT json_extract(value, '$.world_size') FROM meta WHERE key = 'trace.distributedInfo' AND json_valid(value)");
  return size.step() ? size.integer(0) : std::nullopt;
}

constexpr std::int64_t kRest = 2'000'000'000;  // ns
constexpr std::size_t kManyEntries = 20'000;   // those of files that are gone are left out from then on
constexpr std::size_t kMostEntries = 200'000;  // more are begun anew
constexpr std::size_t kHashDigits = 32;
constexpr std::size_t kFields = 18;  // and six for each phase

std::string heading() { return fmt::format("tracedb summaries 5 {}\n", kVersion); }

// Fields are separated by tabs, entries by line feeds.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '\t' || c == '\n') out += '\\';
    out += c == '\t' ? 't' : c == '\n' ? 'n' : c;
  }
  return out;
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      out.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      out.back() += line[i] == 't' ? '\t' : line[i] == 'n' ? '\n' : line[i];
    } else {
      out.back() += line[i];
    }
  }
  return out;
}

std::string field(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : ""; }
// A text that is there begins with "=".
std::string field(const std::optional<std::string>& value) { return value ? "=" + escaped(*value) : ""; }

std::optional<std::string> text_of(const std::string& field) {
  if (field.empty()) return std::nullopt;
  return field.substr(1);
}

std::string key_of(const FileIdentity& file) {
  return fmt::format("{}:{}:{}:{}:{}", file.device, file.inode, file.bytes, file.modified_ns, file.changed_ns);
}

// In the order in which they are stored.
template <class Summary, class Visit>
void visit_fields(Summary& one, Visit visit) {
  visit(one.source_bytes, one.source_modified_ns, one.source_inode, one.format, one.vendor, one.gpu, one.rank,
        one.world_size, one.kernels, one.kernel_time, one.date_ns, one.complete);
}
template <class Phase, class Visit>
void visit_phase_fields(Phase& phase, Visit visit) {
  visit(phase.steps, phase.kernel_time, phase.period, phase.span, phase.on_host);
}

// What takes passes to find.
std::string found_text(const TraceSummary& one) {
  std::string out = fmt::format("{}\t{}\t{}", field(one.framework), field(one.model), one.phases.size());
  for (const PhaseSummary& phase : one.phases) {
    out += '\t' + escaped(phase.phase);
    visit_phase_fields(phase, [&](const auto&... values) { ((out += '\t' + field(values)), ...); });
  }
  return out;
}

std::string line_of(const std::string& path, const std::string& key, const TraceSummary& one) {
  std::string out = escaped(path) + '\t' + key + '\t' + escaped(one.source);
  visit_fields(one, [&](const auto&... values) { ((out += '\t' + field(values)), ...); });
  return out + '\t' + found_text(one) + '\n';
}

void take(const std::string& field, std::optional<std::string>& value) { value = text_of(field); }
void take(const std::string& field, std::optional<std::int64_t>& value) { value = parse_int64(field); }
void take(const std::string& field, std::int64_t& value) { value = parse_int64(field).value_or(0); }
void take(const std::string& field, bool& value) { value = parse_int64(field) == 1; }

// As found_text() has it, from field `at` on.
void take_found(const std::vector<std::string>& fields, std::size_t at, TraceSummary& out) {
  const auto take_next = [&](auto&... values) { (take(fields[at++], values), ...); };
  take_next(out.framework, out.model);
  for (++at; at + 6 <= fields.size();) {
    PhaseSummary& phase = out.phases.emplace_back();
    phase.phase = fields[at++];
    visit_phase_fields(phase, take_next);
  }
}

TraceSummary summary_of(const std::vector<std::string>& fields) {
  TraceSummary out;
  out.source = fields[2];
  std::size_t at = 3;
  visit_fields(out, [&](auto&... values) { (take(fields[at++], values), ...); });
  take_found(fields, at, out);
  return out;
}

// What was found by other rules, or by another version, counts for nothing.
std::string mark_of_rules() {
  return to_hex(hash_bytes(fmt::format("{}{} {}", heading(), built_in_rules_hash(), step_rules_hash())));
}

bool take_stored(const Index& index, TraceSummary& out) {
  constexpr std::size_t kLeastFields = 4;
  static const std::string kMark = mark_of_rules();
  const std::vector<std::string> fields = split(index.meta("summary").value_or(""));
  if (fields.size() < kLeastFields || fields[0] != kMark) return false;
  take_found(fields, 1, out);
  return true;
}

void find_by_passes(const Index& index, const ActiveRules& rules, TraceSummary& out) {
  Workload workload(index, rules);
  out.framework = framework_name(index);
  if (out.kernels > 0) out.model = model_of(workload);
  out.phases = phases_of(workload);
}

std::string full_name(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error);
  return (error ? path : full).lexically_normal().string();
}

}  // namespace

std::string_view to_string(CatalogueState state) {
  constexpr std::string_view kNames[] = {"indexed", "no trace", "out of date", "not indexed", "unusable"};
  return kNames[static_cast<std::size_t>(state)];
}

std::filesystem::path index_of_trace(const std::filesystem::path& trace, const std::filesystem::path& cache) {
  for (const std::filesystem::path& candidate : index_candidates(trace, cache)) {
    if (file_kind(candidate) != FileKind::kIndex) continue;
    bool own = candidate == sidecar_path(trace);
    if (!own)
      catch_error(
          [&] { own = check_validity(Index::open(candidate), trace, Effort::kReadOnly).validity != Validity::kStale; });
    if (own) return candidate;
  }
  return {};
}

CatalogueEntry catalogue_index(const std::filesystem::path& index, SummaryCache& cache, const ActiveRules& rules) {
  CatalogueEntry out;
  out.index = index;
  const auto failure = catch_error([&] {
    const auto identity = FileIdentity::behind_links(index);
    if (identity) out.bytes = identity->bytes;
    const TraceSummary* known = identity ? cache.find(index, *identity) : nullptr;
    if (known != nullptr) {
      out.summary = *known;
    } else {
      out.summary = summarise(Index::open(index), rules);
      if (identity) cache.add(index, *identity, out.summary);
    }
    out.trace = trace_beside(index).value_or(out.summary.source);
    out.state = state_of(index, out.trace, out.summary);
  });
  if (!failure) return out;
  if (failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
  out.state = CatalogueState::kUnusable;
  // Another program's database may not be replaced by an index of the trace.
  if (file_kind(index) != FileKind::kOtherSqlite) out.trace = trace_beside(index).value_or("");
  out.reason = failure->what();
  return out;
}

CatalogueEntry catalogue_trace(const std::filesystem::path& trace) {
  CatalogueEntry out;
  out.trace = trace;
  const auto identity = FileIdentity::behind_links(trace);
  if (identity) out.bytes = identity->bytes;
  return out;
}

CatalogueEntry catalogue_unreadable(const std::filesystem::path& folder, const std::string& why) {
  return {{}, folder, CatalogueState::kUnusable, {}, fmt::format("{}: {}", printable_path(folder), why)};
}

std::int64_t TraceSummary::steps() const {
  return std::accumulate(phases.begin(), phases.end(), std::int64_t{0},
                         [](std::int64_t sum, const PhaseSummary& phase) { return saturating_add(sum, phase.steps); });
}

TraceSummary summarise(const Index& index, const ActiveRules& rules) {
  TraceSummary out;
  Database& database = index.database();
  out.source = source_of(index).string();
  if (out.source.empty()) out.source = index.meta("source_path").value_or("");
  out.source_bytes = index.meta_int64("source_size");
  out.source_modified_ns = index.meta_int64("source_mtime_ns");
  out.source_inode = index.meta_int64("source_inode");
  out.format = index.meta("format");
  out.vendor = index.meta("vendor");
  out.gpu = database.query_text("SELECT name FROM device WHERE name IS NOT NULL ORDER BY used DESC, id LIMIT 1");
  out.rank = index.meta_int64("rank");
  out.world_size = world_size_of(database);
  out.kernels = index.meta_int64("kernels").value_or(0);
  out.kernel_time = index.meta_int64("kernel_ns").value_or(0);
  const auto date = index.meta_int64("base_time_ns");
  if (date && *date >= kFirstDate) out.date_ns = date;
  out.complete = index.complete();
  if (!take_stored(index, out)) find_by_passes(index, rules, out);
  return out;
}

std::string stored_summary(const std::filesystem::path& index) {
  std::string text;
  const auto find = [&] {
    const Index opened = Index::open(index);
    TraceSummary summary;
    summary.kernels = opened.meta_int64("kernels").value_or(0);
    find_by_passes(opened, ActiveRules(), summary);
    text = fmt::format("{}\t{}", mark_of_rules(), found_text(summary));
  };
  const auto failure = catch_error(find);
  if (!failure) return text;
  // What the passes refuse in a trace they refuse again: otherwise the file was not read as it is.
  const auto again = catch_error(find);
  const bool refused =
      again && failure->code() == ErrorCode::kInput && std::string_view(again->what()) == failure->what();
  if (!refused) throw Error(ErrorCode::kResource, failure->what());
  return "";
}

SummaryCache::SummaryCache(std::filesystem::path directory) : directory_(std::move(directory)) {
  if (directory_.empty()) return;
  file_ = directory_ / "summaries";
  entries_ = read();
}

const TraceSummary* SummaryCache::find(const std::filesystem::path& index, const FileIdentity& identity) const {
  const auto* found = find_in(entries_, full_name(index));
  return found == nullptr || found->key != key_of(identity) ? nullptr : &found->summary;
}

void SummaryCache::add(const std::filesystem::path& index, const FileIdentity& identity, TraceSummary summary) {
  if (now_ns() - identity.changed_ns < kRest) return;
  added_.insert_or_assign(full_name(index), Entry{key_of(identity), std::move(summary)});
}

SummaryCache::Entries SummaryCache::read() const {
  Entries out;
  std::string content;
  const auto failure = catch_error([&] { content = read_small_file(file_); });
  const std::string head = heading();
  if (failure || content.size() < head.size() + kHashDigits || !content.starts_with(head)) return out;
  const std::string_view body(content.data(), content.size() - kHashDigits);
  if (content.substr(body.size()) != to_hex(hash_bytes(body))) return out;
  for (std::size_t at = head.size(); at < body.size();) {
    const std::size_t end = body.find('\n', at);
    if (end == std::string_view::npos) break;
    const std::vector<std::string> fields = split(body.substr(at, end - at));
    at = end + 1;
    if (fields.size() < kFields) continue;
    out.insert_or_assign(fields[0], Entry{fields[1], summary_of(fields)});
  }
  return out;
}

void SummaryCache::write(const Entries& entries) const {
  std::string content = heading();
  for (const auto& [path, entry] : entries) content += line_of(path, entry.key, entry.summary);
  content += to_hex(hash_bytes(content));
  PartialFile file(file_);
  std::ofstream out(file.path(), std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (out) file.publish(std::nullopt);
}

void SummaryCache::save() {
  if (added_.empty() || file_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  mark_as_cache(directory_);
  const auto lock = FileLock::try_acquire(directory_ / "summaries.lock", error);
  if (!lock) return;  // somebody else writes, or nobody can: they are made again when asked for
  Entries all = read();
  if (all.size() > kManyEntries) {
    std::erase_if(all, [&](const auto& entry) { return !std::filesystem::exists(entry.first, error); });
  }
  if (all.size() + added_.size() > kMostEntries) all.clear();
  for (auto& [path, entry] : added_) all.insert_or_assign(path, entry);
  catch_error([&] { write(all); });
  added_.clear();
}

}  // namespace tracedb
