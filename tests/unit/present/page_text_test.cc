#include "present/page_text.h"

#include <doctest/doctest.h>

#include "present/side_names.h"

namespace tracedb {
namespace {

const Page kPage = {{BlockKind::kHeadline, "", "decode: H100 needs 18.9 ms a step where MI300X needs 45.1 ms."},
                    {BlockKind::kHeading, "", "Why"},
                    {BlockKind::kItem, "1.", "+1 us moe_gemm slower in 4 of 4 layers, by longer kernels"},
                    {BlockKind::kCommand, "", "trace-query compare $A $B --section kernels"}};

}  // namespace

TEST_CASE("a page as text") {
  CHECK(page_text(kPage, 42) ==
        "decode: H100 needs 18.9 ms a step where\nMI300X needs 45.1 ms.\n"
        "\nWhy\n"
        "  1. +1 us moe_gemm slower in 4 of 4\n     layers, by longer kernels\n"
        "  trace-query compare $A $B --section \\\n    kernels\n");
}

TEST_CASE("a page as Markdown") {
  CHECK(page_markdown(kPage) ==
        "## decode: H100 needs 18.9 ms a step where MI300X needs 45.1 ms.\n"
        "\n### Why\n\n"
        "1. +1 us moe\\_gemm slower in 4 of 4 layers, by longer kernels\n"
        "   ```\n   trace-query compare $A $B --section kernels\n   ```\n");
}

TEST_CASE("a long path is broken so that a shell joins it") {
  const std::string path = "A=/a/very/long/path/to/some/trace/of/a/server.json.gz";
  std::string text = page_text({{BlockKind::kCommand, "", path}}, 40);
  CHECK(text.find('\\') <= 40);
  for (std::size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n")) text.erase(at, 2);
  CHECK(text == "  " + path + "\n");
}

TEST_CASE("words of a shell") {
  CHECK(shell_word("/a/b-1.json.gz") == "/a/b-1.json.gz");
  CHECK(shell_word("my trace.json") == "'my trace.json'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("names of the sides") {
  const auto names = [](const char* a, const char* b, const char* first, const char* second) {
    const SideNames found = side_names(a, b, first, second);
    return found.baseline + ", " + found.candidate;
  };
  CHECK(names("AMD Instinct MI300X VF", "NVIDIA H100 80GB HBM3", "a.json", "b.json") == "MI300X, H100");
  CHECK(names("8 x NVIDIA B200", "8 x NVIDIA B300 SXM6 AC", "a", "b") == "B200, B300");
  CHECK(names("Tesla V100-SXM2-32GB", "NVIDIA A100-SXM4-40GB", "a", "b") == "V100, A100");
  // One device: what differs in the names of the files.
  CHECK(names("H100", "H100", "worker0.pt.trace.json", "worker1.pt.trace.json.gz") == "worker0, worker1");
  CHECK(names("H100", "H100", "run_monday_rank0.json", "run_tuesday_rank0.json") == "monday, tuesday");
  CHECK(names("H100", "H100", "a.json", "b.json") == "the baseline, the candidate");
  CHECK(names("", "", "same.json", "same.json") == "the baseline, the candidate");
  CHECK(names("", "", "server.json", "server_2.json") == "server, server_2");
}

}  // namespace tracedb
