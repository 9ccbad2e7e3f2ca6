#include "export/parquet/kernel_file.h"

#include <doctest/doctest.h>

#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {

TEST_CASE("path_word") {
  CHECK(path_word("llama-70b_v1.2") == "llama-70b_v1.2");
  CHECK(path_word("a/../b c'") == "a_.._b_c_");
  CHECK(path_word("") == "unknown");
  CHECK(path_word("..") == "unknown");
  CHECK(path_word(std::string(100, 'x')) == std::string(64, 'x'));
}

TEST_CASE("night_of") {
  const TempDirectory folder;
  const auto path = folder.path() / "x.tracedb";
  const auto begun = [&](const char* time) {
    write_small_index(path);
    Database(path, Database::Mode::kReadWrite)
        .execute(std::string("INSERT INTO meta VALUES ('base_time_ns', ") + time + ")");
    std::string night = night_of(Index::open(path));
    std::filesystem::remove(path);
    return night;
  };
  CHECK(begun("'1747353208648415000'") == "2025-05-15");
  CHECK(begun("'12345678'") == "unknown");
  CHECK(begun("NULL") == "unknown");
}

}  // namespace tracedb
