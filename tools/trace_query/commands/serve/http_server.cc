#include "trace_query/commands/serve/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/failure.h"

namespace tracedb {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostConnections = 64, kMostWaiting = 32, kMostProcesses = 4;
constexpr std::chrono::seconds kRequestTime{5}, kWriteTime{30}, kIdleTime{30};
constexpr std::chrono::seconds kGrace{1};  // for a process to end by its own limit

// Scripts and styles of this server alone, none in the page; nothing else is asked, and no other page sees this one.
constexpr std::string_view kGuards =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin-allow-popups\r\n";  // Perfetto's page is asked from here

std::string gzip(const std::string& text) {
  constexpr int kGzipWindow = 15 + 16, kMemory = 8;
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string out(::deflateBound(&stream, text.size()), '\0');
  // zlib does not write into its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return out;
}

std::string message_of(HttpAnswer answer, const HttpRequest& request, bool keeps_open) {
  constexpr std::size_t kLeastPacked = 1000;
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n{}", static_cast<unsigned>(answer.status),
                                 std::string(boost::beast::http::obsolete_reason(answer.status)), kGuards);
  if (!answer.type.empty()) head += fmt::format("Content-Type: {}\r\n", answer.type);
  if (!answer.etag.empty()) head += fmt::format("ETag: {}\r\n", answer.etag);
  if (!answer.file.empty()) head += fmt::format("Content-Disposition: attachment; filename=\"{}\"\r\n", answer.file);
  if (answer.refresh_seconds > 0) head += fmt::format("Refresh: {}\r\n", answer.refresh_seconds);
  if (answer.status == HttpStatus::service_unavailable) head += "Retry-After: 2\r\n";
  head += answer.is_lasting     ? "Cache-Control: private, max-age=31536000, immutable\r\n"
          : answer.etag.empty() ? "Cache-Control: no-store\r\n"
                                : "Cache-Control: private, no-cache\r\n";
  if (request.takes_gzip && answer.body.size() >= kLeastPacked) {
    if (std::string packed = gzip(answer.body); !packed.empty()) {
      answer.body = std::move(packed);
      head += "Content-Encoding: gzip\r\n";
    }
  }
  head += "Vary: Accept-Encoding\r\n";
  if (answer.status != HttpStatus::not_modified) head += fmt::format("Content-Length: {}\r\n", answer.body.size());
  head += fmt::format("Connection: {}\r\n\r\n", keeps_open ? "keep-alive" : "close");
  return request.is_head || answer.status == HttpStatus::not_modified ? head : head + answer.body;
}

struct Connection {
  // kDraining: answered, and closed as soon as nothing more comes; closed at once, the answer might not arrive.
  enum class State { kIdle, kReading, kWaiting, kAsking, kWriting, kDraining, kClosed };

  FileDescriptor socket;
  State state = State::kIdle;
  SteadyClock::time_point deadline = SteadyClock::now() + kIdleTime;
  std::string input = {};  // that came and belongs to no request yet
  HttpParser parser = {};
  HttpRequest request = {};
  HttpPlan plan = {};
  std::vector<std::unique_ptr<Question>> questions = {};
  std::string output = {};
  std::size_t written = 0;
  bool keeps_open = false;
};

class HttpServer {
 public:
  HttpServer(std::vector<FileDescriptor> listeners, const std::string& token, HttpPages& pages)
      : listeners_(std::move(listeners)), token_(token), pages_(pages) {
    const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1U);
    processes_ = std::min(cores, kMostProcesses);
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
    signals_ = FileDescriptor(::signalfd(-1, &ending, SFD_CLOEXEC));
    if (!signals_.is_open()) throw Error(ErrorCode::kResource, "serve: cannot wait for signals");
  }

  void run() {
    while (wait()) {
      for (Connection& one : connections_) {
        if (catch_error([&] { step(one); })) one.state = Connection::State::kClosed;
      }
      if (later_ && later_->read()) {
        const auto arrived = std::exchange(arrived_, {});
        arrived(*later_);
        later_.reset();
      }
      std::erase_if(connections_, [](const Connection& one) { return one.state == Connection::State::kClosed; });
      ask_waiting();
    }
  }

 private:
  using State = Connection::State;

  static short wanted_of(State state) {
    const bool reads = state == State::kIdle || state == State::kReading || state == State::kDraining;
    return reads ? POLLIN : state == State::kWriting ? POLLOUT : POLLRDHUP;
  }

  [[nodiscard]] int milliseconds_left() const {
    SteadyClock::time_point next = SteadyClock::now() + std::chrono::seconds(3600);
    for (const Connection& one : connections_) next = std::min(next, one.deadline);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - SteadyClock::now()).count() + 1;
    return static_cast<int>(std::max<long long>(left, 0));
  }

  // Until something can go on. False: the end was asked for.
  bool wait() {
    std::vector<pollfd> all = {{signals_.get(), POLLIN, 0}};
    for (const FileDescriptor& one : listeners_) all.push_back({one.get(), POLLIN, 0});
    const std::size_t connections = all.size();
    for (const Connection& one : connections_) all.push_back({one.socket.get(), wanted_of(one.state), 0});
    for (const Connection& one : connections_) {
      for (const auto& question : one.questions) question->add_outputs(all);
    }
    if (later_) later_->add_outputs(all);
    if (::poll(all.data(), all.size(), milliseconds_left()) < 0 && errno != EINTR)
      throw Error(ErrorCode::kResource, "serve: cannot wait for connections");
    if (all.front().revents != 0) return false;
    std::size_t place = connections;
    for (Connection& one : connections_) {
      // Who closes does not want the answer any more: its process ends at once.
      const bool asks = one.state == State::kWaiting || one.state == State::kAsking;
      const bool closed = (all[place++].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
      if (asks && closed) one.state = State::kClosed;
    }
    for (std::size_t i = 0; i < listeners_.size(); ++i) {
      if (all[1 + i].revents != 0) accept(listeners_[i]);
    }
    return true;
  }

  void accept(const FileDescriptor& listener) {
    if (!spare_.is_open()) spare_ = spare();
    for (;;) {
      FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      // Turned away: else it would wake us for ever.
      if (!socket.is_open() && (errno == EMFILE || errno == ENFILE) && spare_.is_open()) {
        spare_ = {};
        socket = FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        const bool was_there = socket.is_open();
        socket = {};
        spare_ = spare();
        if (was_there) continue;
      }
      if (!socket.is_open()) return;
      if (connections_.size() >= kMostConnections) {  // who has waited longest without a request makes room
        const auto idle = std::ranges::find(connections_, State::kIdle, &Connection::state);
        if (idle != connections_.end()) connections_.erase(idle);
      }
      Connection& one = connections_.emplace_back(Connection{.socket = std::move(socket)});
      if (connections_.size() > kMostConnections) refuse(one, HttpStatus::service_unavailable, "too many connections");
    }
  }

  static FileDescriptor spare() { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  void step(Connection& one) {
    if (one.state == State::kIdle || one.state == State::kReading || one.state == State::kDraining) read(one);
    if (one.state == State::kAsking) collect(one);
    if (one.state == State::kWriting) write(one);
    if (one.deadline > SteadyClock::now() || one.state == State::kClosed) return;
    if (one.state == State::kReading) {
      refuse(one, HttpStatus::request_timeout, "the request took too long");
    } else if (one.state == State::kAsking) {
      refuse(one, HttpStatus::gateway_timeout,
             fmt::format("it takes longer than {} s: narrow the question", kQuestionSeconds));
    } else if (one.state != State::kWaiting) {
      one.state = State::kClosed;
    }
  }

  void read(Connection& one) {
    std::array<char, 16384> bytes;
    const ssize_t got = ::recv(one.socket.get(), bytes.data(), bytes.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      one.state = State::kClosed;
      return;
    }
    if (one.state == State::kDraining) return;
    if (got > 0) one.input.append(bytes.data(), static_cast<std::size_t>(got));
    if (!one.input.empty()) parse(one);
  }

  void parse(Connection& one) {
    if (one.state == State::kIdle) {
      one.state = State::kReading;
      one.deadline = SteadyClock::now() + kRequestTime;
    }
    one.input.erase(0, one.parser.put(one.input));
    if (one.parser.refused() != HttpStatus::unknown)
      return refuse(one, one.parser.refused(), "no request, or too large a one");
    if (!one.parser.is_done()) return;
    const HttpStatus refused = one.parser.read(token_, one.request);
    if (refused != HttpStatus::unknown) return refuse(one, refused, "");
    one.keeps_open = one.request.keeps_open;
    if (const auto failure = catch_error([&] { one.plan = pages_.plan(one.request); }))
      return answer(one, pages_.error(failure->code() == ErrorCode::kResource ? HttpStatus::service_unavailable
                                                                              : HttpStatus::not_found,
                                      failure->what(), one.request));
    if (!one.plan.etag.empty() && one.request.etag.find(one.plan.etag) != std::string::npos)
      return answer(one, {.status = HttpStatus::not_modified, .type = "", .etag = one.plan.etag});
    if (one.plan.questions.empty()) {
      HttpAnswer made = one.plan.answer({});
      made.etag = one.plan.etag;
      return answer(one, std::move(made));
    }
    const auto waiting = std::ranges::count(connections_, State::kWaiting, &Connection::state);
    if (static_cast<std::size_t>(waiting) >= kMostWaiting)
      return refuse(one, HttpStatus::service_unavailable, "too many questions at once");
    one.state = State::kWaiting;
    one.deadline = SteadyClock::time_point::max();  // those before it have ends of their own
  }

  // As many processes as may run; who asked first comes first.
  void ask_waiting() {
    auto running = static_cast<std::size_t>(std::ranges::count(connections_, State::kAsking, &Connection::state));
    while (running < processes_) {
      const auto next = std::ranges::find(connections_, State::kWaiting, &Connection::state);
      if (next == connections_.end()) return;
      ask(*next);
      // The queue is by time of the question, the list by that of the connection.
      connections_.splice(connections_.end(), connections_, next);
      ++running;
    }
  }

  // The next question of its plan.
  void ask(Connection& one) {
    one.state = State::kAsking;
    one.deadline = SteadyClock::now() + std::chrono::seconds(kQuestionSeconds) + kGrace;
    const auto failure = catch_error(
        [&] { one.questions.push_back(std::make_unique<Question>(one.plan.questions[one.questions.size()])); });
    if (failure) refuse(one, HttpStatus::service_unavailable, failure->what());
  }

  void collect(Connection& one) {
    const Question& last = *one.questions.back();
    if (!one.questions.back()->read()) return;
    const bool is_fine = last.has_answer() || one.plan.takes_faults;
    const bool goes_on = one.plan.are_alternatives ? !is_fine : is_fine;
    if (goes_on && one.questions.size() < one.plan.questions.size()) return ask(one);
    if (is_fine) {
      HttpAnswer made = one.plan.answer(one.questions);
      if (made.etag.empty() && made.status == HttpStatus::ok) made.etag = one.plan.etag;
      return answer(one, std::move(made));
    }
    const bool slow = one.deadline - kGrace - kGrace < SteadyClock::now();
    const auto code = static_cast<ErrorCode>(last.exit_code());
    answer(one, pages_.error(slow                        ? HttpStatus::gateway_timeout
                             : code == ErrorCode::kUsage ? HttpStatus::bad_request
                             : code == ErrorCode::kInput ? HttpStatus::gone
                                                         : HttpStatus::unprocessable_entity,
                             last.message(), one.request));
  }

  // Closes afterwards: what follows cannot be understood, or should not be.
  void refuse(Connection& one, HttpStatus status, std::string_view line) {
    one.keeps_open = false;
    answer(one,
           line.empty() ? HttpAnswer{.status = status, .type = "text/plain"} : pages_.error(status, line, one.request));
  }

  void answer(Connection& one, HttpAnswer answer) {
    one.output = message_of(std::move(answer), one.request, one.keeps_open);
    one.questions.clear();
    const HttpPlan plan = std::exchange(one.plan, {});
    one.state = State::kWriting;
    one.deadline = SteadyClock::now() + kWriteTime;
    write(one);
    if (plan.later.empty() || later_) return;
    // Without a process for it, the next page asks again.
    static_cast<void>(catch_error([&] {
      later_ = std::make_unique<Question>(plan.later);
      arrived_ = plan.arrived;
    }));
  }

  void write(Connection& one) {
    const std::string_view rest = std::string_view(one.output).substr(one.written);
    const ssize_t sent = ::send(one.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      one.state = State::kClosed;
      return;
    }
    if (sent > 0) one.written += static_cast<std::size_t>(sent);
    if (one.written < one.output.size()) return;
    if (!one.keeps_open) {
      ::shutdown(one.socket.get(), SHUT_WR);
      one.state = State::kDraining;
      one.deadline = SteadyClock::now() + kGrace;
      one.output.clear();
      return;
    }
    std::string rest_of_input = std::move(one.input);
    one = Connection{.socket = std::move(one.socket)};
    one.input = std::move(rest_of_input);
    if (!one.input.empty()) parse(one);
  }

  std::vector<FileDescriptor> listeners_;
  const std::string& token_;
  HttpPages& pages_;
  FileDescriptor signals_, spare_ = spare();  // spare: of a number that a connection may take where none is left
  std::size_t processes_ = 1;
  std::list<Connection> connections_;
  std::unique_ptr<Question> later_;  // beside those of connections, one at a time
  std::function<void(const Question&)> arrived_;
};

}  // namespace

void serve_http(std::vector<FileDescriptor> listeners, const std::string& token, HttpPages& pages) {
  HttpServer(std::move(listeners), token, pages).run();
}

}  // namespace tracedb
