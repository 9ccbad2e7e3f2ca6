// The wire format: xplane.proto of XLA's profiler and hlo.proto, by the numbers of their fields.
#include <algorithm>
#include <filesystem>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <variant>
#include <vector>

#include "make_trace/options.h"
#include "make_trace/output.h"
#include "make_trace/random.h"

namespace tracedb {
namespace {

using protozero::pbf_writer;

struct Stat {
  std::string_view name;
  std::variant<std::int64_t, std::string> value;
};

struct XEvent {
  std::string name;
  std::int64_t begin, duration;  // ps
  std::vector<Stat> stats = {};
};

// Events and stats are given by name; texts of stats become references to names, as JAX writes them.
class Plane {
 public:
  explicit Plane(std::string_view name, const std::vector<Stat>& stats = {}) {
    pbf_writer(bytes_).add_string(2, name.data(), name.size());
    for (const Stat& one : stats) add_stat(6, bytes_, one);
  }

  void line(std::int64_t id, const std::string& name, const std::vector<XEvent>& events) {
    std::string out;
    pbf_writer line(out);
    line.add_int64(1, id);
    line.add_string(2, name);
    for (const XEvent& event : events) {
      std::string text;
      pbf_writer one(text);
      one.add_int64(1, id_of(events_, event.name));
      one.add_int64(2, event.begin);
      one.add_int64(3, event.duration);
      for (const Stat& stat : event.stats) add_stat(4, text, stat);
      line.add_message(4, text);
    }
    pbf_writer(bytes_).add_message(3, out);
  }

  // What holds for all events of the name. `as_bytes`: its one stat is no text.
  void describe(const std::string& name, std::int64_t id, const std::string& display, const std::vector<Stat>& stats,
                bool as_bytes = false) {
    if (id != 0) events_[name] = id;
    std::string& out = described_[name];
    if (!display.empty()) pbf_writer(out).add_string(4, display);
    for (const Stat& stat : stats) add_stat(5, out, stat, as_bytes);
  }

  std::string take() {
    for (const auto& [name, id] : events_) add_name(4, name, id, described_[name]);
    for (const auto& [name, id] : stats_) add_name(5, name, id, "");
    return std::move(bytes_);
  }

 private:
  using Ids = std::map<std::string, std::int64_t, std::less<>>;

  static std::int64_t id_of(Ids& ids, std::string_view name) {
    return ids.try_emplace(std::string(name), static_cast<std::int64_t>(ids.size()) + 1).first->second;
  }

  void add_stat(std::uint32_t field, std::string& to, const Stat& stat, bool as_bytes = false) {
    std::string out;
    pbf_writer one(out);
    one.add_int64(1, id_of(stats_, stat.name));
    if (const auto* number = std::get_if<std::int64_t>(&stat.value)) {
      one.add_int64(4, *number);
    } else if (as_bytes) {
      one.add_bytes(6, std::get<std::string>(stat.value));
    } else {
      one.add_uint64(7, static_cast<std::uint64_t>(id_of(stats_, std::get<std::string>(stat.value))));
    }
    pbf_writer(to).add_message(field, out);
  }

  void add_name(std::uint32_t field, const std::string& name, std::int64_t id, std::string_view more) {
    std::string own, entry;
    pbf_writer(own).add_int64(1, id);
    pbf_writer(own).add_string(2, name);
    own += more;
    pbf_writer(entry).add_int64(1, id);
    pbf_writer(entry).add_message(2, own);
    pbf_writer(bytes_).add_message(field, entry);
  }

  std::string bytes_;
  Ids events_, stats_;
  std::map<std::string, std::string> described_;
};

// One instruction of the program, and what runs for it.
struct Instruction {
  std::string op, kernel;  // "cublas-gemm.2", "nvjet_tst_128x128"
  std::string_view opcode, target;
  std::string op_name;  // "jit(train_step)/jit(main)/jvp(layers_0)/mlp/dot_general"
  int times = 1;        // in a step
};

constexpr std::int64_t kProgramNumber = 7, kPsOfUs = 1'000'000;  // 1 us in ps
constexpr std::string_view kModule = "jit_train_step";

// Layers forward and backward; of a scan, one body for all of them.
std::vector<Instruction> instructions_of(XlaForm form, int layers) {
  struct Kind {
    std::string_view op, kernel, opcode, target, name;
  };
  constexpr Kind kKinds[] = {
      {"loop_multiply_fusion", "loop_multiply_fusion", "fusion", "", "norm/mul"},
      {"cublas-gemm", "nvjet_tst_128x128_64x4_1x2_h_bz_TNT", "custom-call", "__cublas$gemm", "attn/dot_general"},
      {"loop_add_fusion", "loop_add_fusion", "fusion", "", "mlp/add"},
      {"all-reduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all-reduce", "",
       "mlp/psum"}};
  const bool scan = form == XlaForm::kScan;
  std::vector<std::string> places;  // where a layer stands in the program, forward and then backward
  for (int layer = 0; layer < layers && !scan; ++layer) places.push_back(fmt::format("jvp(layers_{})", layer));
  if (scan) places.emplace_back("jvp(main)/while/body/layers");
  for (std::size_t i = places.size(); i-- > 0;) {
    const std::size_t end = places[i].find(')') + 1;
    places.push_back(fmt::format("transpose({}){}", places[i].substr(0, end), places[i].substr(end)));
  }
  std::vector<Instruction> out;
  for (const std::string& place : places) {
    for (const Kind& kind : kKinds) {
      out.push_back({fmt::format("{}.{}", kind.op, out.size() + 1), std::string(kind.kernel), kind.opcode, kind.target,
                     fmt::format("jit(train_step)/jit(main)/{}/{}", place, kind.name), scan ? layers : 1});
    }
  }
  return out;
}

std::string metadata(const std::vector<Instruction>& code) {
  std::string body, module, proto;
  for (std::size_t i = 0; i < code.size(); ++i) {
    std::string text, shape, path;
    pbf_writer one(text);
    one.add_string(1, code[i].op);
    one.add_string(2, code[i].opcode.data(), code[i].opcode.size());
    pbf_writer(shape).add_int32(2, 11);  // f32
    for (const int dim : {128, 1024}) pbf_writer(shape).add_int64(3, dim);
    one.add_message(3, shape);
    pbf_writer(path).add_string(2, code[i].op_name);
    one.add_message(7, path);
    if (!code[i].target.empty()) one.add_string(28, code[i].target.data(), code[i].target.size());
    one.add_int64(35, static_cast<std::int64_t>(i) + 1);
    pbf_writer(body).add_message(2, text);
  }
  pbf_writer(module).add_string(1, kModule.data(), kModule.size());
  pbf_writer(module).add_message(3, body);
  pbf_writer(module).add_int64(5, kProgramNumber);
  pbf_writer(proto).add_message(1, module);
  Plane plane("/host:metadata");
  plane.describe(fmt::format("{}({})", kModule, kProgramNumber), kProgramNumber, "", {{"Hlo Proto", proto}}, true);
  return plane.take();
}

struct OpTotal {
  std::int64_t calls = 0, ns = 0;  // each call rounded once
  void add(std::int64_t ps) {
    ++calls;
    ns += (ps + 500) / 1000;
  }
};

class XlaWriter {
 public:
  XlaWriter(XlaForm form, const TraceOptions& options, int host)
      : form_(form),
        options_(options),
        seed_(mix64(options.seed, static_cast<std::uint64_t>(host))),
        host_(host),
        code_(instructions_of(form, options.layers)) {}

  std::string write() {
    std::string out;
    const auto add = [&](const std::string& plane) { pbf_writer(out).add_message(1, plane); };
    add(metadata(code_));
    for (const std::string& plane : form_ == XlaForm::kTpu ? tpu() : gpu()) add(plane);
    Plane times("Task Environment", {{"profile_start_time", std::int64_t{1'700'000'000'000'000'000}}});
    add(times.take());
    pbf_writer(out).add_string(4, fmt::format("host{}", host_));
    return out;
  }

  [[nodiscard]] Json truth() const {
    const Json ops =
        json_map(totals_, [](const OpTotal& one) { return json_object("calls", one.calls, "ns", one.ns); });
    return json_object("host", fmt::format("host{}", host_), "copies", copies_, "ops", ops);
  }

 private:
  // From 1 us up, with parts of a ns.
  std::int64_t duration() { return kPsOfUs + uniform(mix64(seed_, ++drawn_), 5 * kPsOfUs); }

  std::vector<std::string> gpu() {
    std::vector<XEvent> kernels, copies, user, pool;
    std::int64_t time = 0, link = 0;
    for (int step = 0; step < options_.steps; ++step) {
      const std::int64_t begin = time, run = step + 1;
      user.push_back({"PjitFunction(train_step)", begin + kPsOfUs, 3 * kPsOfUs});
      user.push_back({"$train.py:7 train_step", begin + kPsOfUs, 2 * kPsOfUs});
      user.push_back({"Execute", begin + 2 * kPsOfUs, 0, {{"_pt", std::int64_t{5}}, {"_p", run}}});
      std::int64_t host = begin + 5 * kPsOfUs, device = host;
      const std::int64_t enqueued = host;
      const auto launch = [&](std::string_view call) {
        pool.push_back({std::string(call), host, kPsOfUs, {{"correlation_id", ++link}}});
        host += kPsOfUs + kPsOfUs / 2;
        device = std::max(device, host);
      };
      launch("cuMemcpyHtoDAsync_v2");
      copies.push_back(
          {"MemcpyH2D",
           device,
           kPsOfUs,
           {{"correlation_id", link}, {"memcpy_details", "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"}}});
      device += kPsOfUs;
      ++copies_;
      if (form_ == XlaForm::kGraphs) launch("cuGraphLaunch");
      for (const Instruction* op : order_of_step()) {
        if (form_ != XlaForm::kGraphs) launch("cuLaunchKernel");
        std::vector<Stat> stats = {{"correlation_id", link}};
        if (form_ != XlaForm::kGraphs) {
          stats.insert(stats.end(),
                       {{"hlo_op", op->op},
                        {"hlo_module", std::string(kModule)},
                        {"program_id", kProgramNumber},
                        {"kernel_details", "regs:64 static_shared:0 dynamic_shared:4096 grid:132,1,1 block:256,1,1"}});
        }
        const std::int64_t taken = duration();
        totals_[form_ == XlaForm::kGraphs ? "" : op->op].add(taken);
        kernels.push_back({op->kernel, device, taken, std::move(stats)});
        device += taken + kPsOfUs / 4;
      }
      pool.push_back({"EnqueueExecution",
                      enqueued - kPsOfUs / 2,
                      host - enqueued + kPsOfUs,
                      {{"_ct", std::int64_t{5}}, {"_c", run}}});
      pool.push_back(
          {fmt::format("{}:XLA GPU module", kModule), enqueued - kPsOfUs / 4, host - enqueued + kPsOfUs / 2});
      time = std::max(host, device) + 10 * kPsOfUs;
      if (options_.annotations)
        user.push_back({"train", begin, time - begin - kPsOfUs, {{"step_num", std::int64_t{step}}}});
    }
    const std::vector<Stat> facts = {{"device_vendor", "Nvidia"},
                                     {"core_count", std::int64_t{132}},
                                     {"memory_size", std::int64_t{85'018'279'936}},
                                     {"compute_cap_major", std::int64_t{9}},
                                     {"compute_cap_minor", std::int64_t{0}}};
    Plane device("/device:GPU:0", facts), other("/device:GPU:1", facts), host("/host:CPU");
    device.line(14, "Stream #14(Compute)", kernels);
    device.line(15, "Stream #15(MemcpyH2D)", copies);
    host.line(3, "python", user);
    host.line(-7, "tf_XLAPjRt/-7", pool);
    return {device.take(), other.take(), host.take()};
  }

  // Layer after layer, also where all are one body.
  [[nodiscard]] std::vector<const Instruction*> order_of_step() const {
    std::vector<const Instruction*> out;
    const std::size_t body = form_ == XlaForm::kScan ? code_.size() / 2 : code_.size();
    for (std::size_t first = 0; first < code_.size(); first += body) {
      for (int time = 0; time < code_[first].times; ++time) {
        for (std::size_t i = first; i < first + body; ++i) out.push_back(&code_[i]);
      }
    }
    return out;
  }

  std::vector<std::string> tpu() {
    Plane device("/device:TPU:0", {{"device_type_string", "TPU v6 Lite"}}), host("/host:CPU");
    const auto named = [&](const std::string& op, std::string_view opcode, const std::string& path) {
      const std::string text = fmt::format("%{} = f32[128,1024]{{1,0:T(8,128)}} {}(%p)", op, opcode);
      std::vector<Stat> stats = {{"hlo_category", std::string(opcode)}};
      if (!path.empty()) stats.push_back({"tf_op", path + ":"});
      device.describe(text, 0, op, stats);
      return text;
    };
    const std::string loop = named("while.1", "while", "");
    std::vector<std::string> names;
    for (const Instruction& one : code_) names.push_back(named(one.op, one.opcode, one.op_name));
    std::vector<XEvent> runs, ops, async, calls;
    std::int64_t time = 0;
    for (int step = 0; step < options_.steps; ++step) {
      const std::int64_t begin = time + 2 * kPsOfUs, run = step + 100;
      calls.push_back({"DoEnqueueProgram", time, kPsOfUs, {{"run_id", run}}});
      time = begin + kPsOfUs;
      std::int64_t inside = 0;
      std::vector<XEvent> own;
      for (std::size_t i = 0; i < code_.size(); ++i) {
        const std::int64_t taken = duration();
        totals_[code_[i].op].add(taken);
        if (code_[i].opcode == "all-reduce") {  // in flight while others compute
          async.push_back({names[i], time, taken});
          continue;
        }
        own.push_back({names[i], time, taken});
        inside += taken;
        time += taken + kPsOfUs / 10;
      }
      totals_["while.1"].add(time - begin - inside);
      ops.push_back({loop, begin + kPsOfUs, time - begin});
      ops.insert(ops.end(), own.begin(), own.end());
      time += 2 * kPsOfUs;
      runs.push_back({fmt::format("{}({})", kModule, kProgramNumber), begin, time - begin, {{"run_id", run}}});
      time += 5 * kPsOfUs;
    }
    device.line(2, "XLA Modules", runs);
    device.line(3, "XLA Ops", ops);
    device.line(4, "Async XLA Ops", async);
    host.line(1, "main", calls);
    return {device.take(), host.take()};
  }

  XlaForm form_;
  const TraceOptions& options_;
  std::uint64_t seed_, drawn_ = 0;
  int host_;
  std::vector<Instruction> code_;
  std::map<std::string, OpTotal> totals_;  // by HLO op; "": not told
  std::int64_t copies_ = 0;
};

}  // namespace

void write_xla(const TraceOptions& options, const std::string& path) {
  std::vector<Json> hosts;
  for (int host = 0; host < options.hosts; ++host) {
    XlaWriter writer(options.xla, options, host);
    std::error_code error;
    if (options.hosts > 1) std::filesystem::create_directories(path, error);
    if (error) throw Error(ErrorCode::kResource, fmt::format("{}: {}", path, error.message()));
    write_file(options.hosts > 1 ? fmt::format("{}/host{}.xplane.pb", path, host) : path, writer.write());
    hosts.push_back(writer.truth());
  }
  const std::string truth = options.truth.value_or(options.hosts > 1 ? path + "/truth.json" : path + ".truth.json");
  write_file(truth, json_object("schema", "tracedb.make_trace_xla/1", "steps", options.steps, "layers", options.layers,
                                "hosts", json_list(hosts))
                            .text +
                        "\n");
}

}  // namespace tracedb
