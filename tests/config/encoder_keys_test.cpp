// model.encoder_layers as it is written, right and wrong.
#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::catalog;
using io_test::diagnostics;

namespace {

std::string encoder_problems(const std::string& model, const std::string& plan = "") {
  const std::string all = diagnostics(R"({"model": {"base": "tiny", )" + model +
                                      R"(}, "cluster": "box", "plan": {)" + plan + "}}");
  const std::size_t pointer = all.find(": /");
  return pointer == std::string::npos ? all : all.substr(pointer + 2);
}

}  // namespace

TEST_CASE("an encoder gets as many tokens as the decoder unless it says so") {
  const auto read = [](const std::string& more) {
    return read_experiment_text(
               R"({"model": {"base": "tiny", "encoder_layers": 4)" + more + R"(}, "cluster": "box"})",
               "e.json", {}, catalog(), io_test::menus())
        .experiment.model;
  };
  CHECK(read("").encoder_seq_length == 32);
  CHECK(read(R"(, "encoder_seq_length": 64)").encoder_seq_length == 64);
  CHECK(read("").all_layers() == 12);
}

TEST_CASE("what an encoder contradicts says what is allowed") {
  CHECK(encoder_problems(R"("encoder_seq_length": 64)") ==
        "/model/encoder_seq_length: found a value that does nothing, allowed only with encoder_layers");
  CHECK(encoder_problems(R"("encoder_layers": 4, "lora_rank": 4)") ==
        "/model/lora_rank: found a value beside encoder_layers, allowed one of them");
  CHECK(encoder_problems(R"("encoder_layers": 4, "multi_token_prediction": 1)") ==
        "/model/multi_token_prediction: found a value beside encoder_layers, allowed one of them");
  CHECK(encoder_problems(R"("encoder_layers": 4)", R"("pipeline_parallel": 16)")
            .starts_with("/plan/pipeline_parallel: found pipeline_parallel 16 x virtual_stages 1 = 16, "
                         "allowed at most 14, "
                         "encoder_layers + layers 12 and an embedding and a head"));
  CHECK(encoder_problems(R"("encoder_layers": 4)", R"("pipeline_parallel": 2, "stage_layers": [4, 4])") ==
        "/plan/stage_layers: found a sum of 8, allowed encoder_layers + layers 12");
  CHECK(encoder_problems(R"("encoder_layers": 4, "encoder_seq_length": 3)",
                         R"("tensor_parallel": 2, "sequence_parallel": true)") ==
        "/plan/tensor_parallel: found 2, allowed a divisor of encoder_seq_length 3");
}
