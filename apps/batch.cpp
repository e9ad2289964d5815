#include "apps/batch.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "face/heap.hpp"
#include "face/work_shares.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

/// Longest line taken, so that a stream without line ends cannot fill the memory.
constexpr std::size_t kMostLineBytes = 16'000'000;
/// Approximate limit on the bytes of answers that wait for a slower one.
constexpr std::size_t kMostEarlyBytes = 64'000'000;
/// Lines that a worker takes at a time, at most, where they are short work.
constexpr std::size_t kMostLines = 1024;
constexpr std::chrono::milliseconds kShortWork{1};  ///< for a line
constexpr std::chrono::milliseconds kLongWork{10};

struct Line {
  std::uint64_t number = 0;
  std::uint64_t ticket = 0;  ///< its number without blank lines
  std::string text;
};

std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns the beginning of an answer, which identifies its line.
std::string beginning(const LineLabel& label, std::uint64_t number) {
  std::string text = "{\"line\":" + std::to_string(number);
  if (!label.id.empty()) text += ",\"id\":" + label.id;
  if (!label.name.empty()) text += ",\"name\":" + dumped(label.name);
  return text;
}

std::string error_line(const std::string& begin, const std::string& pointer, const std::string& message) {
  const nlohmann::ordered_json error{{"pointer", pointer}, {"message", message}};
  return begin + ",\"error\":" + dumped(error) + "}\n";
}

std::string guarded(const Answer& answer, const Line& line) {
  LineLabel label;
  try {
    if (line.text.size() > kMostLineBytes) throw InputError("", "line is longer than 16000000 bytes");
    const std::string result = answer(line.text, line.number, label);
    if (result.starts_with("{\"name\":")) label.name.clear();
    return beginning(label, line.number) + (result == "{}\n" ? result.substr(1) : "," + result.substr(1));
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return error_line(beginning(label, line.number), first.pointer, first.message);
  } catch (const std::bad_alloc&) {
    return error_line(beginning(label, line.number), "", "out of memory");
  } catch (const std::exception& error) {
    return error_line(beginning(label, line.number), "", error.what());
  }
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// Returns true if nobody reads standard output any more. Only pipes and sockets tell; files are always read.
bool output_is_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

/// Reads lines of standard input and holds the read-ahead of the next one. Ends early if `stop` returns true.
class LineReader {
 public:
  explicit LineReader(std::function<bool()> stop) : stop_(std::move(stop)) {}

  /// The next line. False where there is none: without `wait` none that has come, else none at all.
  bool next(std::string& line, bool wait) {
    for (;;) {
      const char* const first = block_.data() + at_;
      const auto rest = static_cast<std::size_t>(end_ - at_);
      const void* const found = std::memchr(first, '\n', rest);
      const std::size_t bytes =
          found == nullptr ? rest : static_cast<std::size_t>(static_cast<const char*>(found) - first);
      if (begun_.size() <= kMostLineBytes) begun_.append(first, bytes);  // at most a block more
      at_ += static_cast<std::ptrdiff_t>(bytes);
      const bool whole = found != nullptr;
      if (whole) ++at_;
      if (whole || (wait && !fill() && !unreadable_ && !begun_.empty())) {
        line.clear();
        line.swap(begun_);
        return true;
      }
      if (!wait || end_ == 0) return false;
    }
  }
  [[nodiscard]] bool unreadable() const { return unreadable_; }

 private:
  /// Returns true once there is input or its end; false if the run is stopped first.
  bool wait() const {
    constexpr int kMilliseconds = 100;  // between two looks at whether to stop
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (!stop_()) {
      const int ready = ::poll(&input, 1, kMilliseconds);
      if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    }
    return false;
  }

  /// Waits for more; false at the end of the input, and where it cannot be read.
  bool fill() {
    ssize_t bytes = 0;
    if (wait()) {
      do bytes = ::read(STDIN_FILENO, block_.data(), block_.size());
      while (bytes < 0 && errno == EINTR);
    }
    unreadable_ = bytes < 0;
    at_ = 0;
    end_ = std::max<std::ptrdiff_t>(bytes, 0);
    return end_ > 0;
  }

  std::function<bool()> stop_;
  std::vector<char> block_ = std::vector<char>(1 << 18);
  std::ptrdiff_t at_ = 0;   ///< in the block: the next line
  std::ptrdiff_t end_ = 0;  ///< in the block: the end of the data
  std::string begun_;       ///< of the next line
  bool unreadable_ = false;
};

/// Hands lines to workers and their answers to standard output, in order. Neighbouring lines have much in
/// common that only one worker should make, and which the others find there later: so where many lines have
/// come, workers begin far from each other. After long work they take whatever comes next, for answers in
/// order.
class OrderedWorkQueue {
 public:
  OrderedWorkQueue(unsigned workers, const std::function<Answer()>& make_answer,
                   const ProgressReport& progress)
      : workers_(workers), make_answer_(make_answer), progress_(progress), shares_(workers) {}

  void run() {
    {
      std::vector<std::jthread> others;
      for (unsigned worker = 1; worker < workers_; ++worker)
        others.emplace_back([this, worker] {
          prepare_heap_of_thread();
          work(worker);
        });
      work(0);
    }
    if (stopped_) throw RunError("cannot write standard output");
    if (reader_.unreadable()) throw RunError("cannot read standard input");
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Answers of neighbouring lines.
  struct Answers {
    std::uint64_t ticket = 0;  ///< of the first
    std::uint64_t lines = 0;
    std::string text;
  };

  void work(unsigned worker) {
    const Answer answer = make_answer_();
    for (std::size_t most = 1; !stopped_ && (shares_.halve_largest(worker) || read(worker, most));)
      most = answer_share(answer, worker) ? kMostLines : 1;
  }

  /// Fills the share of a worker, where there is none to halve, with up to `most` lines that have come; waits
  /// for the first. False at the end of the input.
  bool read(unsigned worker, std::size_t most) {
    const std::lock_guard lock(input_);
    if (shares_.halve_largest(worker)) return true;  // the last reader has left some
    std::deque<Line> lines;
    std::string text;
    while (lines.size() < most && reader_.next(text, lines.empty())) {
      ++lines_;
      if (!is_blank(text)) lines.push_back({lines_, tickets_++, std::move(text)});
    }
    const bool any = !lines.empty();
    shares_.give(worker, std::move(lines));
    return any;
  }

  std::optional<Line> next(unsigned worker, bool took_long) {
    if (stopped_) return std::nullopt;
    return took_long ? shares_.first() : shares_.next(worker);
  }

  /// Answers a share of lines; returns true if they were short work. Answers of short work are delivered
  /// together while a short interval lasts.
  bool answer_share(const Answer& answer, unsigned worker) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point delivered = begin;
    Clock::time_point latest = begin;
    std::int64_t lines = 0;
    bool took_long = false;
    Answers answers;
    while (const std::optional<Line> line = next(worker, took_long)) {
      const bool follows = line->ticket == answers.ticket + answers.lines;
      if (answers.lines > 0 && !follows) deliver(std::exchange(answers, {}));
      if (answers.lines == 0) answers.ticket = line->ticket;
      ++answers.lines;
      answers.text += guarded(answer, *line);
      ++lines;
      const Clock::time_point now = Clock::now();
      took_long = now - std::exchange(latest, now) > kLongWork;
      if (now - delivered < kShortWork) continue;
      delivered = now;
      deliver(std::exchange(answers, {}));
    }
    if (answers.lines > 0) deliver(std::move(answers));
    return Clock::now() - begin < lines * kShortWork;
  }

  /// Answers that are early wait for those before them. The workers that made them do not, until there are
  /// too many.
  void deliver(Answers answers) {
    std::unique_lock lock(output_);
    turn_.wait(lock, [&] { return stopped_ || answers.ticket == served_ || early_bytes_ < kMostEarlyBytes; });
    if (stopped_) return;
    early_bytes_ += answers.text.size();
    early_.emplace(answers.ticket, std::move(answers));
    if (early_.begin()->first != served_) return;
    for (auto next = early_.begin(); next != early_.end() && next->first == served_;) {
      std::cout << next->second.text;
      served_ += next->second.lines;
      early_bytes_ -= next->second.text.size();
      next = early_.erase(next);
    }
    std::cout << std::flush;
    if (!std::cout) stopped_ = true;
    if (progress_) progress_(served_, 0);
    turn_.notify_all();
  }

  const unsigned workers_;
  const std::function<Answer()>& make_answer_;
  const ProgressReport& progress_;
  WorkShares<Line> shares_;
  std::mutex input_;
  std::atomic<bool> stopped_ = false;  ///< the reader of the answers is gone
  LineReader reader_{[this] {
    if (output_is_gone()) stopped_ = true;
    return stopped_.load();
  }};
  std::uint64_t lines_ = 0;
  std::uint64_t tickets_ = 0;
  std::mutex output_;
  std::condition_variable turn_;
  std::uint64_t served_ = 0;
  std::size_t early_bytes_ = 0;
  std::map<std::uint64_t, Answers> early_;  ///< by ticket
};

}  // namespace

int run_batch(unsigned threads, const std::function<Answer()>& make_answer, const ProgressReport& progress) {
  std::ios::sync_with_stdio(false);
  std::signal(SIGPIPE, SIG_IGN);  // a write fails instead
  OrderedWorkQueue(std::max(threads, 1U), make_answer, progress).run();
  return kDone;
}

}  // namespace orrery
