// Which view a path is, the commands that answer it, and the page that shows the answer.
#pragma once

#include <string>
#include <vector>

#include "report_page/served/served_page.h"
#include "trace_query/child/index_names.h"
#include "trace_query/commands/serve/http_server.h"

namespace tracedb {

class TracePages final : public HttpPages {
 public:
  TracePages(IndexNames names, std::string perfetto) : names_(std::move(names)), perfetto_(std::move(perfetto)) {}

  HttpPlan plan(const HttpRequest& request) override;
  HttpAnswer error(HttpStatus status, std::string_view line) override;

 private:
  HttpPlan view(const HttpRequest& request, const std::string& first, const std::string& rest, const std::string& form);
  HttpPlan catalogue(const HttpRequest& request);
  HttpPlan trace(const HttpRequest& request);
  HttpPlan table(const HttpRequest& request, const std::string& report, const std::string& form);
  HttpPlan kernel(const HttpRequest& request);
  HttpPlan comparison(const HttpRequest& request, const std::string& section, const std::string& form);
  HttpPlan trend(const HttpRequest& request, const std::string& form);
  HttpPlan job(const HttpRequest& request);
  HttpPlan sql(const HttpRequest& request, const std::string& form);
  HttpPlan schema(const HttpRequest& request);
  HttpPlan manual(const std::string& command);
  HttpPlan window(const HttpRequest& request);

  // The rows of a command as a page, or as a file of that form.
  HttpPlan rows_of(std::vector<std::string> words, ServedPage frame, const HttpRequest& request,
                   const std::string& form, std::string above = "");
  // The page that a command writes with `-o`, as a view.
  HttpPlan report_of(std::vector<std::string> words, ServedPage frame, const HttpRequest& request);
  [[nodiscard]] HttpAnswer page(ServedPage frame) const;
  [[nodiscard]] std::string shown_command(const std::vector<std::string>& words) const;
  [[nodiscard]] std::vector<std::string> of_folders(const std::string& command) const;  // about all that was given
  // Links may lead to folders that were not given.
  void let_follow(std::vector<std::string>& words) const;
  static std::string link_of(const std::string& command, const HttpRequest& request);
  // Changes where an index does.
  [[nodiscard]] std::string etag_of(const HttpRequest& request) const;

  IndexNames names_;
  // What `ls` and `trend` print of indexes of this identity: the first page needs both, and asks for the second behind
  // its first answer, which takes seconds where indexes are new.
  struct Listed {
    std::string identity, list, trend;
  };
  Listed listed_;
  std::string perfetto_;  // "https://ui.perfetto.dev"
};

}  // namespace tracedb
