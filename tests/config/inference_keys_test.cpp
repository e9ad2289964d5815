// Checks experiments that serve requests: keys that are read, and values that are refused.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;

namespace {

/// The tiny model has 32 tokens of context.
std::string serving(const std::string& inference, const std::string& rest = "") {
  return R"({"model": "tiny", "cluster": "box", "inference": {)" + inference + "}" + rest + "}";
}

const std::string kLengths = R"("prompt_tokens": 20, "output_tokens": 10)";

bool refuses(const std::string& text, const std::string& message) {
  const std::string found = diagnostics(text);
  CAPTURE(found);
  CHECK(found.find(message) != std::string::npos);
  return found.find(message) != std::string::npos;
}

/// A file that goes with the object.
class TraceFile {
 public:
  explicit TraceFile(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-trace-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    REQUIRE(file >= 0);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TraceFile() { std::filesystem::remove(path_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  [[nodiscard]] std::string key() const { return R"("requests": ")" + path_ + "\""; }

 private:
  std::string path_;
};

std::string problem_of(const std::string& text) {
  const TraceFile file(text);
  return diagnostics(serving(file.key()));
}

}  // namespace

TEST_CASE("lengths are numbers or distributions") {
  const Inference fixed = *io_test::read(serving(kLengths)).inference;
  CHECK(fixed.prompt.mean == 20);
  CHECK(fixed.output.kind == LengthKind::fixed);
  const Inference drawn =
      *io_test::read(serving(R"("prompt_tokens": {"distribution": "log-normal", "mean": 8, "deviation": 4,
                                "max": 16}, "output_tokens": {"distribution": "uniform", "min": 2, "max": 9},
                                "requests_per_s": 2.5, "requests": "10k")"))
           .inference;
  CHECK(drawn.prompt.deviation == 4);
  CHECK(drawn.output.mean == 5);
  CHECK(drawn.requests == 10'000);
  CHECK(refuses(serving(R"("output_tokens": 10)"), "/inference/prompt_tokens"));
  CHECK(refuses(serving(R"("prompt_tokens": 0, "output_tokens": 1)"), "/inference/prompt_tokens: found 0"));
  CHECK(refuses(serving(R"("prompt_tokens": {"distribution": "uniform", "mean": 3, "max": 4},
                          "output_tokens": 1)"),
                "/inference/prompt_tokens/mean: found with uniform lengths, which have none"));
  CHECK(refuses(serving(R"("prompt_tokens": {"distribution": "log-normal", "mean": 3}, "output_tokens": 1)"),
                "/inference/prompt_tokens/deviation"));
  CHECK(refuses(serving(R"("prompt_tokens": {"distribution": "uniform", "min": 9, "max": 4},
                          "output_tokens": 1)"),
                "/inference/prompt_tokens/min: found 9, allowed at most max 4"));
}

TEST_CASE("a request longer than the context is refused by name") {
  CHECK(diagnostics(serving(R"("prompt_tokens": 22, "output_tokens": 10)")).empty());
  CHECK(refuses(serving(R"("prompt_tokens": 23, "output_tokens": 10)"),
                "/inference/prompt_tokens: found requests of 23 + 10 tokens, allowed 32 (max_model_len"));
  const std::string longer = R"("prompt_tokens": 23, "output_tokens": 10, "max_model_len": 33)";
  CHECK(refuses(serving(longer), "/inference/max_model_len: found 33, allowed up to the 32 positions"));
  CHECK(diagnostics(R"({"model": {"base": "tiny", "positions": "rotary"}, "cluster": "box", "inference": {)" +
                    longer + "}}")
            .empty());
  CHECK(refuses(serving(R"("prompt_tokens": {"distribution": "log-normal", "mean": 30, "deviation": 1},
                          "output_tokens": 10)"),
                "/inference/prompt_tokens: found requests of 30 + 10 tokens, allowed 32"));
}

TEST_CASE("what contradicts itself, or is of training, is refused") {
  CHECK(refuses(serving(kLengths, R"(, "training": {"tokens": 10})"), "/training: found beside inference"));
  CHECK(refuses(serving(kLengths, R"(, "plan": {"zero_stage": 1})"), "/plan/zero_stage: found beside inf"));
  CHECK(refuses(serving(kLengths, R"(, "data_parallel_sync": {"method": "gossip"})"),
                "/data_parallel_sync: found beside inference"));
  CHECK(refuses(serving(kLengths + R"(, "batching": "static", "chunked_prefill": true)"),
                "/inference/chunked_prefill: found true"));
  CHECK(refuses(serving(kLengths + R"(, "disaggregated": {"prefill": 1, "decode": 2})",
                        R"(, "plan": {"data_parallel": 2, "tensor_parallel": 4})"),
                "/inference/disaggregated: found 1 + 2 replicas, allowed data_parallel 2"));
  CHECK(refuses(serving(kLengths + R"(, "chunked_prefill": true, "max_num_batched_tokens": 4,
                        "speculative": {"num_speculative_tokens": 4, "acceptance_rate": 0.5})"),
                "/inference/max_num_batched_tokens: found 4, allowed from 5 on"));
  CHECK(refuses(serving(kLengths + R"(, "speculative": {"num_speculative_tokens": 4})"),
                "/inference/speculative/acceptance_rate"));
  CHECK(refuses(serving(kLengths + R"(, "requests": 1000000, "requests_per_s": 0.0001)"),
                "/inference/requests_per_s: found arrivals over 1e+10 s"));
  CHECK(refuses(serving(kLengths + R"(, "batch_sise": 3)"), "did you mean \"batch_size\"?"));
  CHECK(refuses(serving(kLengths + R"(, "requests_per_s": -1)"), "/inference/requests_per_s: found -1"));
}

TEST_CASE("requests are read from a file, in the columns of published traces") {
  const TraceFile ours("arrival_s,prompt_tokens,output_tokens\n5,10,3\n5.5,20,4\r\n\n5.5,1,1");
  const Inference inference = *io_test::read(serving(ours.key())).inference;
  REQUIRE(inference.trace.has_value());
  CHECK(*inference.trace ==
        std::vector<RequestSpec>{{0, 10, 3}, {500'000'000'000, 20, 4}, {500'000'000'000, 1, 1}});
  const TraceFile azure(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-02-28 23:59:59.7500000,3,4\n2024-02-29 00:00:00.0000000,5,6\n2024-03-01 00:00:00.5,7,8\n");
  const std::vector<RequestSpec> requests = *io_test::read(serving(azure.key())).inference->trace;
  CHECK(requests[1] == RequestSpec{250'000'000'000, 5, 6});
  CHECK(requests[2].arrival_ps == 86'400'750'000'000'000);
  const TraceFile zones(
      "\xEF\xBB\xBFTIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-05-10 00:00:00.25+00:00,3,4\n2024-05-10T01:30:00.5+01:30,5,6\n2024-05-10 00:00:01Z,7,8\n");
  const std::vector<RequestSpec> zoned = *io_test::read(serving(zones.key())).inference->trace;
  CHECK(zoned[1].arrival_ps == 250'000'000'000);
  CHECK(zoned[2].arrival_ps == 750'000'000'000);
  CHECK(refuses(serving(ours.key() + R"(, "requests_per_s": 3)"), "/inference/requests_per_s: found beside"));
}

TEST_CASE("a file of requests that is wrong is refused with its line") {
  const std::string names = "arrival_s,prompt_tokens,output_tokens\n";
  const auto says = [](const std::string& text, const std::string& message) {
    const std::string problem = problem_of(text);
    CAPTURE(problem);
    CHECK(problem.find(message) != std::string::npos);
  };
  says("", "found no requests");
  says(names, "found no requests");
  says("a,b\n1,2\n", ":1:1: found no column arrival_s");
  says("arrival_s,prompt_token,output_tokens\n",
       "found no column prompt_tokens, ContextTokens, num_prefill_tokens, Request tokens, but "
       "\"prompt_token\"");
  says("arrival_s,prompt_tokens,prompt_tokens,output_tokens\n", "found several columns prompt_tokens");
  says("arrival_s,prompt_tokens,output_tokens,hash_ids\n",
       ":1:39: found hash_ids, allowed only with prefix_reuse");
  says(names + "2023-02-29 10:00:00.5,1,1\n", ":2:1: found arrival \"2023-02-29 10:00:00.5\"");
  says(names + "2023-02-28 25:00:00.5,1,1\n", ":2:1: found arrival");
  says(names + "0,1,1\n1,1\n", ":3:1: found 2 values, allowed 3");
  says(names + "1,1,1\n0.5,1,1\n", ":3:1: found arrival \"0.5\" after a later one");
  says(names + "0,30,3\n", ":2:3: found a request of 30 + 3 tokens, allowed 32");
  says(names + "0,0,3\n", ":2:3: found prompt_tokens \"0\", allowed 1 to 32");
  says(names + "0,1,99999999999999999999\n", ":2:5: found output_tokens");
  says(names + "0,1,-1\n", ":2:5: found output_tokens \"-1\"");
  says(names + "nan,1,1\n", ":2:1: found arrival \"nan\"");
  says(names + "0,1,1\n1e300,1,1\n", ":3:1: found an arrival 1e+300 s after the first");
  says(names + "0,1.5,1\n", ":2:3: found prompt_tokens \"1.5\"");
  says(names + "0,1,\n", ":2:5: found output_tokens \"\"");
  says(std::string(17'000'000, 'x'), "/inference/requests");
  CHECK(refuses(serving(R"("requests": "-")"), "/inference/requests: found \"-\""));
  CHECK(refuses(serving(R"("requests": "/does/not/exist.csv")"),
                "/inference/requests: \"/does/not/exist.csv\""));
  CHECK(refuses(serving(R"("requests": "/dev/zero")"), "/inference/requests"));
}
