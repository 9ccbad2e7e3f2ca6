// Pages as a server shows them: style and scripts are files of their own, other views are links. Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct PageLink {
  std::string text, to;  // to: relative; "": where the reader is
};

struct ServedPage {
  std::string title;
  std::string root;                   // how to get back to the first page: "./", "../"
  std::vector<PageLink> crumbs = {};  // from the first page to this one
  std::vector<PageLink> files = {};   // the same as a file
  std::string command = {};           // that prints the same
  std::string body;                   // HTML
};
std::string served_page(const ServedPage& page);

// A page of one file (report_page.h) as a part of `frame`, whose body it becomes. `link_of` has where a command below a
// sentence leads to; "": nowhere, it stays a text.
std::string served_report(std::string_view whole, ServedPage frame,
                          const std::function<std::string(const std::string& command)>& link_of);

// A file that pages name; nullopt: there is none of that name.
struct ServedFile {
  std::string_view text, type;
};
std::optional<ServedFile> served_file(std::string_view name);

std::string html_link(const PageLink& link);
// Of values in their order, unknown ones left out; "" for fewer than two.
std::string sparkline(std::span<const double> values);

}  // namespace tracedb
