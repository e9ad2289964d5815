#include "apps/batch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "apps/commands.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

/// Longest line taken, so that a stream without line ends cannot fill the memory.
constexpr std::size_t kMostLineBytes = 16'000'000;
/// Answers that wait for a slow one, at most.
constexpr std::uint64_t kMostEarly = 256;
/// Lines that a worker takes at a time, at most, where they are short work.
constexpr std::size_t kMostLines = 16;

std::string error_line(const std::string& pointer, const std::string& message) {
  const nlohmann::ordered_json error{{"error", {{"pointer", pointer}, {"message", message}}}};
  return error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string guarded(const Answer& answer, const std::string& line, std::uint64_t number) {
  if (line.size() > kMostLineBytes) return error_line("", "line is longer than 16000000 bytes");
  try {
    return answer(line, number);
  } catch (const InputError& error) {
    const Problem& first = error.problems().front();
    return error_line(first.pointer, first.message);
  } catch (const std::bad_alloc&) {
    return error_line("", "out of memory");
  } catch (const std::exception& error) {
    return error_line("", error.what());
  }
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// Lines of standard input, and what has come of the next one.
class LineReader {
 public:
  /// The next line. False where there is none: without `wait` none that has come, else none at all.
  bool next(std::string& line, bool wait) {
    for (;;) {
      const auto first = block_.begin() + at_;
      const auto last = block_.begin() + end_;
      const auto stop = std::find(first, last, '\n');
      if (begun_.size() <= kMostLineBytes) begun_.append(first, stop);  // at most a block more
      at_ = stop - block_.begin();
      const bool whole = stop != last;
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
  /// Waits for more; false at the end of the input, and where it cannot be read.
  bool fill() {
    ssize_t bytes = 0;
    do bytes = ::read(STDIN_FILENO, block_.data(), block_.size());
    while (bytes < 0 && errno == EINTR);
    unreadable_ = bytes < 0;
    at_ = 0;
    end_ = std::max<std::ptrdiff_t>(bytes, 0);
    return end_ > 0;
  }

  std::vector<char> block_ = std::vector<char>(1 << 16);
  std::ptrdiff_t at_ = 0;   ///< in the block: what comes next
  std::ptrdiff_t end_ = 0;  ///< in the block: of what was read
  std::string begun_;       ///< of the next line
  bool unreadable_ = false;
};

/// Hands lines to workers and their answers to standard output, in order.
class Conveyor {
 public:
  explicit Conveyor(const std::function<Answer()>& make_answer) : make_answer_(make_answer) {}

  void run(unsigned threads) {
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
      work();
    }
    if (reader_.unreadable()) throw RunError("cannot read standard input");
  }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::string text;
  };
  /// Answers of neighbouring lines, the first of which has a ticket.
  struct Answers {
    std::uint64_t lines = 0;
    std::string text;
  };

  void work() {
    const Answer answer = make_answer_();
    std::vector<Line> lines;
    for (std::size_t most = 1;;) {
      std::uint64_t ticket = 0;
      {
        const std::lock_guard lock(input_);
        if (!take_lines(most, lines)) return;
        ticket = tickets_;
        tickets_ += lines.size();
      }
      most = answer_all(answer, lines, ticket) ? std::min(2 * most, kMostLines) : 1;
    }
  }

  /// Up to `most` that have come; waits for the first. False at the end of the input.
  bool take_lines(std::size_t most, std::vector<Line>& lines) {
    lines.clear();
    std::string text;
    while (lines.size() < most && reader_.next(text, lines.empty())) {
      ++lines_;
      if (!is_blank(text)) lines.push_back({lines_, std::move(text)});
    }
    return !lines.empty();
  }

  /// Whether that took a short time. For as long answers are delivered together.
  bool answer_all(const Answer& answer, const std::vector<Line>& lines, std::uint64_t ticket) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kShort{1};
    const Clock::time_point begin = Clock::now();
    Clock::time_point delivered = begin;
    Answers answers;
    for (const Line& line : lines) {
      answers.text += guarded(answer, line.text, line.number);
      ++answers.lines;
      const Clock::time_point now = Clock::now();
      if (&line != &lines.back() && now - delivered < kShort) continue;
      delivered = now;
      const std::uint64_t first = std::exchange(ticket, ticket + answers.lines);
      deliver(first, std::exchange(answers, {}));
    }
    return Clock::now() - begin < kShort;
  }

  /// Answers that are early wait for those before them. The workers that made them do not, until kMostEarly
  /// lie between their answer and the next to be written.
  void deliver(std::uint64_t ticket, Answers answers) {
    std::unique_lock lock(output_);
    turn_.wait(lock, [&] { return ticket < served_ + kMostEarly; });
    early_.emplace(ticket, std::move(answers));
    if (early_.begin()->first != served_) return;
    for (auto next = early_.begin(); next != early_.end() && next->first == served_;) {
      std::cout << next->second.text;
      served_ += next->second.lines;
      next = early_.erase(next);
    }
    std::cout << std::flush;
    turn_.notify_all();
  }

  const std::function<Answer()>& make_answer_;
  std::mutex input_;
  std::mutex output_;
  std::condition_variable turn_;
  LineReader reader_;
  std::uint64_t lines_ = 0;
  std::uint64_t tickets_ = 0;  ///< of lines that are not blank
  std::uint64_t served_ = 0;
  std::map<std::uint64_t, Answers> early_;  ///< by ticket
};

}  // namespace

int run_batch(unsigned threads, const std::function<Answer()>& make_answer) {
  std::ios::sync_with_stdio(false);
  Conveyor(make_answer).run(threads);
  if (!std::cout) throw RunError("cannot write to standard output");
  return kDone;
}

}  // namespace orrery
