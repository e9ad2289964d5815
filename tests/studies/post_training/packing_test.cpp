// Tests how samples are packed into micro-batches, against packings made by hand.
#include "studies/post_training/packing.hpp"

#include <doctest/doctest.h>

using namespace orrery;

TEST_CASE("samples of unlike lengths fill micro-batches best fit") {
  // 9 fills one with nothing left that fits, 7 takes 3, 6 takes 4: micro-batches of 10, 10 and 9 tokens at
  // most 10. On one replica they are 29 tokens in 3: 10 each, rounded up.
  const PackedSamples packed = pack_samples({3, 9, 4, 7, 6}, {1, 10, 1, 1, true});
  CHECK(packed.shape.micro_batches == 3);
  CHECK(packed.shape.sequence_tokens == 10);
  // Attention goes with squares: (9 + 81 + 16 + 49 + 36) / 29 = 6.6 tokens.
  CHECK(packed.shape.sample_tokens == 7);
  CHECK(packed.shape.sequences == 1);
  CHECK(packed.imbalance == doctest::Approx(1.0));
  CHECK(packed.fill == doctest::Approx(29.0 / 30));
}

TEST_CASE("micro-batches are dealt there and back") {
  // Micro-batches of 9, 7, 6 and 4 tokens: one replica has 9 + 4, the other 7 + 6; both 13.
  const PackedSamples even = pack_samples({9, 7, 6, 4}, {2, 9, 1, 1, true});
  CHECK(even.shape.micro_batches == 2);
  CHECK(even.shape.sequence_tokens == 7);  // 13 / 2, rounded up
  CHECK(even.imbalance == doctest::Approx(1.0));
  // Three of 9, 8 and 7: one replica has 9, the other 8 + 7, and both wait for two micro-batches.
  const PackedSamples odd = pack_samples({9, 8, 7}, {2, 9, 1, 1, true});
  CHECK(odd.shape.micro_batches == 2);
  CHECK(odd.shape.sequence_tokens == 8);
  CHECK(odd.imbalance == doctest::Approx(15.0 / 12));
}

TEST_CASE("samples of one length are sequences as in pre-training") {
  const PackedSamples packed = pack_samples({100, 100, 100, 100, 100, 100, 100, 100}, {2, 250, 1, 1, true});
  CHECK(packed.shape == TrainingShape{100, 0, 2, 2});
  CHECK(packed.fill == doctest::Approx(1.0));
}

TEST_CASE("tokens are padded to what ranks can share, and micro-batches to what a schedule runs") {
  const PackedSamples packed = pack_samples({9, 7, 6}, {1, 9, 8, 2, true});
  CHECK(packed.shape.micro_batches == 4);
  CHECK(packed.shape.sequence_tokens == 8);  // 22 / 4 is 5.5
}

TEST_CASE("samples lie side by side where attention cannot be kept within them") {
  const PackedSamples packed = pack_samples({9, 7, 6, 4}, {1, 26, 1, 1, false});
  // 26 tokens of samples of 7 (182 / 26) are 3 sequences of 9.
  CHECK(packed.shape == TrainingShape{9, 0, 3, 1});
}

TEST_CASE("a sample longer than a micro-batch has one to itself") {
  const PackedSamples packed = pack_samples({20, 3, 3}, {1, 10, 1, 1, true});
  CHECK(packed.shape.micro_batches == 2);
  CHECK(packed.shape.sequence_tokens == 13);
}

TEST_CASE("samples without packing are padded to the longest") {
  PackingRules rules{2, 20, 4, 1, true};
  rules.pads = true;
  // 5 samples on 2 replicas are 3 each; 9 tokens are 12 with the divisor, and 20 / 9 are 2 in a micro-batch.
  const PackedSamples packed = pack_samples({9, 2, 3, 4, 6}, rules);
  CHECK(packed.shape == TrainingShape{12, 0, 2, 2});
  CHECK(packed.fill == doctest::Approx(24.0 / (12 * 2 * 2 * 2)));
  CHECK(packed.imbalance == doctest::Approx(6.0 / 5));
  // Where none is longer than another there is no padding to save.
  CHECK(pack_samples({8, 8}, rules).shape == pack_samples({8, 8}, {2, 20, 4, 1, true}).shape);
}
