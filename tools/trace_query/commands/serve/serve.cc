// `trace-query serve`: sockets on loopback, and the token that its addresses begin with.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/scope_exit.h"
#include "trace_query/command.h"
#include "trace_query/commands/serve/http_server.h"
#include "trace_query/options.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTokenBytes = 16;
constexpr int kBacklog = 128;

std::string new_token() {
  std::array<unsigned char, kTokenBytes> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorCode::kResource, "serve: no random numbers for a token");
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

// Written for nobody else; a file that is there already is not written over.
void write_private(const fs::path& path, const std::string& text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open() || !file.write(std::as_bytes(std::span(text))))
    throw Error(ErrorCode::kResource,
                fmt::format("{}: cannot be written: {}", printable_path(path.string()), std::strerror(errno)));
}

// Of a file, so that an address stays the same; made where there is none.
std::string token_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    std::string token = new_token();
    write_private(path, token + "\n");
    return token;
  }
  if ((status.st_mode & 077U) != 0)
    throw Error(ErrorCode::kUsage, printable_path(path.string()) + ": others can read it: chmod 600");
  std::string token;
  std::ifstream(path) >> token;
  const bool is_hex = std::ranges::all_of(token, [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (token.size() != 2 * kTokenBytes || !is_hex)
    throw Error(ErrorCode::kUsage, printable_path(path.string()) + ": not a token of 32 hexadecimal digits");
  return token;
}

FileDescriptor bound(int family, const sockaddr* address, socklen_t bytes) {
  FileDescriptor out(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (family != AF_UNIX) ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(out.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (!out.is_open() || ::bind(out.get(), address, bytes) != 0 || ::listen(out.get(), kBacklog) != 0) return {};
  return out;
}

// 127.0.0.1, and ::1 where there is one; 0: a free port. The port.
std::uint16_t listen_on(std::uint16_t port, std::vector<FileDescriptor>& listeners) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  FileDescriptor first = bound(AF_INET, reinterpret_cast<const sockaddr*>(&four), sizeof four);
  if (!first.is_open())
    throw Error(ErrorCode::kResource,
                fmt::format("port {}: {}; choose another one with --port", port, std::strerror(errno)));
  socklen_t bytes = sizeof four;
  ::getsockname(first.get(), reinterpret_cast<sockaddr*>(&four), &bytes);
  listeners.push_back(std::move(first));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = four.sin_port;
  six.sin6_addr = in6addr_loopback;
  if (FileDescriptor second = bound(AF_INET6, reinterpret_cast<const sockaddr*>(&six), sizeof six); second.is_open())
    listeners.push_back(std::move(second));
  return ntohs(four.sin_port);
}

// A socket in the file system that only its owner can open.
FileDescriptor listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw usage_error("--socket: at most 107 bytes of path");
  std::ranges::copy(path, std::begin(address.sun_path));
  const mode_t before = ::umask(0177);
  FileDescriptor out = bound(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int failure = errno;
  ::umask(before);
  if (out.is_open()) return out;
  const char* const advice = fs::is_socket(path) ? "; where no server uses it any more, remove it" : "";
  throw Error(ErrorCode::kResource, fmt::format("{}: {}{}", printable_path(path), std::strerror(failure), advice));
}

// By a page that leads there: arguments of processes can be read by everyone, and a browser's would hold the token.
// Returns the file of the page.
fs::path open_in_browser(const std::string& address) {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const fs::path page = fs::path(runtime != nullptr ? runtime : "/tmp") / fmt::format("tracedb-{}.html", new_token());
  write_private(page, fmt::format("<!DOCTYPE html><meta charset=\"utf-8\"><title>tracedb</title>"
                                  "<meta http-equiv=\"refresh\" content=\"0; url={0}\"><a href=\"{0}\">traces</a>\n",
                                  address));
  const pid_t browser = ::fork();
  if (browser == 0) {
    ::execlp("xdg-open", "xdg-open", page.c_str(), nullptr);
    ::_exit(1);
  }
  return page;
}

int run_serve(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kServer});
  line.find_inputs_later();
  line.add("port", "of 127.0.0.1 and ::1 (default: a free one)");
  line.add("socket", "a socket of this name instead, which only you can open: ssh -L 8000:FILE HOST");
  line.add("token-file", "the token of its addresses is in this file; made where there is none");
  line.add("perfetto", "your own copy of Perfetto (default: https://ui.perfetto.dev)");
  line.add("open", OptionKind::kFlag, "open it in the browser");
  line.add("follow", OptionKind::kFlag, "also indexes that links lead to outside the folders");
  if (!line.parse(args)) return 0;
  const std::vector<std::string>& given = line.positional();
  if (given.empty()) throw usage_error("serve: name a folder of indexes");
  constexpr std::int64_t kMostPort = 65535;
  const std::int64_t port = line.number("port").value_or(0);
  if (port < 0 || port > kMostPort) throw usage_error("--port: 1 to 65535");
  const std::string perfetto = line.text("perfetto").value_or("https://ui.perfetto.dev");
  if (!perfetto.starts_with("https://") && !perfetto.starts_with("http://"))
    throw usage_error("--perfetto: an address that begins with https:// or http://");

  IndexNames names(given, line.has("follow"));
  const auto token_file = line.text("token-file");
  const std::string token = token_file ? token_of(*token_file) : new_token();
  std::vector<FileDescriptor> listeners;
  std::vector<fs::path> made;
  const ScopeExit removed([&] {
    for (const fs::path& path : made) ::unlink(path.c_str());
  });
  std::string address;
  if (const auto file = line.text("socket")) {
    if (line.has("port")) throw usage_error("--socket has no --port");
    listeners.push_back(listen_at(*file));
    made.emplace_back(*file);
    address = fmt::format("http://localhost/{}/", token);
  } else {
    address = fmt::format("http://127.0.0.1:{}/{}/", listen_on(static_cast<std::uint16_t>(port), listeners), token);
  }
  std::cout << address << '\n' << std::flush;
  if (line.has("open")) made.push_back(open_in_browser(address));
  serve_http(std::move(listeners), token, *trace_pages(std::move(names), perfetto));
  return 0;
}

}  // namespace

Command serve_command() {
  return {"serve", "a page over all traces of a folder, for your browser alone",
          "serve [--port N] [--socket FILE] [--open] FOLDER|INDEX...",
          "  trace-query serve profiles/\n"
          "  trace-query serve --port 8123 --token-file ~/.tracedb-token profiles/",
          run_serve};
}

}  // namespace tracedb
