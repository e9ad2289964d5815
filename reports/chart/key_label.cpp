#include "reports/chart/key_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace orrery {
namespace {

struct WordName {
  std::string_view word;
  std::string_view name;
};
/// Units, which stand last or before the percentile.
constexpr std::array<WordName, 15> kKeyUnits{{{"s", "s"},
                                              {"ms", "ms"},
                                              {"us", "µs"},
                                              {"ps", "ps"},
                                              {"days", "days"},
                                              {"gb", "GB"},
                                              {"gib", "GiB"},
                                              {"bytes", "bytes"},
                                              {"gbps", "Gbit/s"},
                                              {"tflops", "TFLOP/s"},
                                              {"usd", "USD"},
                                              {"kwh", "kWh"},
                                              {"w", "W"},
                                              {"mb", "MB"},
                                              {"kw", "kW"}}};
constexpr std::array<WordName, 10> kKeyWords{{{"mfu", "MFU"},
                                              {"hfu", "HFU"},
                                              {"ttft", "TTFT"},
                                              {"tpot", "TPOT"},
                                              {"gpu", "GPU"},
                                              {"gpus", "GPUs"},
                                              {"kv", "KV"},
                                              {"nic", "NIC"},
                                              {"nvlink", "NVLink"},
                                              {"slo", "SLO"}}};

std::vector<std::string> parts_of_key(std::string_view key) {
  std::vector<std::string> words(1);
  for (const char c : key) {
    if (c == '.' || c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

template <std::size_t size>
std::string_view name_in(const std::array<WordName, size>& names, std::string_view word) {
  const auto found = std::ranges::find(names, word, &WordName::word);
  return found == names.end() ? std::string_view() : found->name;
}

bool is_percentile_word(const std::string& word) {
  return word.size() >= 2 && word[0] == 'p' &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string spaced_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const std::string_view name = name_in(kKeyWords, word);
    text += (text.empty() ? "" : " ") + (name.empty() ? word : std::string(name));
  }
  return text;
}

/// Takes "per" and what follows off the end.
std::string taken_rate(std::vector<std::string>& words) {
  const auto per = std::ranges::find(words, "per");
  if (per == words.end() || per == words.begin() || per + 1 == words.end()) return "";
  std::string rate;
  for (auto word = per; word != words.end(); ++word) {
    const std::string_view name = name_in(kKeyWords, *word);
    rate += *word == "per" ? "/" : name.empty() ? *word : std::string(name);
  }
  words.erase(per, words.end());
  return rate;
}

std::string superscript_text(int number) {
  constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(number))
    text += c == '-' ? "⁻" : kDigits[static_cast<std::size_t>(c - '0')];
  return text;
}

}  // namespace

std::string key_label(std::string_view key) {
  if (key.starts_with("plan.")) key.remove_prefix(5);
  std::vector<std::string> words = parts_of_key(key);
  std::string percentile;
  if (words.size() > 1 && is_percentile_word(words.back())) {
    percentile = " " + words.back();
    words.pop_back();
  }
  const std::string rate = taken_rate(words);
  std::string_view unit;
  if (words.size() > (rate.empty() ? 1U : 0U)) unit = name_in(kKeyUnits, words.back());
  if (!rate.empty()) {
    if (unit.empty()) return spaced_words(words) + rate + percentile;
    words.pop_back();
    return spaced_words(words) + percentile + (words.empty() ? "" : " (") + std::string(unit) + rate +
           (words.empty() ? "" : ")");
  }
  if (unit.empty()) return spaced_words(words) + percentile;
  words.pop_back();
  return fmt::format("{}{} ({})", spaced_words(words), percentile, unit);
}

std::string chart_number(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e-3 && size < 1e6) return fmt::format("{:.6g}", std::round(value * 1e8) / 1e8);
  const int power = static_cast<int>(std::floor(std::log10(size) + 1e-12));
  const double digits = value / std::pow(10.0, power);
  if (std::abs(digits - 1) < 1e-9) return "10" + superscript_text(power);
  return fmt::format("{:.3g}·10{}", digits, superscript_text(power));
}

}  // namespace orrery
