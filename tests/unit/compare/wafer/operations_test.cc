#include "compare/wafer/operations.h"

#include <doctest/doctest.h>

#include "support/wafer_trace.h"

namespace tracedb::wafer {
namespace {

const Letters kOperationLetters = {{'a', {"a", "A"}},
                                   {'b', {"b", "A"}},
                                   {'c', {"c", "C"}},
                                   {'n', {"norm", "RMSNorm"}},
                                   {'f', {"fused", "RMSNorm+GEMM"}}};

Trace operation_letters(std::string_view kernels) { return lettered(kOperationLetters, kernels); }

std::string names_of(const std::vector<OperationRecord>& records) {
  std::string text;
  for (const OperationRecord& record : records) text += record.operation + ' ';
  return text;
}

}  // namespace

TEST_CASE("operations of both sides, by gap; averages decide the ratio and totals the status") {
  Trace first = operation_letters("abac");
  const Trace second = operation_letters("aac");
  first.kernels[3].dur = 6'000'003;
  const auto records = compare_operations(first, second, std::nullopt);
  REQUIRE(names_of(records) == "C A ");
  CHECK(records[0].status == Status::kSlower);
  CHECK(records[0].gap == 6'000'000);
  CHECK(records[0].ratio == doctest::Approx(2'000'001));
  CHECK(records[1].status == Status::kSimilar);
  CHECK(records[1].first.count == 3);
  CHECK(records[1].first.total == 6);
  CHECK(records[1].ratio == doctest::Approx(2 / 1.5));
  REQUIRE(records[1].first.kernels.size() == 2);
  CHECK(records[1].first.kernels[0].total == 4);  // a: 1 + 3, b: 2
  CHECK(compare_operations(second, first, std::nullopt)[0].status == Status::kFaster);
}

TEST_CASE("the status begins beyond 5 ms, and a second side of no time has ratio 1") {
  Trace first = operation_letters("c");
  Trace second = operation_letters("c");
  second.kernels[0].dur = 0;
  first.kernels[0].dur = 5'000'000;
  CHECK(compare_operations(first, second, std::nullopt)[0].status == Status::kSimilar);
  CHECK(compare_operations(first, second, std::nullopt)[0].ratio == 1);
  first.kernels[0].dur = 5'000'001;
  CHECK(compare_operations(first, second, std::nullopt)[0].status == Status::kSlower);
}

TEST_CASE("RMSNorm of one side stands against RMSNorm+GEMM of the other, twice, and not the other way round") {
  const auto records = compare_operations(operation_letters("f"), operation_letters("n"), std::nullopt);
  CHECK(names_of(records) == "RMSNorm RMSNorm+GEMM ");
  CHECK(compare_operations(operation_letters("n"), operation_letters("f"), std::nullopt).empty());
  CHECK(names_of(compare_operations(operation_letters("nf"), operation_letters("n"), std::nullopt)) ==
        "RMSNorm+GEMM RMSNorm ");
}

TEST_CASE("the filter by phase leaves the pattern alone") {
  Trace first = operation_letters("ab");
  Trace second = operation_letters("aa");
  first.kernels[1].phase = second.kernels[0].phase = Phase::kPrefill;
  const auto records = compare_operations(first, second, Phase::kPrefill);
  REQUIRE(names_of(records) == "A ");
  CHECK(records[0].first.count == 1);
  CHECK(records[0].first.prefill);
  CHECK_FALSE(records[0].first.decode);
  CHECK(records[0].first.pattern == "a");  // of decode, though only b is in prefill
  CHECK(compare_operations(operation_letters("a"), operation_letters("a"), Phase::kPrefill).empty());
}

TEST_CASE("the operator is the one of most kernels, the first by alphabet of several") {
  Trace trace = operation_letters("aabbc");
  trace.names[0].cpu_op = "aten::mm";
  trace.names[1].cpu_op = "aten::bmm";
  const auto records = compare_operations(trace, operation_letters("ac"), std::nullopt);
  REQUIRE(names_of(records) == "A C ");
  CHECK(records[0].first.cpu_op == "aten::bmm");
  CHECK(records[1].first.cpu_op.empty());
}

TEST_CASE("no operations of empty sides") {
  CHECK(compare_operations({}, {}, std::nullopt).empty());
  CHECK(compare_operations(operation_letters("a"), {}, std::nullopt).empty());
  CHECK(compare_operations(operation_letters(""), operation_letters("a"), std::nullopt).empty());
}

}  // namespace tracedb::wafer
