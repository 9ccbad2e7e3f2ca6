#include "compare/permission.h"

namespace tracedb {

void Permission::forbid(std::initializer_list<Claim> claims, const std::string& reason) {
  for (const Claim claim : claims) {
    std::string& own = reasons_[static_cast<std::size_t>(claim)];
    if (own.empty()) own = reason;
  }
}

Permission permission_of(const GroupEvidence& evidence) {
  Permission out;
  if (evidence.other_work) out.forbid({Claim::kRatio, Claim::kVerdict}, "other work");
  if (!evidence.no_usual_step.empty()) out.forbid({Claim::kRatio, Claim::kVerdict}, evidence.no_usual_step);
  if (evidence.load_differs) out.forbid({Claim::kVerdict}, "the load differs");
  if (evidence.names_out_of_step) out.forbid({Claim::kKernels}, "kernel names out of step");
  return out;
}

}  // namespace tracedb
