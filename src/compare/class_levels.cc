#include "compare/class_levels.h"

#include <algorithm>
#include <optional>

namespace tracedb {
namespace {

// The family as which a companion counts; nullopt of others, and of those that are of their host's family anyhow.
std::optional<OpId> host_of(const KernelTerm& term, const Vocabulary& vocabulary) {
  return term.host && *term.host != vocabulary.family_of(term.op) ? term.host : std::nullopt;
}

// Classes that the alignment takes for another of their family.
std::set<OpId> taken_for_others(const GroupAlignment& alignment, const Vocabulary& vocabulary) {
  std::set<OpId> out;
  for (const AlignedSegment& segment : alignment.segments) {
    for (const KernelPair& pair : segment.pairs) {
      if (!pair.has_both()) continue;
      const OpId a = vocabulary.op_of(pair.baseline.name);
      const OpId b = vocabulary.op_of(pair.candidate.name);
      if (a != b && vocabulary.family_of(a) == vocabulary.family_of(b)) out.insert({a, b});
    }
  }
  return out;
}

std::vector<OpId> missing_in(const std::set<OpId>& other, const std::set<OpId>& own, OpId family,
                             const Vocabulary& vocabulary) {
  std::vector<OpId> out;
  for (const OpId op : own) {
    if (vocabulary.family_of(op) == family && !other.contains(op)) out.push_back(op);
  }
  return out;
}

}  // namespace

std::set<OpId> classes_of(const Side& side, const GroupSide& group, const Vocabulary& vocabulary) {
  const auto names = side.events.kernels.ids("name_id");
  std::vector<bool> met(vocabulary.names().size(), false);
  for (const std::uint32_t run : group.runs) {
    for (std::size_t i = side.runs[run].begin; i < side.runs[run].end; ++i) {
      met[side.name(names[side.kernel_rows[i]])] = true;
    }
  }
  std::set<OpId> out;
  for (NameId name = 0; name < met.size(); ++name) {
    if (met[name] && !host_of(vocabulary.names()[name], vocabulary)) out.insert(vocabulary.op_of(name));
  }
  return out;
}

ClassLevels::ClassLevels(const std::set<OpId>& a, const std::set<OpId>& b, const GroupAlignment& alignment,
                         const Vocabulary& vocabulary) {
  std::set<OpId> coarse = taken_for_others(alignment, vocabulary);
  std::set<OpId> families;
  for (const OpId op : a) families.insert(vocabulary.family_of(op));
  for (const OpId op : b) families.insert(vocabulary.family_of(op));
  for (const OpId family : families) {
    const std::vector<OpId> only_a = missing_in(b, a, family, vocabulary);
    const std::vector<OpId> only_b = missing_in(a, b, family, vocabulary);
    const bool is_shown =
        std::any_of(coarse.begin(), coarse.end(), [&](OpId op) { return vocabulary.family_of(op) == family; });
    // Without a row on the other side to stand beside, a class is what is new or gone.
    if (!only_b.empty() || b.contains(family) || is_shown) coarse.insert(only_a.begin(), only_a.end());
    if (!only_a.empty() || a.contains(family) || is_shown) coarse.insert(only_b.begin(), only_b.end());
  }
  for (const KernelTerm& term : vocabulary.names()) {
    const OpId own = coarse.contains(term.op) ? vocabulary.family_of(term.op) : term.op;
    of_name_.push_back(host_of(term, vocabulary).value_or(own));
  }
}

ClassLevels ClassLevels::coarsest(const Vocabulary& vocabulary) {
  ClassLevels levels;
  for (const KernelTerm& term : vocabulary.names()) {
    levels.of_name_.push_back(host_of(term, vocabulary).value_or(vocabulary.family_of(term.op)));
  }
  return levels;
}

}  // namespace tracedb
