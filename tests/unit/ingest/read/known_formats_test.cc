#include "ingest/read/known_formats.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

#include "support/temp_directory.h"

namespace tracedb {
namespace {

using namespace std::string_literals;

std::string name_of(const std::string& head, const std::string& file = "file.bin") {
  const KnownFormat* format = known_format(head, file);
  return format == nullptr ? "none" : std::string(format->name);
}

std::string tar_of(const std::string& name) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  return block.replace(257, 5, "ustar");
}

}  // namespace

TEST_CASE("formats are told by how they begin") {
  const std::string sqlite = "SQLite format 3\0"s + std::string(84, '\0');
  const struct {
    std::string head, word;
  } cases[] = {
      {sqlite + "CREATE TABLE \"rocpd_op\"", "RPD"},
      {sqlite + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL", "Nsight Systems SQLite"},
      {sqlite + "CREATE TABLE CANN_API", "Ascend"},
      {sqlite, "SQLite database"},
      {"{\"rocprofiler-sdk-tool\":[{", "rocprofv3"},
      {" {\n \"rocprofiler-sdk-tool\" : [{", "rocprofv3"},
      {"[\n {\n \"file\": \"a.json\",\n \"batch_size\": 32}]", "captured graphs"},
      {"PK\x03\x04", "zip"},
      {"\xFD"s + "7zXZ\0"s, "xz"},
      {"BZh91AY&SY", "bzip2"},
      {"\x04\x22\x4D\x18", "lz4"},
      {tar_of("trace.json"), "tar"},
      {"\x1f\x8b\x08", "compressed twice"},
      {"\x0a\x20\x08\x01\x12", "Perfetto"},
      {"\x80\x04\x95", "pickle"},
      {"version https://git-lfs.github.com/spec/v1\n", "git-lfs"},
      {"\n <!DOCTYPE html>", "HTML"},
      {"Step Id,Device_id,Name,Duration(us)\n", "CSV"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.word);
    CHECK(name_of(c.head).find(c.word) != std::string::npos);
  }
  CHECK(name_of("whatever", "run.nsys-rep").find("Nsight Systems report") != std::string::npos);
  CHECK(name_of("\x0a\x10", "host.xplane.pb").find("XSpace") != std::string::npos);
}

TEST_CASE("traces and plain text are none of them") {
  for (const char* head :
       {"{\"schemaVersion\": 1, \"traceEvents\": [", "[{\"ph\": \"X\", \"name\": \"Duration,a,b,c\"", "",
        "\n\n{\"traceEvents\":", "this is no trace", "[{\"file\": 1, \"ph\": \"X\"}]", "{}", "42"}) {
    CAPTURE(head);
    CHECK(name_of(head) == "none");
  }
}

TEST_CASE("a damaged beginning may look like another format, which is not certain then") {
  for (const std::string& head :
       {"\n\x01{\"traceEvents\":"s, "<\"schemaVersion\": 1"s, "a,\"b\",Kernel,1,2"s, "\x80\x04"s + "x"}) {
    const KnownFormat* format = known_format(head, "trace.json");
    REQUIRE(format != nullptr);
    CHECK_FALSE(format->certain);
  }
}

TEST_CASE("every format has a name and advice, each once") {
  std::set<std::string_view> names;
  for (const KnownFormat& format : known_formats()) {
    CHECK(names.insert(format.name).second);
    CHECK_FALSE(format.advice.empty());
    CHECK(format.name.find('\n') == std::string_view::npos);
  }
}

TEST_CASE("recordings are found by content, reports are none") {
  const TempDirectory folder;
  const auto holds = [&](const std::string& content) {
    std::ofstream(folder / "file", std::ios::binary) << content;
    return recording_in(folder / "file");
  };
  CHECK(holds("{\"traceEvents\": []}") == "a trace");
  CHECK(holds("{\"deviceProperties\": [") == "a trace");
  CHECK(holds("[{\"name\": \"a\", \"ph\": \"X\"}, {\"na") == "a trace");
  CHECK(holds("\n\x01{\"ph\": \"X\"}, {\"ph\": \"X\"}") == "a trace");
  CHECK(holds("kind,sample\nmalformed,{\"ph\": \"X\"}\n").empty());
  CHECK(holds("PK\x03\x04") == "a zip archive");
  CHECK(holds("{\"schema\": \"tracedb.kernels/1\", \"rows\": [{\"ph\": \"X\"}]}").empty());
  CHECK(holds("{\"path\":\"a.json\"}\n{\"path\":\"b.json\"}\n").empty());
  CHECK(holds("[1, 2]").empty());
  CHECK(holds("Name,Kernels,Total Duration,a,b\n").empty());
  CHECK(holds("").empty());
  CHECK(recording_in(folder / "absent").empty());
  CHECK(recording_in("/dev/null").empty());
}

}  // namespace tracedb
