// Keys and names as other programs, and Orrery's own summaries, have them.
#include "config/schema/aliases.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "config/catalog/spelling.hpp"
#include "tests/config/support.hpp"

using namespace orrery;
using io_test::read;

TEST_CASE("a key may have the name that others give it") {
  const Experiment written = read(
      R"({"$schema": "orrery.json", "model": {"kind": "transformer", "num_hidden_layers": 4, "hidden_size": 64,
          "num_attention_heads": 8, "vocab_size": 100, "seq_length": 32}, "cluster": "box",
          "plan": {"tp": 2, "pp": 2, "mbs": 2, "gbs": 8}})");
  CHECK(written.model.layers == 4);
  CHECK(written.model.hidden == 64);
  CHECK(written.plan.tensor_parallel == 2);
  CHECK(written.plan.pipeline_parallel == 2);
  CHECK(written.plan.micro_batch_size == 2);
  CHECK(written.plan.global_batch_size == 8);
  const std::string base = R"({"model": "tiny", "cluster": "box", "plan": {"tensor_parallel": 4}})";
  CHECK(read(base, {"tp=2"}).plan.tensor_parallel == 2);
  CHECK(read(base, {"plan.tp=8"}).plan.tensor_parallel == 8);
  CHECK(full_key("model.hidden_size") == "model.hidden");
  CHECK(full_key("cluster.tp") == "cluster.tp");
  CHECK(full_key("num_layers") == "num_layers");  // Megatron-LM's own argument leads to ours, and is none
}

TEST_CASE("errors of a key with another name tell its place, and a name beside its key is one too many") {
  CHECK(io_test::diagnostics(R"({"model": "tiny", "cluster": "box", "plan": {"tp": 3}})")
            .starts_with("e.json:1:52: /plan/tensor_parallel: found 3, allowed a divisor of heads 8"));
  CHECK(
      io_test::diagnostics(R"({"model": "tiny", "cluster": "box", "plan": {"tp": 2, "tensor_parallel": 4}})")
          .find("/plan/tp: found it beside tensor_parallel, allowed one of them") != std::string::npos);
  CHECK(io_test::diagnostics(
            R"({"model": "tiny", "cluster": "box", "plan": {"pipeline_model_parallel_size": 2}})")
            .ends_with("; did you mean \"plan.pipeline_parallel\"?"));
}

TEST_CASE("names of the catalog are found however they are written") {
  const std::vector<std::string_view> known{"rtx4090",   "llama3.1-70b", "mixtral-8x7b",
                                            "gemma2-9b", "h100",         "h1-00"};
  CHECK(spelled_otherwise("RTX 4090", known) == "rtx4090");
  CHECK(spelled_otherwise("rtx-4090", known) == "rtx4090");
  CHECK(spelled_otherwise("meta-llama/Llama-3.1-70B", known) == "llama3.1-70b");
  CHECK(spelled_otherwise("meta-llama/Meta-Llama-3.1-70B-Instruct", known) == "llama3.1-70b");
  CHECK(spelled_otherwise("mistralai/Mixtral-8x7B-v0.1", known) == "mixtral-8x7b");
  CHECK(spelled_otherwise("google/gemma-2-9b-it", known) == "gemma2-9b");
  CHECK(spelled_otherwise("H-100", known) == "");  // one of two
  CHECK(spelled_otherwise("", known) == "");
  CHECK(spelled_otherwise("/", known) == "");
}
