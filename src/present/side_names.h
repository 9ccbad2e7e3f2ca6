// What the sides of a comparison are called in sentences: short, by what tells them apart. Pure.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

struct SideNames {
  std::string baseline, candidate;
};

// "MI300X" and "H100" where the devices differ in model; else what differs in the labels, which are names of files:
// "worker0" and "worker1"; else "the baseline" and "the candidate". `devices`: as TraceDescription has them.
SideNames side_names(std::string_view baseline_devices, std::string_view candidate_devices,
                     std::string_view baseline_label, std::string_view candidate_label);

}  // namespace tracedb
