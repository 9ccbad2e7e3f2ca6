// The files of src/web and D3, as they were when the library was built.
#pragma once

#include <string_view>

namespace tracedb {

// Hashes are sources of a Content-Security-Policy: "sha256-...".
struct WebFiles {
  std::string_view page;  // with {{title}} and the other places that report_page.cc fills
  std::string_view style, style_hash;
  std::string_view library, library_hash;
  std::string_view script, script_hash;
  std::string_view served_style, served_script;  // of pages that a server shows, beside the others
};
const WebFiles& web_files();

}  // namespace tracedb
