#include "apps/batch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
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
/// Of a worker: how long it is busy with the lines it takes at a time, about, and how many these are at most.
constexpr std::chrono::nanoseconds kTurn = std::chrono::milliseconds(2);
constexpr std::size_t kMostLines = 64;

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

/// std::getline, but keeps no more than a block over kMostLineBytes of a line.
bool read_line(std::istream& in, std::string& line) {
  char block[4096];
  line.clear();
  for (;;) {
    in.getline(block, sizeof block);
    const auto taken = static_cast<std::size_t>(in.gcount());
    const bool more = in.fail() && taken + 1 == sizeof block;
    const bool ended = in.good();  // by a line end, which was taken as well
    if (line.size() <= kMostLineBytes) line.append(block, ended ? taken - 1 : taken);
    if (!more) return ended || !line.empty();
    in.clear();
  }
}

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
    if (unreadable_) throw RunError("cannot read standard input");
  }

 private:
  struct Line {
    std::string text;
    std::uint64_t number = 0;  ///< counts blank ones too
    std::uint64_t ticket = 0;  ///< does not
  };

  /// Lines that follow each other have most in common, so a worker takes as many at a time as it answers in
  /// kTurn.
  void work() {
    using Clock = std::chrono::steady_clock;
    const Answer answer = make_answer_();
    std::vector<Line> lines(kMostLines);
    std::size_t most = 1;
    while (const std::size_t taken = take(std::span(lines).first(most))) {
      const Clock::time_point begin = Clock::now();
      for (const Line& line : std::span(lines).first(taken))
        deliver(line.ticket, guarded(answer, line.text, line.number));
      const auto lines_a_turn =
          static_cast<std::size_t>(kTurn * taken / (Clock::now() - begin + kTurn / kMostLines));
      most = std::clamp<std::size_t>(lines_a_turn, 1, kMostLines);
    }
  }

  /// Waits for a line, and takes those after it that are there; how many. None at the end of the input.
  std::size_t take(std::span<Line> lines) {
    const std::lock_guard lock(input_);
    std::size_t taken = 0;
    while (taken < lines.size() && (taken == 0 || std::cin.rdbuf()->in_avail() > 0) &&
           next_line(lines[taken])) {
      const bool blank = lines[taken].text.find_first_not_of(" \t\r") == std::string::npos;
      if (!blank) lines[taken++].ticket = tickets_++;
    }
    return taken;
  }

  /// False at the end of the input, and where it cannot be read.
  bool next_line(Line& line) {
    const bool found = read_line(std::cin, line.text);
    unreadable_ = std::cin.bad();
    line.number = ++lines_;
    return found && !unreadable_;
  }

  /// Answers that are early wait for those before them. The workers that made them do not, until kMostEarly
  /// lie between their answer and the next to be written.
  void deliver(std::uint64_t ticket, std::string text) {
    std::unique_lock lock(output_);
    turn_.wait(lock, [&] { return ticket < served_ + kMostEarly; });
    early_.emplace(ticket, std::move(text));
    if (early_.begin()->first != served_) return;
    for (auto next = early_.begin(); next != early_.end() && next->first == served_; ++served_) {
      std::cout << next->second;
      next = early_.erase(next);
    }
    std::cout << std::flush;
    turn_.notify_all();
  }

  const std::function<Answer()>& make_answer_;
  std::mutex input_;
  std::mutex output_;
  std::condition_variable turn_;
  bool unreadable_ = false;
  std::uint64_t lines_ = 0;
  std::uint64_t tickets_ = 0;
  std::uint64_t served_ = 0;
  std::map<std::uint64_t, std::string> early_;  ///< answers by ticket
};

}  // namespace

int run_batch(unsigned threads, const std::function<Answer()>& make_answer) {
  std::ios::sync_with_stdio(false);
  Conveyor(make_answer).run(threads);
  if (!std::cout) throw RunError("cannot write to standard output");
  return kDone;
}

}  // namespace orrery
