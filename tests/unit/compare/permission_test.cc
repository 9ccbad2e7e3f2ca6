#include "compare/permission.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("permission: nothing is forbidden without a condition") {
  const Permission permission = permission_of({});
  for (const Claim claim : {Claim::kRatio, Claim::kVerdict, Claim::kKernels}) CHECK(permission.may(claim));
}

TEST_CASE("permission: other work outweighs another load, which is still compared") {
  const Permission both = permission_of({.other_work = true, .load_differs = true});
  CHECK(!both.may(Claim::kRatio));
  CHECK(both.why_not(Claim::kVerdict) == "other work");
  CHECK(both.may(Claim::kKernels));
  const Permission load = permission_of({.load_differs = true});
  CHECK(load.may(Claim::kRatio));
  CHECK(load.why_not(Claim::kVerdict) == "the load differs");
}

TEST_CASE("permission: names out of step forbid what rests on names alone") {
  const Permission permission = permission_of({.names_out_of_step = true});
  CHECK(permission.may(Claim::kRatio));
  CHECK(permission.may(Claim::kVerdict));
  CHECK(!permission.may(Claim::kKernels));
}

}  // namespace tracedb
