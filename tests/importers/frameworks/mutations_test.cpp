// Broken and hostile files: an error that says where, or a report; never a crash, and never without end.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "importers/frameworks/imported.hpp"
#include "orrery/error.hpp"
#include "tests/source_dir.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr int kRounds = 60;

/// Files with the marks of each kind of this room, so that mutations of them are read by it.
std::vector<NamedText> seeds() {
  std::vector<NamedText> files;
  for (const char* kind : {"megatron-log", "megatron-yaml", "launch-script", "torchtitan", "deepspeed",
                           "accelerate", "gpt-neox", "llm-foundry", "nemo", "hf-trainer", "primus", "verl"})
    for (const auto& entry : std::filesystem::directory_iterator(orrery::test::source_dir() /
                                                                 "tests/importers/fuzz/seeds" / kind)) {
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      files.emplace_back(kind, text.str());
    }
  return files;
}

/// A text with a few bytes changed, left out, or taken from elsewhere in it.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kBytes = "${}()[]\"'#\\|&;<>=-+*/.:, \n\t0a9\x80\xff";
  const auto below = [&random](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  for (std::size_t i = 0, changes = 1 + below(6); i < changes && !text.empty(); ++i) {
    const std::size_t at = below(text.size());
    switch (random() % 5) {
      case 0:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 1:
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), 1 + below(24)));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mutations of files of frameworks are read or refused, never worse") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (const NamedText& file : seeds()) {
    CAPTURE(file.first);
    CHECK_NOTHROW(imported({file}));
    for (int i = 0; i < kRounds; ++i) {
      const std::string text = mutated(file.second, random);
      CAPTURE(text);
      try {
        imported({{file.first, text}}, {}, i % 2 == 0);
      } catch (const InputError&) {
      }
    }
  }
}

TEST_CASE("interpolations that hold each other end") {
  const std::string text =
      "max_seq_len: ${a}\na: ${b}\nb: ${a}\ndevice_train_microbatch_size: 1\nmodel: {name: mpt_causal_lm, "
      "d_model: 64}\n";
  CHECK(imported({{"f.yaml", text}}).stopped());
  std::string bomb = "device_train_microbatch_size: 1\nmax_seq_len: 64\na0: xxxxxxxxxx\n";
  for (int i = 1; i < 40; ++i)
    bomb +=
        "a" + std::to_string(i) + ": ${a" + std::to_string(i - 1) + "}${a" + std::to_string(i - 1) + "}\n";
  CHECK_NOTHROW(imported({{"f.yaml", bomb}}));
}

}  // namespace orrery::importers::frameworks
