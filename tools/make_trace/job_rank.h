// One rank of a made job at work: a host that launches ahead, a device that runs what it launched in order, a clock.
// Times are those of the job; the file has those of the rank's clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "make_trace/job_trace.h"
#include "make_trace/write/text_output.h"

namespace tracedb {

// A trace that one or more ranks write to.
struct JobFile {
  // An empty path only counts. `rank`: what distributedInfo says; none: -1.
  JobFile(const JobOptions& options, const std::string& path, int rank);
  void close(const std::string& name);

  TextOutput out;
  bool any = false;  // an event is written
};

class JobRank {
 public:
  JobRank(const JobOptions& options, int number, int steps, std::shared_ptr<JobFile> file);

  void begin_step(int step);
  // The kernels of a layer or microbatch, numbered within the step; `is_held_up`: with what is planted.
  void compute(int part, bool is_held_up);
  // Launches a kernel that communicates; when it can start.
  std::int64_t arrive();
  // What arrived: all came at `last` at the latest.
  void end_collective(int part, std::int64_t last);
  void end_transfer(int part, std::int64_t last, int peer, bool sends);
  // The host waits for the device.
  void synchronize();
  void end_step();

 private:
  void hold_up(const PlantedHoldup& late);
  [[nodiscard]] bool is_late(const PlantedHoldup& late) const;
  [[nodiscard]] std::uint64_t noise_of(int part, std::size_t slot) const;
  [[nodiscard]] std::int64_t wall(std::int64_t at) const;
  [[nodiscard]] bool written() const { return step_ - options_.first_step < steps_; }
  [[nodiscard]] std::string group_arguments() const;
  void end_communication(std::string_view kernel, std::int64_t end, const std::string& arguments);
  void device(std::string_view name, std::string_view category, std::int64_t ns, std::string_view by,
              std::string_view arguments);
  void begin_event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns);
  void event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns,
             std::string_view arguments);
  void call(std::string_view name, std::int64_t start, std::int64_t ns);
  void annotate(std::string_view name, std::int64_t start, std::int64_t end);

  const JobOptions& options_;
  int number_, process_, steps_;
  std::shared_ptr<JobFile> file_;
  PlantedClock clock_;
  int step_ = 0;
  std::int64_t host_ = 0, free_ = 0, step_start_ = 0, longer_ = 0, launch_ = 0, arrived_ = 0;
  std::int64_t correlation_ = 0, collectives_ = 0, transfers_ = 0;
};

}  // namespace tracedb
