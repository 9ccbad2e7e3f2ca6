#include "passes/model_facts.h"

namespace tracedb {

ModelFacts model_facts(const Index& index, const std::vector<Traits>& traits) {
  std::vector<ClassTime> times;
  double total = 0, known = 0;
  Statement rows(index.database(), "SELECT name_id, total FROM kernel_name_sum WHERE name_id BETWEEN 0 AND 134217727");
  while (rows.step()) {
    const Traits own = traits_of(traits, static_cast<std::uint32_t>(rows.int64(0)));
    const std::int64_t time = rows.int64(1);
    times.push_back({own, time});
    total += static_cast<double>(time);
    known += (own & (kOtherTrait | kGeneratedTrait)) == 0 ? static_cast<double>(time) : 0;
  }
  return {architecture_of(times), total > 0 ? known / total : 0};
}

}  // namespace tracedb
