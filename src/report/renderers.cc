#include "report/renderers.h"

#include <fmt/format.h>

#include <string>

namespace tracedb {
namespace {

constexpr Renderer kRenderers[] = {
    {"table", "aligned columns for a terminal", "txt", Audience::kHuman, Tables::kSeparate, make_table_renderer},
    {"csv", "RFC 4180 but for lines that end with \\n, times in ns unless --timeunit says otherwise", "csv",
     Audience::kMachine, Tables::kSeparate, make_csv_renderer},
    {"tsv", "tab-separated, never quoted", "tsv", Audience::kMachine, Tables::kSeparate, make_tsv_renderer},
    {"json", "one document with rows, units and warnings", "json", Audience::kMachine, Tables::kOneDocument,
     make_json_renderer},
    {"jsonl", "one JSON object per row and line", "jsonl ndjson", Audience::kMachine, Tables::kOneDocument,
     make_jsonl_renderer},
    {"compact", "JSON for agents: columns once, rows as lists, what is empty left out; --budget bounds its bytes", "",
     Audience::kMachine, Tables::kSeparate, make_compact_renderer},
    {"markdown", "a table for documents", "md markdown", Audience::kHuman, Tables::kSeparate, make_markdown_renderer},
};

}  // namespace

std::span<const Renderer> renderers() { return kRenderers; }

const Renderer* find_renderer(std::string_view name) {
  for (const Renderer& renderer : kRenderers) {
    if (renderer.name == name) return &renderer;
  }
  return nullptr;
}

const Renderer* find_renderer_of_file(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == path.size() || path.find('/', dot) != std::string_view::npos)
    return nullptr;
  const std::string ending = fmt::format(" {} ", path.substr(dot + 1));
  for (const Renderer& renderer : renderers()) {
    if (fmt::format(" {} ", renderer.endings).find(ending) != std::string::npos) return &renderer;
  }
  return nullptr;
}

}  // namespace tracedb
