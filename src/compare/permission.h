// What a comparison of one kind of steps may claim: the one place that decides whether a sentence may be said. A claim
// that the data do not carry is forbidden, with the reason in words; verdicts, gate, reasons, fusions and the sentences
// of a page ask here. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace tracedb {

enum class Claim {
  kRatio,    // "12.4 % less", "2.4 times the throughput", "24 of 24 layers faster", and why that is so
  kVerdict,  // better, worse or the same, and with it a gate
  kKernels,  // whatever rests on the names of kernels: reasons by operation, fusions, clocks
};
inline constexpr std::size_t kClaims = 3;

class Permission {
 public:
  // The first reason counts: conditions come in order of weight.
  void forbid(std::initializer_list<Claim> claims, const std::string& reason);
  [[nodiscard]] bool may(Claim claim) const { return why_not(claim).empty(); }
  // A few words, as they stand in parentheses behind a verdict: "other work", "the load differs"; "": it may.
  [[nodiscard]] const std::string& why_not(Claim claim) const { return reasons_[static_cast<std::size_t>(claim)]; }

 private:
  std::array<std::string, kClaims> reasons_;
};

// What is known of a kind of steps, as far as a claim depends on it. Another condition: a member here, its line in
// permission_of().
struct GroupEvidence {
  bool other_work = false;         // both traces record the work, and it is not the same
  bool load_differs = false;       // the same work, but for more or fewer tokens or requests, or for other steps
  std::string no_usual_step = {};  // bar_of(), of either trace
  bool names_out_of_step = false;  // of kernels, in either trace
};
Permission permission_of(const GroupEvidence& evidence);

}  // namespace tracedb
