// What a browser asked for: parsed by Boost.Beast with limits of its own, then checked for who may ask. No socket here.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {

// Of answers.
struct HttpStatus {
  static constexpr int kOk = 200;
  static constexpr int kNotModified = 304;
  static constexpr int kBadRequest = 400;
  static constexpr int kForbidden = 403;
  static constexpr int kNotFound = 404;
  static constexpr int kWrongMethod = 405;
  static constexpr int kTimedOut = 408;
  static constexpr int kGone = 410;
  static constexpr int kTooLargeBody = 413;
  static constexpr int kOtherHost = 421;
  static constexpr int kTooMuch = 422;
  static constexpr int kTooLargeHeader = 431;
  static constexpr int kBusy = 503;
  static constexpr int kSlow = 504;
};

struct HttpRequest {
  bool is_head = false, is_post = false;  // else GET
  bool keeps_open = false, takes_gzip = false;
  std::string path;                                         // below the token: "t/kernels"; "" is the catalogue
  std::vector<std::pair<std::string, std::string>> params;  // of the query and of a form, decoded, in their order
  std::string etag;                                         // what the browser has of it

  [[nodiscard]] std::string param(std::string_view name) const;  // the first of the name; ""
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

inline constexpr std::size_t kMostHeaderBytes = 8192, kMostBodyBytes = 65536;

// One request, byte by byte as it comes.
class HttpParser {
 public:
  HttpParser();
  ~HttpParser();
  HttpParser(HttpParser&&) noexcept;
  HttpParser& operator=(HttpParser&&) noexcept;

  // `bytes`: all that came and was not taken yet. How many are taken: those that are not come again with more behind.
  std::size_t put(std::string_view bytes);
  [[nodiscard]] bool is_done() const;
  // The status of an answer to what is no request, or one beyond the limits; 0: none so far.
  [[nodiscard]] int refused() const { return refused_; }

  // Of a request that is_done(). The status of an answer to one that may not ask: by its Host, Origin or
  // Sec-Fetch-Site, or without the token as the first part of its path; 0: `request` is filled.
  int read(std::string_view token, HttpRequest& request) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  int refused_ = 0;
};

// "a=1&b=%2f" as pairs, decoded. False: it has a NUL, or is not as the standard says.
bool read_params(std::string_view text, std::vector<std::pair<std::string, std::string>>& params);

// A text in a query: letters, digits and - _ . / as they are, all others as %XX.
std::string url_text(std::string_view text);

}  // namespace tracedb
