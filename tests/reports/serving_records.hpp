// Makes small records of serving runs, for tests of drawing and writing.
#pragma once

#include "orrery/serving_record.hpp"

namespace orrery::test {

/// Two replicas of two stages; the first one computes a prompt and two passes, the second one both in one
/// iteration. Times in ns: prompt 0-10 and 12-22, passes 22-25 and 26-29, 29-32 and 33-36.
inline ServingRecord small_record() {
  ServingRecord record;
  record.stages = 2;
  record.replicas = 2;
  record.pages = 10;
  record.page_tokens = 16;
  record.bytes_per_token = 1'000'000;
  record.held_bytes = 500'000'000;
  record.usable_bytes = 700'000'000;
  record.duration_ps = 40'000;
  record.iterations = {
      {0, 1, 0, 0, 512, 22'000}, {1, 1, 3, 3, 64, 20'000}, {0, 0, 1, 1, 0, 29'000}, {0, 0, 1, 1, 0, 36'000}};
  record.spans = {{0, 10'000},      {12'000, 22'000}, {5'000, 9'000},   {10'000, 20'000},
                  {22'000, 25'000}, {26'000, 29'000}, {29'000, 32'000}, {33'000, 36'000}};
  record.states = {{0, 0, 4, 1, 0}, {5'000, 1, 2, 4, 1}, {20'000, 1, 0, 0, 0}, {36'000, 0, 0, 0, 0}};
  RequestMoments first;
  first.spec = {0, 512, 3};
  first.first_token_ps = 22'000;
  first.end_ps = 36'000;
  RequestMoments second;
  second.spec = {2'000, 64, 1};
  second.replica = second.decode_replica = 1;
  second.preemptions = 2;
  second.start_ps = 5'000;
  second.first_token_ps = second.end_ps = 20'000;
  record.requests = {first, second};
  return record;
}

}  // namespace orrery::test
