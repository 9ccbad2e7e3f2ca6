// The first page: all traces, those that became slower first; and series over time. Both from what `ls` and `trend`
// print as JSON. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "trace_query/commands/serve/http_request.h"

namespace tracedb {

inline constexpr std::size_t kRowsOfPage = 100;

// SQL over the columns of `ls`, where the filter is SQL; "" where it is words, which every row shown must have.
std::string catalogue_where(const std::string& filter);

std::string catalogue_html(const std::string& list, const std::string& trend, const HttpRequest& request);

std::string trend_html(const std::string& trend);

}  // namespace tracedb
