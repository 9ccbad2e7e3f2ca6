#include "passes/classify/kernel_classes.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {

TEST_CASE("the names of an index have classes, under any rules") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "small.tracedb");
  const KernelClasses classes(index, load_rules("default"));
  CHECK(classes.end() == 3);
  CHECK(classes.class_of(1) == "dense_gemm");
  CHECK(classes.of(1).rule == "gemm.any");
  CHECK(classes.of(1).label.empty());
  CHECK(classes.class_of(2) == "communication");
  CHECK(classes.of(2).rule == "comm.library");
  CHECK(classes.traits()[1] == traits_of_class("dense_gemm"));

  const KernelClasses wafer(index, load_rules("wafer"));
  CHECK(wafer.class_of(1) == "Other");
  CHECK(wafer.of(1).label == "gemm<float>");
  CHECK(wafer.of(2).label == "ncclAllReduce");
}

TEST_CASE("ids that no name has are of no known class") {
  const TempDirectory folder;
  const KernelClasses classes(open_small_index(folder / "small.tracedb"), load_rules("default"));
  for (const std::uint32_t id : {0U, 3U, UINT32_MAX}) {
    CHECK_FALSE(classes.of(id).known);
    CHECK(classes.class_of(id) == "other");
    CHECK(traits_of(classes.traits(), id) == kOtherTrait);
  }
  const KernelClasses none(open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty),
                           load_rules("default"));
  CHECK(none.end() == 1);
}

TEST_CASE("rules are read when they are asked for") {
  const ActiveRules missing("no such rules");
  CHECK(missing.name() == "no such rules");
  CHECK_THROWS_AS((void)missing.get(), Error);
  CHECK(ActiveRules().get().name == "default");
}

}  // namespace tracedb
