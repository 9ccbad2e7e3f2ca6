#include "passes/layers/model_facts.h"

namespace tracedb {
namespace {

// Marks of a diffusion's steps, or calls into the library whose models, pipelines and schedulers are for nothing else.
bool is_diffusion(const Index& index) {
  constexpr const char* kSql =
      "SELECT EXISTS (SELECT 1 FROM annotation a JOIN string s ON s.id = a.name_id "
      "WHERE s.value GLOB 'execute_diffusion_[0-9]*') OR EXISTS (SELECT 1 FROM frame f JOIN string s ON s.id = "
      "f.file_id "
      "WHERE s.value GLOB '*diffusers/models/*' OR s.value GLOB '*diffusers/pipelines/*' OR "
      "s.value GLOB '*diffusers/schedulers/*')";
  return index.database().query_int64(kSql).value_or(0) != 0;
}

}  // namespace

std::string architecture_text(const ModelFacts& facts) {
  if (facts.architecture == Architecture::kUnknown && facts.diffusion) return "diffusion";
  return std::string(to_string(facts.architecture)) + (facts.diffusion ? ", diffusion" : "");
}

ModelFacts model_facts(const Index& index, const std::vector<Traits>& traits) {
  std::vector<ClassTime> times;
  double total = 0, known = 0;
  Statement rows(index.database(), "SELECT name_id, total FROM kernel_name_sum");
  while (rows.step()) {
    const Traits own = traits_of(traits, rows.id(0));
    const std::int64_t time = rows.int64(1);
    times.push_back({own, time});
    total += static_cast<double>(time);
    known += (own & (kOtherTrait | kGeneratedTrait)) == 0 ? static_cast<double>(time) : 0;
  }
  return {architecture_of(times), is_diffusion(index), total > 0 ? known / total : 0};
}

}  // namespace tracedb
