// The peak rates of accelerators: schema/devices/peaks.rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/work/operator_work.h"

namespace tracedb {

struct DevicePeaks {
  std::string name, kind, document;
  double memory_gb = 0, units = 0;  // 0: any
  // 10^12 operations per second; nullopt: not known.
  std::optional<double> fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, vector32, vector64;
  std::optional<double> memory_gb_s;  // 10^9 bytes per second
  std::optional<double> ghz, operations;

  // 10^12 operations per second of work of a family on operands of a type. `uses_tf32`: its kernels say so.
  [[nodiscard]] std::optional<double> rate(WorkFamily family, std::string_view type, bool uses_tf32) const;
};

// Of the name of a kernel of floats.
bool says_tf32(std::string_view kernel);

std::span<const DevicePeaks> device_peaks();

// Rows as schema/devices/peaks.rules has them; `source` is the file in errors. Error{kInput} for what is none.
std::vector<DevicePeaks> parse_device_peaks(std::string_view text, const std::string& source);

// Rows that are looked at before those of the program.
using OwnPeaks = std::span<const DevicePeaks>;

// `units`: multiprocessors; 0 of both: the trace does not say. Null: the device is not known.
const DevicePeaks* peaks_of(std::string_view device_name, std::int64_t memory_bytes, std::int64_t units,
                            OwnPeaks own = {});
// Of the one model that the events of a trace ran on, of those on devices of these numbers if any are given. Null: it
// is not known, or there are several.
const DevicePeaks* peaks_of(const Index& index, OwnPeaks own, std::span<const std::int64_t> ordinals = {});

// Whether kernels compute on matrix units: schema/devices/matrix_units.rules.

// By the name of a kernel; nullopt: not known. Any thread.
std::optional<bool> runs_on_matrix_units(std::string_view kernel_name);

}  // namespace tracedb
