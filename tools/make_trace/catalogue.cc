// The kernels of kernels.tsv.
#include <map>

#include "base/text/split.h"
#include "make_trace/model.h"

namespace tracedb {
namespace {

std::string written_out(std::string_view name, const std::map<char, std::string_view>& short_for) {
  std::string out;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '$') {
      out += short_for.at(name[++at]);
    } else {
      out += name[at];
    }
  }
  return out;
}

std::vector<KernelKind> read_catalogue() {
  std::vector<KernelKind> all;
  std::map<char, std::string_view> short_for;
  for (const std::string_view line : split_lines(kernels_table())) {
    if (line.starts_with('#')) continue;
    std::vector<std::string_view> cells = split_text(line, '\t');
    if (line.starts_with('$')) {
      short_for[line[1]] = cells[1];
      continue;
    }
    cells.resize(9);
    const auto number = [&](std::size_t i) { return std::stoll(std::string(cells[i])); };
    KernelKind& kind =
        all.emplace_back(KernelKind{cells[0], cells[1], cells[2], number(3), number(4), number(5), cells[8], {}});
    for (const std::size_t vendor : {std::size_t{0}, std::size_t{1}}) {
      const std::string_view own = cells[6 + vendor], name = own == "-" ? "" : own.empty() ? cells[6] : own;
      const auto bar = name.find('|');
      kind.names[vendor] = {written_out(name.substr(0, bar), short_for),
                            written_out(name.substr(bar == name.npos ? 0 : bar + 1), short_for)};
    }
    for (const KernelKind& other : all) {
      if (cells[6].starts_with('=') && cells[6].substr(1) == other.role) kind.names = other.names;
    }
  }
  return all;
}

}  // namespace

std::span<const KernelKind> kernel_catalogue() {
  static const std::vector<KernelKind> kAll = read_catalogue();
  return kAll;
}

const KernelKind* find_kernel(std::string_view role) {
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.role == role) return &kind;
  }
  return nullptr;
}

}  // namespace tracedb
