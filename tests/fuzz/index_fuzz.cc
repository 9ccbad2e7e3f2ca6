// Hostile indexes: a good one with bytes changed or cut off, one with SQL run over it first, or any bytes at all.
// Opening, checking and asking it ends with an answer or an Error, never otherwise.
#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "fuzz_input.h"
#include "index/index.h"
#include "index/validity.h"
#include "index/verify.h"
#include "ingest/ingest.h"
#include "passes/tables/pass_tables.h"
#include "report/renderers.h"
#include "report/sql_report.h"
#include "sql/safety.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::string_view kTrace = R"json({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU"}],"traceEvents":[
{"ph":"X","cat":"python_function","name":"main.py(1): run","pid":1,"tid":2,"ts":1,"dur":90,"args":{"Python id":1,"Python parent id":null}},
{"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":1,"tid":2,"ts":2,"dur":80,"args":{"Python id":2,"Python parent id":1}},
{"ph":"X","cat":"user_annotation","name":"step[DECODE bs=4]","pid":1,"tid":2,"ts":2,"dur":70,"args":{"External id":3}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":3,"dur":50,"args":{"External id":4,"Input Dims":[[2,3]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":4,"dur":5,"args":{"correlation":7,"External id":4}},
{"ph":"X","cat":"kernel","name":"void gemm<float>(int)","pid":0,"tid":7,"ts":20,"dur":9.5,"args":{"stream":7,"device":0,"correlation":7,"grid":[1,2,3],"block":[4,5,6]}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":40,"dur":2,"args":{"stream":7,"device":0,"bytes":64}},
{"ph":"C","name":"memory","pid":1,"tid":2,"ts":5,"args":{"used":1.5}},
{"ph":"i","name":"mark","pid":1,"tid":2,"ts":6,"s":"t"},{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}},7]})json";

constexpr int kMostSteps = 300;  // progress callbacks, each after 1000 operations

int count_down(void* steps) { return --*static_cast<int*>(steps) < 0 ? 1 : 0; }

// A statement that never ends is not ours to end: callers bound it, as here.
class StepLimit {
 public:
  explicit StepLimit(sqlite3* handle) : handle_(handle) { sqlite3_progress_handler(handle, 1000, count_down, &steps_); }
  ~StepLimit() { sqlite3_progress_handler(handle_, 0, nullptr, nullptr); }
  StepLimit(const StepLimit&) = delete;
  StepLimit& operator=(const StepLimit&) = delete;

 private:
  sqlite3* handle_;
  int steps_ = kMostSteps;
};

const std::string& good_index() {
  static const std::string kContent = [] {
    const TempDirectory folder;
    IngestOptions options;
    options.threads = 1;
    options.events.arguments = EventArguments::kKeep;
    ingest_trace(folder.write("trace.json", kTrace), folder / "index", options);
    return bytes_of(folder / "index");
  }();
  return kContent;
}

// Pieces of the good index overwritten, copied elsewhere, or its end cut off.
std::string patched_index(FuzzInput& input) {
  std::string content = good_index();
  while (!input.empty()) {
    const std::uint8_t what = input.byte();
    // Half of the patches go to the first page, with the header and the schema.
    const std::size_t at = (what & 1U) != 0 ? input.number(2) % 4096 : input.number(3) % content.size();
    if (at >= content.size()) break;
    switch (what / 2 % 4) {
      case 0:
        content[at] = static_cast<char>(input.byte());
        break;
      case 1: {
        const std::string_view bytes = input.take(input.byte() % 16U);
        content.replace(at, std::min(bytes.size(), content.size() - at), bytes);
        break;
      }
      case 2: {
        const std::size_t from = input.number(3) % content.size();
        const std::size_t size = std::min<std::size_t>(input.number(2), content.size() - std::max(at, from));
        std::memmove(content.data() + at, content.data() + from, size);
        break;
      }
      default:
        content.resize(std::max<std::size_t>(1, at));
    }
  }
  return content;
}

int no_other_files(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

// What somebody who means harm could make of an index with any SQLite program.
void run_sql(const std::filesystem::path& index, const std::string& sql) {
  sqlite3* handle = nullptr;
  if (sqlite3_open_v2(index.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK) {
    const StepLimit limit(handle);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_set_authorizer(handle, no_other_files, nullptr);
    sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close_v2(handle);
}

template <class Question>
void ask(const Index& index, Question question) {
  const StepLimit limit(index.database().handle());
  try {
    question();
  } catch (const Error&) {  // an answer too
  }
}

void print(const Report& report, std::string_view format) {
  std::ostringstream out;
  render(report, {"fuzz", {"index"}}, {}, *find_renderer(format)->make(out, {}));
}

void query(const Index& index, const std::filesystem::path& trace) {
  ask(index, [&] { check_validity(index, source_of(index), Effort::kQuick); });
  ask(index, [&] { check_validity(index, trace, Effort::kQuick); });
  ask(index, [&] { verify(index, trace); });
  ask(index, [&] { print(run_report(index.database(), report_script("info"), {}), "json"); });
  const ActiveRules rules;
  const PassOptions options;
  Workload workload(index, rules);
  ask(index, [&] { add_pass_tables(workload, options); });
  ask(index, [&] { print(run_report(index.database(), report_script("issues"), {}), "markdown"); });
  ask(index, [&] { print(run_report(index.database(), report_script("memcpys"), {}), "csv"); });
  ask(index, [&] {
    Report report = run_report(index.database(), report_script("kernels"), {});
    sort_rows(report, parse_sort_key("name:asc"));
    limit_rows(report, 2);
    print(report, "table");
  });
  ask(index, [&] {
    WorkloadOptions decode;
    decode.selection.phases = {"decode"};
    Workload selected(index, rules, decode);
    add_pass_tables(selected, options);
    print(run_report(index.database(), report_script("phases"), {}), "tsv");
  });
  ask(index, [&] {
    const SqlGuard guard(index.database(), {.value_bytes = 1 << 20});
    const StepLimit limit(index.database().handle());  // in place of the guard's clock
    Statement statement(index.database(),
                        "SELECT * FROM kernels, python_call c, python_calls_at(c.thread_id, c.ts) LIMIT 20");
    Cell cell;
    while (statement.step()) {
      for (int i = 0; i < statement.column_count(); ++i) read_cell(statement, i, cell);
    }
  });
}

void check_index(FuzzInput input) {
  const TempDirectory folder;
  const std::filesystem::path path = folder / "trace.json.tracedb";
  const std::filesystem::path trace = folder.write("trace.json", kTrace);
  const std::uint8_t mode = input.byte() % 4U;
  sqlite3_hard_heap_limit64(std::int64_t{256} << 20U);
  if (mode == 0) {
    write_anew(path, input.rest());
  } else if (mode == 1) {
    write_anew(path, good_index());
    run_sql(path, std::string(input.rest()));
  } else {
    write_anew(path, patched_index(input));
  }
  try {
    const Index index = Index::open(path);
    query(index, trace);
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
  }
  sqlite3_hard_heap_limit64(0);
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_index(tracedb::FuzzInput(data, size));
  return 0;
}
