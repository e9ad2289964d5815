#include "reports/picture/blocks.hpp"

#include <doctest/doctest.h>

#include <random>

namespace orrery::test {
namespace {

constexpr Activity kF = Activity::forward;
constexpr Activity kB = Activity::backward;
constexpr Activity kR = Activity::recompute;

/// A pixel is 100 ps, its hundredth 1 ps.
PixelScale hundred_pixels() { return {{0, 10'000}, 0, 100}; }

std::string text_of_blocks(const std::vector<DrawnBlock>& blocks) {
  std::string text;
  for (const DrawnBlock& block : blocks) {
    text += block.activity == kF ? 'F' : block.activity == kB ? 'B' : 'R';
    text += std::to_string(block.left) + "-" + std::to_string(block.right) + " ";
  }
  return text;
}

DrawnPass pass_of(std::vector<ActivitySpan> spans) { return {Phase::forward, 0, 0, std::move(spans)}; }

std::int64_t drawn_width(const std::vector<DrawnBlock>& blocks, Activity activity) {
  std::int64_t width = 0;
  for (const DrawnBlock& block : blocks) width += block.activity == activity ? block.right - block.left : 0;
  return width;
}

}  // namespace

TEST_CASE("passes are drawn where they are, and waits of a pixel or more show") {
  const auto passes = {pass_of({{kF, 0, 1'000}}),
                       pass_of({{kR, 1'500, 1'900}, {kB, 1'950, 3'000}, {kB, 3'200, 4'000}})};
  // the wait 1900-1950 is half a pixel and belongs to what stands before it, that from 3000 to 3200 shows
  CHECK(text_of_blocks(blocks_of_passes(passes, hundred_pixels(), 2)) ==
        "F0-1000 R1500-1950 B1950-3000 B3200-4000 ");
}

TEST_CASE("kinds of work that change too fast are drawn one after the other, as wide as their times") {
  std::vector<ActivitySpan> layers;
  for (Picoseconds at = 0; at < 3'000; at += 150) {  // 20 layers of 0.5 and 1 pixel
    layers.push_back({kR, at, at + 50});
    layers.push_back({kB, at + 50, at + 150});
  }
  CHECK(text_of_blocks(blocks_of_passes({pass_of(layers)}, hundred_pixels(), 2)) == "R0-1000 B1000-3000 ");
}

TEST_CASE("passes narrower than two pixels are drawn together, with the rest of their time behind them") {
  std::vector<DrawnPass> passes;
  for (Picoseconds at = 0; at < 400; at += 100) {  // 0.6 pixels of work in each pixel
    passes.push_back(pass_of({{kF, at, at + 20}}));
    passes.push_back(pass_of({{kB, at + 20, at + 60}}));
  }
  // 0-220 is more than two pixels: three forward and two backward passes and the rest of the third
  const std::vector<DrawnBlock> blocks = blocks_of_passes(passes, hundred_pixels(), 2);
  CHECK(drawn_width(blocks, kF) == 4 * 20);
  CHECK(drawn_width(blocks, kB) == 4 * 40);
  CHECK(blocks.size() <= 4);
}

TEST_CASE("a lane has the width of its times, and what stands alone can be seen") {
  CHECK(text_of_blocks(blocks_of_lane({{kF, 1'000, 1'500}, {kF, 5'000, 5'001}}, hundred_pixels(), 2)) ==
        "F1000-1500 F5000-5080 ");
  std::vector<ActivitySpan> dense;  // 1 ps of each 10
  for (Picoseconds at = 0; at < 10'000; at += 10) dense.push_back({kF, at, at + 1});
  const std::vector<DrawnBlock> blocks = blocks_of_lane(dense, hundred_pixels(), 2);
  CHECK(drawn_width(blocks, kF) >= 1'000);
  CHECK(drawn_width(blocks, kF) <= 1'000 + 80);
  CHECK(blocks.size() <= 13);  // of 80 ps each
}

TEST_CASE("however spans lie, blocks do not overlap and add up to their times within a pixel") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<DrawnPass> passes;
    std::array<Picoseconds, kActivityCount> times{};
    for (Picoseconds at = 0; at < 9'500;) {
      const Activity activity = random() % 2 == 0 ? kF : kB;
      const Picoseconds length = 1 + random() % (seed % 2 == 0 ? 40 : 700);
      const Picoseconds end = std::min<Picoseconds>(10'000, at + length);
      passes.push_back(pass_of({{activity, at, end}}));
      times[std::size_t(activity)] += end - at;
      at = end + (random() % 3 == 0 ? 100 + random() % 200 : 0);
    }
    for (const std::int64_t detail : {2, 4, 8}) {
      const std::vector<DrawnBlock> blocks = blocks_of_passes(passes, hundred_pixels(), detail);
      for (std::size_t i = 1; i < blocks.size(); ++i) CHECK(blocks[i - 1].right <= blocks[i].left);
      for (const Activity activity : {kF, kB})
        CHECK(std::abs(drawn_width(blocks, activity) - times[std::size_t(activity)]) <= 100);
    }
  }
}

}  // namespace orrery::test
