#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/open.h"

namespace tracedb {
namespace {

// Error{kUsage}: there is none of this name.
const Section* section_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Section& section : compare_sections()) {
    if (section.name == name) return &section;
    known.emplace_back(section.name);
  }
  throw usage_error("--section {}: no such section{}; 'compare --help' lists them", name, did_you_mean(name, known));
}

// The outcome of a gate is in all data, whichever sections are named; members of the document come first.
void add_gate(const CommandLine& line, std::vector<const Section*>& sections) {
  const auto is_gate = [](const Section* section) { return section->name == "gate"; };
  if (line.has("gate") && std::ranges::none_of(sections, is_gate)) sections.push_back(section_named("gate"));
  std::stable_partition(sections.begin(), sections.end(), [](const Section* section) { return section->member; });
}

std::vector<const Section*> requested_sections(const CommandLine& line) {
  std::vector<std::string> names = line.names("section");
  if (names.empty() && line.has("by")) {
    names.emplace_back("ledger");
    if (line.text("by") == "role") names.emplace_back("roles");
  }
  const bool everything = std::ranges::find(names, "all") != names.end();
  std::vector<const Section*> sections;
  for (const Section& section : compare_sections()) {
    if (section.name == "sentences" && line.renderer().name != "json") continue;  // people have the page
    const bool wanted = everything || (names.empty() && section.of_page);
    if (wanted && (section.name != "gate" || line.has("gate"))) sections.push_back(&section);
  }
  for (const std::string& name : everything ? std::vector<std::string>() : names) {
    sections.push_back(section_named(name));
    if (name == "gate" && !line.has("gate")) throw usage_error("--section gate needs --gate");
  }
  add_gate(line, sections);
  return sections;
}

}  // namespace

// A name may also be a GLOB, or of a kind the steps of one batch size.
void refuse_unknown_phases(const CommandLine& line) {
  for (const std::string& name : line.names("phase")) {
    if (name.find_first_of("*?[") == std::string::npos) known_phase(name.substr(0, name.find(' ')));
  }
}

Gate requested_gate(const CommandLine& line, double percent) {
  const bool fails =
      line.choice<bool>("gate-inconclusive", {{"pass", false}, {"fail", true}}, "there are pass and fail");
  return {percent, {}, fails, line.has("gate-inconclusive") && !fails};
}

std::optional<Gate> requested_gate(const CommandLine& line) {
  const auto percent = line.percent("gate");
  if (!percent) {
    line.refuse({"gate-metric", "gate-inconclusive"}, "--{} needs --gate");
    return std::nullopt;
  }
  Gate out = requested_gate(line, *percent);
  out.metric = line.choice<std::optional<StepMetric>>("gate-metric",
                                                      {{"worse", std::nullopt},
                                                       {"span", StepMetric::kSpan},
                                                       {"busy", StepMetric::kBusy},
                                                       {"period", StepMetric::kPeriod},
                                                       {"kernel_time", StepMetric::kKernelTime}},
                                                      "use worse, span, busy, period and kernel_time");
  return out;
}

void add_gate_options(CommandLine& line) {
  line.add("gate", "exit 1 if the candidate is significantly slower by more than this many percent: 5, 5%");
  line.add("gate-inconclusive",
           "what --gate does where there is too little to judge by: pass (default) or fail; where nothing at all could "
           "have a verdict (other load, two kinds of steps, overlap) it fails unless pass is written out");
  line.add("gate-metric",
           "metric that --gate judges: the worse of period and span (worse, the default), or one of span, busy, period "
           "and kernel_time of a step; of sets of runs the worse of period and period-at-equal-speed, or one of them");
}

std::size_t traces_of_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? find_inputs(std::vector{path}, std::nullopt).size() : 0;
}

std::optional<std::uint32_t> requested_step(const CommandLine& line) {
  const auto text = line.text("step");
  if (!text) return std::nullopt;
  const auto step = parse_int64(*text);
  if (!step || *step < 0 || *step > INT32_MAX) throw usage_error("--step {}: give the number of a step", *text);
  line.refuse({"gate", "baseline-file", "save-baseline"}, "compare: --{} does not go with --step");
  if (line.inputs().size() != 1) {
    throw usage_error("compare: --step compares a step of one trace with the others of that trace");
  }
  return static_cast<std::uint32_t>(*step);
}

CompareRequest parse_compare_request(const CommandLine& line) {
  CompareRequest out;
  out.options.step = requested_step(line);
  if (line.knows("section")) {
    out.sections = requested_sections(line);
    const bool human = line.for_people();
    out.page = human && !line.has("section") && !line.has("by") && !line.has("sort") && !line.has("columns");
  } else {
    out.sections = {section_named(line.command().name == "align" ? "alignment" : line.command().name)};
  }
  out.options.normalise = line.choice<Normalise>(
      "normalise", {{"step", Normalise::kStep}, {"token", Normalise::kToken}, {"none", Normalise::kNone}},
      "there are step, token and none");
  out.options.phase = line.text("phase");
  refuse_unknown_phases(line);
  out.options.different_work = line.has("allow-different-work");
  out.ledger_by = line.choice<LedgerBy>("by",
                                        {{"op", LedgerBy::kOp},
                                         {"class", LedgerBy::kOp},
                                         {"layer", LedgerBy::kLayer},
                                         {"layer,op", LedgerBy::kLayerOp},
                                         {"kernel", LedgerBy::kKernel},
                                         {"role", LedgerBy::kRole},
                                         {"layer,role", LedgerBy::kLayerRole}},
                                        "there are op, class, role, layer, 'layer,op', 'layer,role' and kernel");
  out.options.plain_classes = line.text("by") == "class";
  if (const auto percent = line.percent("min-confidence", 0, 100, ", 0 to 100"))
    out.options.least_confidence = *percent / 100;
  out.gate = requested_gate(line);
  if (out.gate) out.options.least_change = out.gate->percent / 100;
  const auto of_layers = [](const Section* section) { return section->name == "layers"; };
  out.options.layer_changes = (!out.page || line.page()) && std::ranges::any_of(out.sections, of_layers);
  const bool arranged = line.has("sort") || line.has("columns");
  const auto tables =
      std::ranges::count_if(out.sections, [](const Section* section) { return section->name != "gate"; });
  if (arranged && tables > 1) throw usage_error("--sort and --columns are about one table: name it with --section");
  return out;
}

}  // namespace tracedb
