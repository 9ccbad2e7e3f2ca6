#include "report/renderers.h"

namespace tracedb {
namespace {

constexpr Renderer kRenderers[] = {
    {"table", "aligned columns for a terminal", Audience::kHuman, Tables::kSeparate, make_table_renderer},
    {"csv", "RFC 4180, times in ns unless --timeunit says otherwise", Audience::kMachine, Tables::kSeparate,
     make_csv_renderer},
    {"tsv", "tab-separated, never quoted", Audience::kMachine, Tables::kSeparate, make_tsv_renderer},
    {"json", "one document with rows, units and warnings", Audience::kMachine, Tables::kOneDocument,
     make_json_renderer},
    {"jsonl", "one JSON object per row and line", Audience::kMachine, Tables::kOneDocument, make_jsonl_renderer},
    {"markdown", "a table for documents", Audience::kHuman, Tables::kSeparate, make_markdown_renderer},
};

}  // namespace

std::span<const Renderer> renderers() { return kRenderers; }

const Renderer* find_renderer(std::string_view name) {
  for (const Renderer& renderer : kRenderers) {
    if (renderer.name == name) return &renderer;
  }
  return nullptr;
}

}  // namespace tracedb
