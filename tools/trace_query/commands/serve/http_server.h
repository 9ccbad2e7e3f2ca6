// A server of HTTP/1.1 on loopback: one thread that waits in poll(). Every question is a process (child/child.h), so
// that a slow or endless one holds nobody up; connections and questions are bounded in number, size and time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/file_descriptor.h"
#include "trace_query/child/child.h"
#include "trace_query/commands/serve/http_request.h"

namespace tracedb {

struct HttpAnswer {
  HttpStatus status = HttpStatus::ok;
  std::string body = {};
  std::string type = "text/html; charset=utf-8";
  std::string etag = {};    // in quotes; "": not to be kept
  std::string file = {};    // to be saved under this name, not shown
  bool is_lasting = false;  // never changes under its path
  int refresh_seconds = 0;  // the browser is to ask again then; 0: not
};

using Questions = std::span<const std::unique_ptr<Question>>;

// How a request is answered: at once where there are no questions.
struct HttpPlan {
  std::vector<std::vector<std::string>> questions = {};  // command lines, asked one after the other
  std::function<HttpAnswer(Questions)> answer = {};      // all have ended without fault
  bool takes_faults = false;                             // with one, too: answer() looks at it
  bool are_alternatives = false;                         // the first that ends without fault is the last one asked
  // Asked behind the answer, for later ones; arrived() gets it when it has ended. Empty: nothing.
  std::vector<std::string> later = {};
  std::function<void(const Question&)> arrived = {};
  std::string etag = {};  // a browser that has it gets no answer anew
};

class HttpPages {
 public:
  virtual ~HttpPages() = default;
  virtual HttpPlan plan(const HttpRequest& request) = 0;  // throws Error: there is no such view, and why
  virtual HttpAnswer error(HttpStatus status, std::string_view line, const HttpRequest& request) = 0;
};

inline constexpr int kQuestionSeconds = 20;  // for one

// Which view a path is, the commands that answer it, and the page that shows the answer. `perfetto`: the address of its
// page, "https://ui.perfetto.dev".
std::unique_ptr<HttpPages> trace_pages(IndexNames names, std::string perfetto);

// Until SIGINT, SIGTERM or SIGHUP; then all that runs has ended. `listeners` are bound sockets.
void serve_http(std::vector<FileDescriptor> listeners, const std::string& token, HttpPages& pages);

}  // namespace tracedb
