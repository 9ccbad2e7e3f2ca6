// The same trace written with other white space is the same index.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/ingested.h"

namespace tracedb {
namespace {

enum class Around { kBefore, kBehind, kBoth };

// `json` with `space` before or behind every value, key and bracket that is not inside a string.
std::string spaced(std::string_view json, std::string_view space, Around around) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      out.append(json.substr(i++, 2));
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool separates = !in_string && std::string_view("[]{},:").find(c) != std::string_view::npos;
    if (separates && around != Around::kBefore) out += space;
    out += c;
    if (separates && around != Around::kBehind) out += space;
  }
  return out;
}

// Every argument that ingest looks at, with every kind of value that it may have.
std::string trace_of_all_arguments() {
  const std::string events =
      event("kernel", "first", kGpuStream, "10", "5",
            R"("grid":[256,1,2],"block":[256,5,6],"registers per thread":32,"shared memory":1024,"blocks per SM":1.5,)"
            R"("warps per SM":8.25,"est. achieved occupancy %":50,"device":0,"stream":7,"correlation":3,)"
            R"x("External id":4,"graph id":5,"graph node id":6,"memory bandwidth (GB/s)":1.25,)x"
            R"("theoretical occupancy %":75)") +
      event("kernel", "second", kGpuStream, "20", "5.0004",
            R"("block":[256,5,7],"grid":[256.0,"1",2],"device":"0","stream":"stream 7","correlation":"3")") +
      event("kernel", "ncclKernel", kGpuStream, "30", "5",
            R"("Collective name":"allreduce","In msg nelems":10,"Out msg nelems":20,"Group size":4,"dtype":"Float",)"
            R"("Process Group Name":"0","Process Group Description":"default pg","Seq":9,"Comms Id":77,)"
            R"("Process Group Ranks":[0,1,2,3],"block":[1,2,3])") +
      event("gpu_memcpy", "Memcpy", kGpuStream, "40", "5",
            R"x("bytes":4096,"memory bandwidth (GB/s)":0.8,"kind":"Host -> Device","device":0,"stream":7)x") +
      event("cpu_op", "aten::mm", kMainThread, "5", "4",
            R"("External id":4,"Sequence number":2,"Input Dims":[[1,2],[3],[]],"Input type":["a, b","c"],)"
            R"("Input Strides":[[2,1],[1],[]],"Concrete Inputs":["","[ 1, 2 ]"])") +
      event("cuda_runtime", "cudaLaunchKernel", kMainThread, "6", "1", R"("correlation":3,"External id":4)") +
      event("python_function", "a.py(1): f", kMainThread, "1", "20", R"("Python id":1,"Python parent id":null)") +
      event("python_function", "nn.Module: M_0", kMainThread, "2", "18", R"("Python id":2,"Python parent id":1)") +
      R"({"ph":"M","name":"process_name","pid":100,"tid":0,"args":{"name":"python"}},)"
      R"({"ph":"M","name":"process_labels","pid":100,"tid":0,"args":{"labels":"GPU 0"}},)"
      R"({"ph":"M","name":"process_sort_index","pid":100,"tid":0,"args":{"sort_index":5}},)"
      R"({"ph":"C","name":"c","pid":100,"tid":0,"ts":3,"args":{"a":1,"b":2.5}},)"
      R"({"ph":"i","name":"[memory]","pid":100,"tid":1,"ts":4,"args":{"Bytes":-512}},)"
      R"({"ph":"b","cat":"x","name":"n","id2":{"local":"0x1"},"pid":100,"tid":1,"ts":5,"args":{}},)"
      R"({"ph":"e","cat":"x","name":"n","id2":{"local":"0x1"},"pid":100,"tid":1,"ts":6,"args":{}},)"
      R"({"ph":"s","cat":"ac2g","name":"ac2g","id":8,"pid":100,"tid":1,"ts":6})";
  return R"({"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":3,"world_size":4},"deviceProperties":)"
         R"([{"id":0,"name":"AMD Instinct MI300X","computeMajor":9,"computeMinor":4,"warpSize":64,"numSms":304}],)"
         R"("traceEvents":[)" +
         events + "]}";
}

// All tables but what tells the file from another one.
std::vector<std::string> tables(std::string_view trace) {
  IngestOptions options = Ingested::small_options();
  options.events.arguments = EventArguments::kKeep;
  Ingested index(trace, options);
  std::vector<std::string> out;
  const std::string names = index.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find("; ", at), names.size());
    const std::string name = names.substr(at, end - at);
    const bool is_meta = name == "meta";
    const bool is_issue = name == "issue";
    out.push_back(name + ": " +
                  index.rows(is_meta    ? "SELECT * FROM meta WHERE key NOT GLOB 'source_*'"
                             : is_issue ? "SELECT kind, severity, count, sample FROM issue"
                                        : "SELECT * FROM " + name));
    at = end + 2;
  }
  return out;
}

}  // namespace

TEST_CASE("white space around the values of a trace changes no table of its index") {
  const std::string trace = trace_of_all_arguments();
  const std::vector<std::string> expected = tables(trace);
  REQUIRE(expected.size() > 20);
  for (const std::string_view space : {" ", "\t", "\r", "\n", "\r\n \t"}) {
    for (const Around around : {Around::kBefore, Around::kBehind, Around::kBoth}) {
      CAPTURE(space);
      CAPTURE(static_cast<int>(around));
      CHECK(tables(spaced(trace, space, around)) == expected);
    }
  }
}

TEST_CASE("lists behind which white space follows are read whole") {
  const std::string arguments = "\"grid\":[ 256,\n1 , 2]\n,\"block\": [256,5,6]\n";
  const std::string collective = "\"Process Group Ranks\": [0, 1]\n\t,\"Collective name\":\"allreduce\"\n";
  Ingested index(trace_of(event("kernel", "a", kGpuStream, "1", "1", arguments) +
                          event("kernel", "b", kGpuStream, "3", "1", "\"block\":[256,5,7]\r\n") +
                          event("kernel", "c", kGpuStream, "5", "1", collective)));
  CHECK(index.rows("SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z FROM launch_config") ==
        "256 1 2 256 5 6; - - - 256 5 7");
  CHECK(index.rows("SELECT ranks FROM collective") == "[0,1]");
}

}  // namespace tracedb
