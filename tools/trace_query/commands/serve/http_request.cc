#include "trace_query/commands/serve/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/characters.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

namespace http = boost::beast::http;
using Message = http::request<http::string_body>;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string_view only(const Message& message, http::field name) {
  return message.count(name) == 1 ? view(message[name]) : std::string_view();
}

// A tunnel changes the port, so that any may stand there; what matters is that no name of another host does, which
// somebody else's name server could lead here.
bool is_own_host(std::string_view host) {
  for (const std::string_view own : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(own)) continue;
    const std::string_view port = host.substr(own.size());
    const bool digits = port.size() > 1 && port.front() == ':' && std::ranges::all_of(port.substr(1), is_ascii_digit);
    if (port.empty() || digits) return true;
  }
  return false;
}

// As long for a right token as for a wrong one.
bool is_equal(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

bool is_plain(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_' || c == '.' || c == '/';
}

// Names of routes need no more, so that nothing can be hidden in them.
bool is_plain_path(std::string_view path) {
  return std::ranges::all_of(path, is_plain) && path.find("..") == std::string_view::npos &&
         path.find("//") == std::string_view::npos;
}

bool takes_gzip(std::string_view encodings) {
  std::string listed(encodings);
  std::erase(listed, ' ');
  const std::size_t at = listed.find("gzip");
  return at != std::string::npos && listed.compare(at, 8, "gzip;q=0") != 0;
}

// "a=1&b=%2f" as pairs, decoded. False: it has a NUL, or is not as the standard says.
bool read_params(std::string_view text, std::vector<std::pair<std::string, std::string>>& params) {
  constexpr int kHex = 16;
  const auto decode = [](std::string_view part, std::string& out) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '%') {
        out += part[i] == '+' ? ' ' : part[i];
        continue;
      }
      unsigned value = 0;
      const std::string_view digits = part.substr(i + 1, 2);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, kHex);
      if (digits.size() != 2 || read.ptr != digits.data() + 2 || value == 0) return false;
      out += static_cast<char>(value);
      i += 2;
    }
    return true;
  };
  for (const std::string_view part : split_text(text, '&')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    std::pair<std::string, std::string> one;
    if (!decode(part.substr(0, equals), one.first) ||
        !decode(part.substr(std::min(equals + 1, part.size())), one.second))
      return false;
    if (!one.first.empty() && !one.second.empty()) params.push_back(std::move(one));
  }
  return true;
}

}  // namespace

HttpParser::HttpParser() {
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(kMostBodyBytes);
  parser_->eager(true);
}

std::size_t HttpParser::put(std::string_view bytes) {
  boost::system::error_code error;
  const std::size_t taken = parser_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::header_limit ||
      (error == http::error::need_more && !parser_->is_header_done() && bytes.size() > kMostHeaderBytes)) {
    refused_ = HttpStatus::request_header_fields_too_large;
  } else if (error == http::error::body_limit) {
    refused_ = HttpStatus::payload_too_large;
  } else if (error && error != http::error::need_more) {
    refused_ = HttpStatus::bad_request;
  }
  return taken;
}

HttpStatus HttpParser::read(std::string_view token, HttpRequest& request) const {
  const Message& message = parser_->get();
  if (!is_own_host(only(message, http::field::host))) return HttpStatus::misdirected_request;
  const std::string_view origin = view(message[http::field::origin]);
  if (message.count(http::field::origin) > 1 ||
      (!origin.empty() && origin != fmt::format("http://{}", only(message, http::field::host))) ||
      view(message["Sec-Fetch-Site"]) == "cross-site")
    return HttpStatus::forbidden;
  std::string_view target = view(message.target());
  // As to a proxy: with the host, which says no more than the header.
  if (target.starts_with("http://")) target.remove_prefix(std::min(target.find('/', 7), target.size()));
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark);
  const std::size_t slash = path.find('/', 1);
  const bool has_token = !path.empty() && path.front() == '/' && slash != std::string_view::npos;
  if (!is_equal(token, has_token ? path.substr(1, slash - 1) : std::string_view()) || !is_plain_path(path))
    return HttpStatus::not_found;
  request = {};
  request.path = path.substr(slash + 1);
  request.is_head = message.method() == http::verb::head;
  request.is_post = message.method() == http::verb::post;
  if (!request.is_head && !request.is_post && message.method() != http::verb::get)
    return HttpStatus::method_not_allowed;
  request.keeps_open = message.keep_alive();
  request.takes_gzip = takes_gzip(view(message[http::field::accept_encoding]));
  request.etag = view(message[http::field::if_none_match]);
  if (mark < target.size() && !read_params(target.substr(mark + 1), request.params)) return HttpStatus::bad_request;
  if (request.is_post && !read_params(message.body(), request.params)) return HttpStatus::bad_request;
  return HttpStatus::unknown;
}

std::string HttpRequest::param(std::string_view name) const {
  const auto found = std::ranges::find(params, name, [](const auto& one) { return std::string_view(one.first); });
  return found == params.end() ? "" : found->second;
}

std::vector<std::string> HttpRequest::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : params) {
    if (key == name) out.push_back(value);
  }
  return out;
}

std::string url_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace tracedb
