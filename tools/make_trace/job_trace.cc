#include "make_trace/job_trace.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "make_trace/job_rank.h"
#include "make_trace/trace_options.h"
#include "make_trace/write/text_output.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

using Ranks = std::vector<std::unique_ptr<JobRank>>;

int recorded_steps(const JobOptions& options, int rank) {
  for (const std::string& text : options.shorten) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::kUsage, "--shorten: RANK=STEPS");
    if (parse_integer(text.substr(0, equals)) != rank) continue;
    return static_cast<int>(parse_integer(text.substr(equals + 1)).value_or(options.steps));
  }
  return options.steps;
}

// What was planted, and the waiting that follows from it, in the job's own time.
class PlantedWaits {
 public:
  // `more`: further members of the row.
  void add(int step, int part, std::span<const std::int64_t> arrivals, std::span<const int> ranks,
           const std::string& more = "") {
    const auto last = std::max_element(arrivals.begin(), arrivals.end());
    std::int64_t waiting = 0;
    for (const std::int64_t arrival : arrivals) waiting += *last - arrival;
    rows_ += fmt::format("{}\n    {{\"step\": {}, \"layer\": {}, \"last\": {}, \"waiting\": {}{}}}",
                         rows_.empty() ? "" : ",", step, part, ranks[static_cast<std::size_t>(last - arrivals.begin())],
                         waiting, more);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{{\n  \"schema\": \"tracedb.make_trace_job/1\",\n  \"collectives\": [{}\n  ]\n}}\n", rows_);
  }

 private:
  std::string rows_;
};

// Layers with a collective of all ranks behind each.
void run_layers(const JobOptions& options, int step, Ranks& ranks, PlantedWaits& planted) {
  std::vector<int> numbers(ranks.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const int late_layer = options.layers > 1 ? 1 : 0;
  for (int layer = 0; layer < options.layers; ++layer) {
    std::vector<std::int64_t> arrivals;
    for (auto& rank : ranks) {
      rank->compute(layer, layer == late_layer);
      arrivals.push_back(rank->arrive());
    }
    const std::int64_t last = *std::max_element(arrivals.begin(), arrivals.end());
    for (auto& rank : ranks) rank->end_collective(layer, last);
    planted.add(step, layer, arrivals, numbers);
  }
}

void transfer(Ranks& ranks, int step, int part, int from, int to, PlantedWaits& planted) {
  JobRank& sender = *ranks[static_cast<std::size_t>(from)];
  JobRank& receiver = *ranks[static_cast<std::size_t>(to)];
  const std::int64_t arrivals[] = {sender.arrive(), receiver.arrive()};
  const std::int64_t last = std::max(arrivals[0], arrivals[1]);
  sender.end_transfer(part, last, to, true);
  receiver.end_transfer(part, last, from, false);
  const int numbers[] = {from, to};
  planted.add(step, part, arrivals, numbers, fmt::format(", \"from\": {}, \"to\": {}", from, to));
}

// Every rank is a stage: all microbatches go forward through them, then all go back.
void run_pipeline(const JobOptions& options, int step, Ranks& ranks, PlantedWaits& planted) {
  for (int part = 0; part < 2 * options.microbatches; ++part) {
    const bool forward = part < options.microbatches;
    for (int place = 0; place < options.ranks; ++place) {
      const int stage = forward ? place : options.ranks - 1 - place;
      ranks[static_cast<std::size_t>(stage)]->compute(part, forward);
      if (place + 1 < options.ranks) transfer(ranks, step, part, stage, forward ? stage + 1 : stage - 1, planted);
    }
  }
}

std::string write_job(const JobOptions& options, const std::string& folder) {
  std::vector<std::shared_ptr<JobFile>> files;
  Ranks ranks;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const bool missing = std::find(options.missing.begin(), options.missing.end(), rank) != options.missing.end();
    const std::string name = options.one_process ? "trace.json" : fmt::format("{}{}.json", options.stem, rank);
    if (!options.one_process || rank == 0) {
      files.push_back(std::make_shared<JobFile>(options, missing ? "" : fmt::format("{}/{}", folder, name),
                                                options.one_process ? -1 : rank));
    }
    ranks.push_back(std::make_unique<JobRank>(options, rank, recorded_steps(options, rank), files.back()));
  }
  PlantedWaits planted;
  for (int step = options.first_step; step < options.first_step + options.steps; ++step) {
    for (auto& rank : ranks) rank->begin_step(step);
    options.microbatches > 0 ? run_pipeline(options, step, ranks, planted) : run_layers(options, step, ranks, planted);
    for (auto& rank : ranks) {
      rank->synchronize();
      rank->end_step();
    }
  }
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    files[rank]->close(options.one_process ? "trace.json" : fmt::format("{}{}.json", options.stem, rank));
  }
  return planted.text();
}

[[noreturn]] void reject_job(std::string_view option, std::string_view text, std::string_view wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("--{}: '{}' is not {}", option, text, wanted));
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ':') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// RANK:CAUSE:NS[:SHARE]
PlantedHoldup parse_late(const std::string& text) {
  constexpr std::string_view kWanted = "RANK:compute|host|copy:NS[:SHARE]";
  const std::vector<std::string> parts = parts_of(text);
  if (parts.size() < 3 || parts.size() > 4) reject_job("late", text, kWanted);
  const auto rank = parse_integer(parts[0]);
  const auto ns = parse_integer(parts[2]);
  constexpr std::string_view kCauses[] = {"compute", "host", "copy"};
  const auto* const cause = std::find(std::begin(kCauses), std::end(kCauses), parts[1]);
  if (!rank || !ns || *ns < 0 || cause == std::end(kCauses)) reject_job("late", text, kWanted);
  PlantedHoldup out{static_cast<int>(*rank), static_cast<Holdup>(cause - std::begin(kCauses)), *ns};
  if (parts.size() == 4) out.share_ppm = parse_ppm("--late", parts[3]);
  return out;
}

// RANK:OFFSET_NS[:DRIFT_PPM]
PlantedClock parse_clock(const std::string& text) {
  constexpr std::string_view kWanted = "RANK:OFFSET_NS[:DRIFT_PPM]";
  const std::vector<std::string> parts = parts_of(text);
  if (parts.size() < 2 || parts.size() > 3) reject_job("clock-of", text, kWanted);
  const auto rank = parse_integer(parts[0]);
  const auto offset = parse_integer(parts[1]);
  const auto drift = parts.size() == 3 ? parse_integer(parts[2]) : std::optional<std::int64_t>(0);
  if (!rank || !offset || !drift) reject_job("clock-of", text, kWanted);
  return {static_cast<int>(*rank), *offset, *drift};
}

PeersSaid parse_peers(const std::string& text) {
  constexpr std::string_view kNames[] = {"arguments", "annotations", "nowhere"};
  const auto* const name = std::find(std::begin(kNames), std::end(kNames), text);
  if (name == std::end(kNames)) reject_job("peers", text, "arguments, annotations or nowhere");
  return static_cast<PeersSaid>(name - std::begin(kNames));
}

using Texts = std::vector<std::string>;

po::options_description describe(JobOptions& options) {
  po::options_description all(
      "usage: make-trace job [options] FOLDER\nWrites the traces of all ranks of a job, and what each collective waits "
      "for, FOLDER.truth.json");
  all.add_options()("help", "this text");
  all.add_options()("output", po::value<std::string>(), "folder; also the first argument");
  all.add_options()("seed", po::value<std::uint64_t>(&options.seed)->default_value(1), "of the noise");
  const auto number = [&](const char* name, int& value, const char* text) {
    all.add_options()(name, po::value<int>(&value)->default_value(value), text);
  };
  number("ranks", options.ranks, "of the job");
  number("steps", options.steps, "of the recording");
  number("first-step", options.first_step, "number of the first one");
  number("layers", options.layers, "of a step, with a collective each");
  all.add_options()("jitter", po::value<std::string>()->default_value("1"), "percent by which kernel durations vary");
  all.add_options()("clock", po::value<std::string>()->default_value("1"), "factor on the duration of every kernel");
  all.add_options()("sequences", po::value<std::string>()->default_value("on"),
                    "off: no arguments of collectives, as in older traces");
  all.add_options()(
      "microbatches", po::value<int>(&options.microbatches)->default_value(0),
      "of a step: the ranks are stages of a pipeline that send to each other, and a holdup is in each one "
      "that goes forward; 0: no pipeline");
  all.add_options()("peers", po::value<std::string>()->default_value("arguments"),
                    "where sends and receives say with whom: arguments, annotations (older traces), nowhere");
  all.add_options()("one-process", po::bool_switch(&options.one_process),
                    "one trace without ranks, FOLDER/trace.json, has the devices of all");
  all.add_options()("stem", po::value<std::string>(&options.stem)->default_value("rank"),
                    "names of files before the number");
  all.add_options()("late", po::value<Texts>(),
                    "RANK:compute|host|copy:NS[:SHARE]: what holds a rank up, in a share of the steps (repeatable)");
  all.add_options()("clock-of", po::value<Texts>(),
                    "RANK:OFFSET_NS[:DRIFT_PPM]: a clock that is ahead and gains (repeatable)");
  all.add_options()("missing", po::value<std::vector<int>>(&options.missing), "RANK without a trace (repeatable)");
  all.add_options()("shorten", po::value<Texts>(&options.shorten),
                    "RANK=STEPS: its recording ends after so many (repeatable)");
  return all;
}

void check(const JobOptions& options) {
  const auto within = [](int value, int most) { return value >= 1 && value <= most; };
  if (!within(options.ranks, 1024) || !within(options.steps, 100'000) || !within(options.layers, 1000)) {
    throw Error(ErrorCode::kUsage, "1 to 1024 ranks, 100000 steps and 1000 layers");
  }
  if (options.microbatches != 0 && !within(options.microbatches, 1000)) {
    throw Error(ErrorCode::kUsage, "at most 1000 microbatches");
  }
}

}  // namespace

void make_job_trace(int argc, char** argv) {
  JobOptions options;
  const po::options_description all = describe(options);
  po::positional_options_description positional;
  positional.add("output", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), values);
  po::notify(values);
  if (values.count("help") != 0) {
    fmt::print("{}\nexample:\n  make-trace job --ranks 8 --late 3:compute:400000:0.5 --clock-of 2:1500000 job\n",
               fmt::streamed(all));
    return;
  }
  if (values.count("output") == 0) throw Error(ErrorCode::kUsage, "no FOLDER given; see make-trace job --help");
  options.jitter_ppm = parse_ppm("--jitter", values["jitter"].as<std::string>()) / 100;
  options.clock_ppm = parse_ppm("--clock", values["clock"].as<std::string>());
  options.peers = parse_peers(values["peers"].as<std::string>());
  options.sequences = parse_switch("--sequences", values["sequences"].as<std::string>());
  if (values.count("late") != 0) {
    for (const std::string& text : values["late"].as<Texts>()) options.late.push_back(parse_late(text));
  }
  if (values.count("clock-of") != 0) {
    for (const std::string& text : values["clock-of"].as<Texts>()) options.clocks.push_back(parse_clock(text));
  }
  check(options);
  auto folder = values["output"].as<std::string>();
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);  // what cannot be made cannot be written either
  const std::string truth = write_job(options, folder);
  TextOutput answers(folder + ".truth.json");
  answers.text(truth);
  answers.close();
}

}  // namespace tracedb
