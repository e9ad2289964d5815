#include "apps/batch.hpp"

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
  void work() {
    const Answer answer = make_answer_();
    std::string line;
    for (;;) {
      std::uint64_t ticket = 0;
      std::uint64_t number = 0;
      {
        const std::lock_guard lock(input_);
        do {
          if (!next_line(line)) return;
          ++lines_;
        } while (line.find_first_not_of(" \t\r") == std::string::npos);
        ticket = tickets_++;
        number = lines_;
      }
      deliver(ticket, guarded(answer, line, number));
    }
  }

  /// False at the end of the input, and where it cannot be read.
  bool next_line(std::string& line) {
    const bool found = read_line(std::cin, line);
    unreadable_ = std::cin.bad();
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
  std::cin.tie(nullptr);  // else who reads flushes standard output, beside another thread that writes
  Conveyor(make_answer).run(threads);
  if (!std::cout) throw RunError("cannot write to standard output");
  return kDone;
}

}  // namespace orrery
