// What a browser asked for: parsed by Boost.Beast with limits of its own, then checked for who may ask. No socket here.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {

using HttpStatus = boost::beast::http::status;  // of answers

struct HttpRequest {
  bool is_head = false, is_post = false;  // else GET
  bool keeps_open = false, takes_gzip = false;
  std::string path;                                         // below the token: "t/kernels"; "" is the catalogue
  std::vector<std::pair<std::string, std::string>> params;  // of the query and of a form, decoded, in their order
  std::string etag;                                         // what the browser has of it: a list, weak or not

  [[nodiscard]] std::string param(std::string_view name) const;  // the first of the name; ""
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

inline constexpr std::size_t kMostHeaderBytes = 8192, kMostBodyBytes = 65536;

// One request, byte by byte as it comes.
class HttpParser {
 public:
  HttpParser();

  // `bytes`: all that came and was not taken yet. How many are taken: those that are not come again with more behind.
  std::size_t put(std::string_view bytes);
  [[nodiscard]] bool is_done() const { return parser_->is_done(); }
  // The status of an answer to what is no request, or one beyond the limits; unknown: none so far.
  [[nodiscard]] HttpStatus refused() const { return refused_; }

  // Of a request that is_done(). The status of an answer to one that may not ask: by its Host, Origin or
  // Sec-Fetch-Site, or without the token as the first part of its path; unknown: `request` is filled.
  HttpStatus read(std::string_view token, HttpRequest& request) const;

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  std::unique_ptr<Parser> parser_ = std::make_unique<Parser>();  // which cannot be moved
  HttpStatus refused_ = HttpStatus::unknown;
};

// A text in a query: letters, digits and - _ . / as they are, all others as %XX.
std::string url_text(std::string_view text);

}  // namespace tracedb
