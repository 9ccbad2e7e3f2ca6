#include "ingest/formats.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

#include "base/error.h"
#include "ingest/output_guard.h"
#include "ingest/read/format_signs.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

using namespace std::string_literals;

std::string name_of(const std::string& head, const std::string& file = "file.bin") {
  return std::string(trace_format(head, file).name);
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
      {"\x0a\xe3\xdc\x07\x12\x0e/host:metadata\"", "XSpace"},
      {"\x0a\x20\x08\x01\x12\x0d/device:GPU:0\x1a", "XSpace"},
      {"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12", "pprof"},
      {"\x0a\x04\x08\x01\x10\x02\x12\x04\x0a\x01\x01", "pprof"},
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

TEST_CASE("what no other line knows is for the reader of JSON traces") {
  for (const char* head :
       {"{\"schemaVersion\": 1, \"traceEvents\": [", "[{\"ph\": \"X\", \"name\": \"Duration,a,b,c\"", "",
        "\n\n{\"traceEvents\":", "this is no trace", "[{\"file\": 1, \"ph\": \"X\"}]", "{}", "42"}) {
    CAPTURE(head);
    CHECK(name_of(head) == "kineto");
  }
}

TEST_CASE("a damaged beginning may look like another format, which is not certain then") {
  for (const std::string& head :
       {"\n\x01{\"traceEvents\":"s, "<\"schemaVersion\": 1"s, "a,\"b\",Kernel,1,2"s, "\x80\x04"s + "x"}) {
    const TraceFormat& format = trace_format(head, "trace.json");
    CHECK(format.name != "kineto");
    CHECK_FALSE(format.certain);
  }
}

TEST_CASE("every format has a name, each once, and a reader or advice") {
  std::set<std::string_view> names;
  for (const TraceFormat& format : trace_formats()) {
    CHECK(names.insert(format.name).second);
    const bool is_read = format.read != nullptr;
    CHECK(is_read == format.advice.empty());
    CHECK(format.name.find('\n') == std::string_view::npos);
  }
}

TEST_CASE("what is not read is refused in one line, unless there are events in it") {
  const TempDirectory folder;
  const auto refusal = [&](const std::string& content) -> std::string {
    std::ofstream(folder / "trace.json", std::ios::binary) << content;
    try {
      const OpenedFormat opened = open_format(folder / "trace.json", nullptr);
      const bool is_read = opened.format.read != nullptr;
      CHECK(is_read);
      return "reads: " + opened.otherwise;
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInput);
      return error.what();
    }
  };
  const std::string name = (folder / "trace.json").string();
  CHECK(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:0\n") ==
        name + ": a git-lfs pointer, not the file itself: run 'git lfs pull'");
  CHECK(refusal(std::string(5000, ' ') + "version https://git-lfs").find("git lfs pull") != std::string::npos);
  CHECK(refusal("<!DOCTYPE html>") == "reads: an HTML or XML page, not a trace: download the file itself");
  CHECK(refusal("{\"traceEvents\": []}") == "reads: ");
  CHECK(refusal("{\"rocprofiler-sdk-tool\":") == "reads: ");
  CHECK(refusal("") == "reads: ");
}

TEST_CASE("what was looked at is read again") {
  for (const std::size_t looked : {0U, 1U, 7U, 100U}) {
    PeekedSource source(memory_byte_source("0123456789"));
    CHECK(source.peek(looked) == std::string("0123456789").substr(0, looked));
    std::string all;
    char buffer[3];
    for (std::size_t got = 1; got > 0;) {
      got = source.read(buffer, sizeof buffer);
      all.append(buffer, got);
    }
    CHECK(all == "0123456789");
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
