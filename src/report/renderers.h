// The list of output formats; only this list names them.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "report/table.h"

namespace tracedb {

// Of render_table.cc.
std::unique_ptr<TableRenderer> make_table_renderer(std::ostream& out, const RenderOptions& options);
std::unique_ptr<TableRenderer> make_markdown_renderer(std::ostream& out, const RenderOptions& options);

enum class Audience { kHuman, kMachine };

// How several tables of one run are printed: each on its own, or all in one document.
enum class Tables { kSeparate, kOneDocument };

struct Renderer {
  std::string_view name;  // --format
  std::string_view summary;
  std::string_view endings;  // of files that have this format, separated by blanks
  Audience audience;
  Tables tables;
  std::unique_ptr<TableRenderer> (*make)(std::ostream& out, const RenderOptions& options);
};

std::span<const Renderer> renderers();
const Renderer* find_renderer(std::string_view name);          // nullptr: no such format
const Renderer* find_renderer_of_file(std::string_view path);  // by the ending of its name; nullptr: not known

}  // namespace tracedb
