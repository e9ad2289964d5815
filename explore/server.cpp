#include "explore/server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "explore/answers.hpp"
#include "explore/page.hpp"
#include "orrery/error.hpp"

namespace orrery::explore {
namespace {

constexpr std::size_t kMostQuestionBytes = 1'000'000;
constexpr int kMostSecondsToRead = 5;
constexpr const char* kJson = "application/json";

/// 128 random bits as digits.
std::string make_token() {
  std::random_device random;
  std::string token;
  for (int word = 0; word < 4; ++word) token += fmt::format("{:08x}", random());
  return token;
}

/// Compares in a time that does not tell where two texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

/// The last turn of each page: an older one needs no answer any more.
class Turns {
 public:
  void begin(const std::string& page, std::uint64_t turn) {
    const std::lock_guard lock(mutex_);
    if (latest_.size() > kMostPages) latest_.clear();
    std::uint64_t& latest = latest_[page];
    latest = std::max(latest, turn);
  }
  [[nodiscard]] bool is_stale(const std::string& page, std::uint64_t turn) {
    const std::lock_guard lock(mutex_);
    const auto found = latest_.find(page);
    return found != latest_.end() && turn < found->second;
  }

 private:
  static constexpr std::size_t kMostPages = 1000;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> latest_;
};

class ExploreServer {
 public:
  explicit ExploreServer(const ServerOptions& options)
      : options_(options), token_(make_token()), catalog_(catalog_answer(options.version)) {
    server_.set_tcp_nodelay(true);  // an answer is small and waits for nothing
    server_.set_payload_max_length(kMostQuestionBytes);
    server_.set_read_timeout(kMostSecondsToRead);
    server_.set_keep_alive_max_count(1'000'000);
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return admit(request, response);
    });
    add_routes();
  }

  void run(const std::function<void(const std::string&)>& listening) {
    const int port = options_.port != 0 && server_.bind_to_port(options_.address.c_str(), options_.port)
                         ? options_.port
                     : options_.port == 0 ? server_.bind_to_any_port(options_.address.c_str())
                                          : -1;
    if (port < 0) throw RunError(fmt::format("cannot listen on {} port {}", options_.address, options_.port));
    host_ = fmt::format("{}:{}", options_.address, port);
    other_host_ = fmt::format("localhost:{}", port);
    listening(fmt::format("http://{}/?token={}", host_, token_));
    server_.listen_after_bind();
  }

 private:
  using Answer = std::function<std::string(const Question&)>;

  /// Names of a machine that others reach cannot be known; they need the token all the same.
  [[nodiscard]] bool is_own(const std::string& host) const {
    return host == host_ || host == other_host_ || options_.address != kLoopback;
  }

  [[nodiscard]] bool is_allowed(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    if (!is_own(host)) return false;
    const std::string origin = request.get_header_value("Origin");
    if (!origin.empty() && origin != "http://" + host) return false;
    const std::string token = request.has_param("token") ? request.get_param_value("token")
                                                         : request.get_header_value("X-Orrery-Token");
    return same_secret(token, token_);
  }

  httplib::Server::HandlerResponse admit(const httplib::Request& request, httplib::Response& response) const {
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cache-Control", "no-store");
    if (is_allowed(request)) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    return httplib::Server::HandlerResponse::Handled;
  }

  /// Answers a question unless a newer one of the same page has come meanwhile.
  void answer(const std::string& route, const Answer& make) {
    server_.Post(route, [this, make](const httplib::Request& request, httplib::Response& response) {
      const std::string page = request.get_header_value("X-Orrery-Page");
      const std::uint64_t turn =
          std::strtoull(request.get_header_value("X-Orrery-Turn").c_str(), nullptr, 10);
      turns_.begin(page, turn);
      const std::lock_guard lock(work_);
      if (turns_.is_stale(page, turn)) return response.set_content("{\"stale\":true}", kJson);
      response.set_content(guarded([&] { return make(read_question(request.body)); }), kJson);
    });
  }

  static std::string guarded(const std::function<std::string()>& make) {
    try {
      return make();
    } catch (const InputError& error) {
      return errors_answer(error);
    } catch (const std::exception& error) {
      return errors_answer(InputError("", error.what()));
    }
  }

  void add_routes() {
    server_.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(explore_page(catalog_, options_.setup), "text/html");
    });
    answer("/figures", [this](const Question& question) { return figures_answer(question, simulator_); });
    answer("/variants", [this](const Question& question) { return variants_answer(question, simulator_); });
    answer("/picture", [](const Question& question) { return picture_answer(question); });
    answer("/take", [](const Question& question) { return taken_answer(question); });
    add_best();
  }

  /// The search answers with a line for its progress now and then, and its result as the last line.
  void add_best() {
    server_.Post("/best", [this](const httplib::Request& request, httplib::Response& response) {
      response.set_chunked_content_provider(
          kJson, [this, body = request.body](std::size_t, httplib::DataSink& sink) {
            const auto send = [&sink](const std::string& text) { sink.write(text.data(), text.size()); };
            send(guarded([&] {
                   return best_answer(read_question(body), options_.threads,
                                      [&send](std::size_t done, std::size_t total) {
                                        if (done % kProgressStride == 0)
                                          send(fmt::format("{{\"done\":{},\"total\":{}}}\n", done, total));
                                      });
                 }) +
                 "\n");
            sink.done();
            return true;
          });
    });
  }

  static constexpr std::size_t kProgressStride = 16;

  ServerOptions options_;
  std::string token_, host_, other_host_, catalog_;
  Turns turns_;
  std::mutex work_;  ///< one answer at a time: an older one that waits is dropped once a newer has come
  Simulator simulator_;
  httplib::Server server_;
};

}  // namespace

void serve(const ServerOptions& options, const std::function<void(const std::string&)>& listening) {
  ExploreServer(options).run(listening);
}

}  // namespace orrery::explore
