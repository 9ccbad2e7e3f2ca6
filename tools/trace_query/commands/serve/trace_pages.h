// Which view a path is, the commands that answer it, and the page that shows the answer.
#pragma once

#include <memory>
#include <string>

#include "trace_query/child/child.h"
#include "trace_query/commands/serve/http_server.h"

namespace tracedb {

// `perfetto`: the address of its page, "https://ui.perfetto.dev".
std::unique_ptr<HttpPages> trace_pages(IndexNames names, std::string perfetto);

}  // namespace tracedb
