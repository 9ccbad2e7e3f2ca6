// The schema scripts: views answer on full and empty indexes, comments are where `schema` looks for them, examples run.
#include <doctest/doctest.h>

#include "sql/user/schema_text.h"
#include "support/small_index.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

struct SchemaFixture {
  Database database{":memory:", Database::Mode::kMemory};
  explicit SchemaFixture(SmallIndexContent content = SmallIndexContent::kRows) { fill_small_index(database, content); }
};

}  // namespace

TEST_CASE("views give names for ids") {
  SchemaFixture f;
  const auto text = [&](const char* sql) { return f.database.query_text(sql).value_or("NULL"); };
  CHECK(text("SELECT cpu_op || ' ' || module || ' ' || phase || ' ' || stream FROM kernels WHERE id = 1") ==
        "aten::linear Linear_0 prefill 7");
  CHECK(text("SELECT coalesce(module, 'none') FROM kernels WHERE id = 2") == "none");
  CHECK(text("SELECT path FROM stacks WHERE id = 3") == "main.py(1): main;nn.Module: Linear_0;linear.py(7): forward");
  CHECK(text("SELECT launch_delay || ' ' || queue_delay || ' ' || end_to_end FROM launches") == "50 50 80");
  CHECK(text("SELECT gb_per_s FROM memcpys") == "2.0");
  CHECK(text("SELECT kernels || ' ' || kernel_time || ' ' || gpu_ts || ' ' || gpu_ts_end FROM steps") ==
        "2 400 100 450");
  CHECK(text("SELECT timed_on FROM steps") == "cpu");
  f.database.execute("UPDATE annotation SET kind = 'gpu', stream_id = 1, thread_id = NULL");
  CHECK(text("SELECT timed_on FROM steps") == "gpu");
  CHECK(text("SELECT group_concat(ts || '-' || ts_end, ' ') FROM gaps") == "450-460 500-600");
  CHECK(text("SELECT group_concat(kernel_id) FROM collectives") == "2");
  CHECK(text("SELECT value FROM trace_info WHERE key = 'rows.kernel'") == "3");
  CHECK(text("SELECT total FROM kernel_stats WHERE short_name = 'gemm'") == "150");
  CHECK(text("SELECT count(*) FROM python_calls WHERE tid = 78") == "3");
}

TEST_CASE("no sum of a view overflows") {
  SchemaFixture f;
  f.database.execute(
      "UPDATE kernel SET dur = 9223372036854775807; UPDATE kernel_name_sum SET total = 9223372036854775807");
  CHECK(f.database.query_text("SELECT kernel_time FROM steps") == "9223372036854775807");
  CHECK(f.database.query_text("SELECT time_pct FROM kernel_stats") == "50.0");
  f.database.execute("UPDATE kernel SET dur = 3000000000000000000");
  CHECK(f.database.query_text("SELECT kernel_time FROM steps") == "6000000000000000000");
}

TEST_CASE("every example has a comment and runs, on an empty index too") {
  const auto examples = example_queries(script("examples"));
  CHECK(examples.size() >= 10);
  for (const auto content : {SmallIndexContent::kRows, SmallIndexContent::kEmpty}) {
    SchemaFixture f(content);
    for (const ExampleQuery& example : examples) {
      CAPTURE(example.sql);
      CHECK_FALSE(example.comment.empty());
      Statement(f.database, example.sql).run();
    }
  }
}

TEST_CASE("the kinds of steps in the comments are those the grammar yields") {
  std::string kinds;
  for (int kind = 0; kind <= static_cast<int>(StepKind::kUnknown); ++kind) {
    kinds.append(kinds.empty() ? "" : ", ").append(to_string(static_cast<StepKind>(kind)));
  }
  CHECK(kinds == "prefill, decode, mixed, train, other, unknown");
  CHECK(schema_comments(script("core"))[{"step", "kind"}] == kinds);
  CHECK(schema_comments(script("views"))[{"steps", "phase"}] == kinds);
}

TEST_CASE("tables, views and their columns have comments") {
  SchemaComments comments = schema_comments(script("core"));
  comments.merge(schema_comments(script("views")));
  CHECK(comments[{"kernel", "correlation"}].find("unique only together") != std::string::npos);
  CHECK(comments[{"launch_config", "grid_y"}] == "blocks");
  CHECK(comments[{"kernels", "module"}].find("nn.Module") != std::string::npos);
  CHECK(comments[{"stacks", "path"}].find("outermost first") != std::string::npos);
  SchemaFixture f;
  Statement objects(f.database, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  while (objects.step()) {
    CAPTURE(objects.text(0));
    CHECK_FALSE(comments[{std::string(objects.text(0)), ""}].empty());
  }
  CHECK(usual_comment("launch_id") == "id in runtime_call");
}

}  // namespace tracedb
