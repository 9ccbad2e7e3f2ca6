#include "shared/word_completion.h"

#include <algorithm>

#include "base/text/split.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

bool takes_value(const po::option_description& option) { return option.semantic()->max_tokens() > 0; }

// The option that a word such as "--limit" or "-n" names; nullptr: none of ours.
const po::option_description* option_of(const std::string& word, const po::options_description& options) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  if (word.starts_with("--")) return options.find_nothrow(word.substr(2), false);
  return word.size() == 2 ? options.find_nothrow(word, false) : nullptr;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Candidates starting_with(const std::string& begun, Candidates all) {
  std::erase_if(all.words, [&](const Candidate& candidate) { return !candidate.word.starts_with(begun); });
  return all;
}

// Of a list, the part after the last comma; what is before it is kept.
Candidates complete_value(const std::string& before, const std::string& begun, Candidates all) {
  const std::size_t comma = all.several ? begun.rfind(',') : std::string::npos;
  const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
  Candidates out = starting_with(begun.substr(start), std::move(all));
  for (Candidate& candidate : out.words) candidate.word.insert(0, before + begun.substr(0, start));
  return out;
}

Candidates option_names(const std::string& begun, const po::options_description& options) {
  Candidates out;
  for (const auto& option : options.options()) {
    out.words.push_back({"--" + option->long_name(), first_line(option->description())});
  }
  return starting_with(begun, std::move(out));
}

}  // namespace

Candidates complete(std::span<const std::string> words, const po::options_description& options,
                    const ValuesOf& values_of, const Candidates& arguments) {
  const std::string begun = words.empty() ? "" : words.back();
  const std::span<const std::string> before = words.first(words.empty() ? 0 : words.size() - 1);
  const bool only_arguments = std::ranges::find(before, "--") != before.end();
  if (only_arguments) return starting_with(begun, arguments);
  if (!before.empty()) {
    const po::option_description* option = option_of(before.back(), options);
    if (option != nullptr && takes_value(*option)) return complete_value("", begun, values_of(*option));
  }
  if (const std::size_t equals = begun.find('='); begun.starts_with("--") && equals != std::string::npos) {
    const po::option_description* option = option_of(begun.substr(0, equals), options);
    if (option == nullptr || !takes_value(*option)) return {};
    return complete_value(begun.substr(0, equals + 1), begun.substr(equals + 1), values_of(*option));
  }
  return begun.starts_with('-') ? option_names(begun, options) : starting_with(begun, arguments);
}

std::string to_lines(const Candidates& candidates) {
  std::string out;
  for (const Candidate& candidate : candidates.words) out += candidate.word + "\t" + candidate.meaning + "\n";
  return out + (candidates.several ? ":list\n" : "") + (candidates.files ? ":files\n" : "");
}

Candidates choices(std::string_view description) {
  constexpr std::string_view kOr = " | ";
  std::string words;
  while (true) {
    const std::size_t end = std::min(description.find(' '), description.size());
    words += (words.empty() ? "" : ",") + std::string(description.substr(0, end));
    description.remove_prefix(end);
    if (!description.starts_with(kOr)) break;
    description.remove_prefix(kOr.size());
  }
  return words.find(',') == std::string::npos ? Candidates{} : one_of(words);
}

Candidates one_of(std::string_view words) {
  Candidates out;
  for (const std::string_view word : split_text(words, ',')) out.words.push_back({std::string(word)});
  return out;
}

}  // namespace tracedb
