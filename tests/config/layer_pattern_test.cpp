// model.layer_pattern as it is written, right and wrong.
#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::catalog;
using io_test::diagnostics;

namespace {

/// Returns the problems of a pattern in the catalog's model of 8 layers.
std::string problems(const std::string& pattern, const std::string& more = "") {
  const std::string text =
      R"({"model": {"base": "tiny")" + more + R"(, "layer_pattern": )" + pattern + R"(}, "cluster": "box"})";
  const std::string all = diagnostics(text);
  const std::size_t pointer = all.find(": /");
  return pointer == std::string::npos ? all : all.substr(pointer + 2);
}

}  // namespace

TEST_CASE("what an entry does not say is as in the model") {
  const Model model = read_experiment_text(
                          R"({"model": {"base": "tiny", "window": 8, "attention": "flash",
                        "layer_pattern": [{"layers": 3, "attention": "window"}, {"mlp": "none", "heads": 4}]},
              "cluster": "box"})",
                          "e.json", {}, catalog(), io_test::menus())
                          .experiment.model;
  REQUIRE(model.layer_pattern.size() == 2);
  CHECK(model.layer(0) == LayerContent{LayerAttention::window, LayerMlp::dense, 8, 8, 256});
  CHECK(model.layer(7) == LayerContent{LayerAttention::full, LayerMlp::none, 4, 4, 256});
}

TEST_CASE("patterns that contradict say what is allowed") {
  CHECK(problems("[]").starts_with("/model/layer_pattern: found [], allowed a list of what layers are"));
  CHECK(problems(R"([{"layers": 3}])") ==
        "/model/layer_pattern: found 3 layers, allowed a divisor of layers 8");
  CHECK(problems(R"([{"attention": "none", "mlp": "none"}])") ==
        "/model/layer_pattern/0: found neither attention nor mlp, allowed layers that have one of them");
  CHECK(problems(R"([{"attention": "window"}])") ==
        "/model/layer_pattern/0/attention: found \"window\", allowed only with model.window");
  CHECK(problems(R"([{"mlp": "experts"}])") ==
        "/model/layer_pattern/0/mlp: found \"experts\", allowed only for kind moe-transformer");
  CHECK(problems(R"([{"kv_heads": 3}])") ==
        "/model/layer_pattern/0/kv_heads: found 3, allowed a divisor of heads 8");
  CHECK(problems(R"([{"head": 3}])").starts_with("/model/layer_pattern/0/head: found unknown key \"head\""));
  CHECK(problems(R"([{"layers": 8}])", R"(, "lora_rank": 4)") ==
        "/model/lora_rank: found a value beside layer_pattern, allowed one of them");
  CHECK(problems(R"([{}])", R"(, "attention": "flash", "window": 8)") ==
        "/model/window: found a value that no layer of layer_pattern has a use for");
  CHECK(problems(R"([{}, {"attention": "window"}])",
                 R"(, "attention": "flash", "window": 8, "window_pattern": 2)") ==
        "/model/window_pattern: found a value beside layer_pattern, allowed one of them");
}
