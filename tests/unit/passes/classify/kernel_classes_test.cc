#include "passes/classify/kernel_classes.h"

#include <doctest/doctest.h>

#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {

TEST_CASE("the names of an index get a table of classes, made anew each time") {
  const TempDirectory folder;
  write_small_index(folder.path() / "small.tracedb");
  const Index index = Index::open(folder.path() / "small.tracedb");
  Classifier classifier(load_rules("default"), platform_of(index));
  const std::vector<KernelNameClass> rows = classify_kernel_names(index, classifier);
  REQUIRE(rows.size() == 2);
  CHECK(classifier.class_name(rows[0].classification.class_id) == "dense_gemm");
  CHECK(classifier.class_name(rows[1].classification.class_id) == "communication");

  make_kernel_class_table(index, classifier);
  CHECK(index.database().query_text("SELECT group_concat(name_id || ' ' || class || ' ' || rule) FROM kernel_class") ==
        "1 dense_gemm gemm.any,2 communication comm.library");
  Classifier wafer(load_rules("wafer"), platform_of(index));
  make_kernel_class_table(index, wafer);
  CHECK(index.database().query_text("SELECT group_concat(class || ' ' || pattern) FROM kernel_class") ==
        "Other gemm<float>,Other ncclAllReduce");
  CHECK_THROWS(index.database().execute("CREATE TEMP TABLE more (x)"));  // still closed to others
}

TEST_CASE("an index without kernels has no classes") {
  const TempDirectory folder;
  write_small_index(folder.path() / "empty.tracedb", SmallIndexContent::kEmpty);
  const Index index = Index::open(folder.path() / "empty.tracedb");
  Classifier classifier(load_rules("default"));
  CHECK(platform_of(index) == "unknown");
  make_kernel_class_table(index, classifier);
  CHECK(index.database().query_int64("SELECT count(*) FROM kernel_class") == 0);
}

}  // namespace tracedb
