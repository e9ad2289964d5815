// Syntax, duplicates and hostile texts.
#include <doctest/doctest.h>

#include <random>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;

namespace {

std::string repeated(std::string_view part, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += part;
  return out;
}

bool refused(std::string_view text, const std::string& source = "e.json") {
  return !diagnostics(text, {}, source).empty();
}

}  // namespace

TEST_CASE("syntax errors have a position") {
  CHECK(diagnostics("{\"model\": \"tiny\",\n  \"cluster\" \"box\"}") ==
        "e.json:2:13: syntax error while parsing object separator - unexpected string literal; expected ':'");
  CHECK(diagnostics("model: [tiny\n", {}, "e.yaml").starts_with("e.yaml:2:1: YAML: "));
  CHECK(diagnostics("") == "e.json:1:1: the document is empty");
  CHECK(diagnostics("a: 1\n---\nb: 2\n", {}, "e.yaml") == "e.yaml:1:1: more than one YAML document");
}

TEST_CASE("duplicate keys are errors") {
  CHECK(diagnostics("{\"model\": \"tiny\",\n \"model\": \"tiny\", \"cluster\": \"box\"}") ==
        "e.json:2:2: /model: duplicate key \"model\"");
  CHECK(diagnostics("model: tiny\nplan:\n  zero_stage: 1\n  zero_stage: 1\n", {}, "e.yaml") ==
        "e.yaml:4:3: /plan/zero_stage: duplicate key \"zero_stage\"");
}

TEST_CASE("YAML scalars follow the YAML 1.2 core rules") {
  const auto layers = [](const std::string& text) {
    return diagnostics("cluster: box\nmodel: {base: tiny, layers: " + text + "}\n", {}, "e.yaml");
  };
  for (const char* good : {"8", "+8", "010", "8.", "0.8e1", ".8e1", "8e0", "0x8", "0o10"}) {
    CAPTURE(good);
    CHECK(layers(good).empty());
  }
  for (const char* bad : {"\"8\"", "8_0", "0b1", "-0x8", ".inf", "-.inf", ".nan", "1e999", "yes", "8s", "~",
                          "99999999999999999999999", "0xffffffffffffffffff", "."}) {
    CAPTURE(bad);
    CHECK(layers(bad).starts_with("e.yaml:2:29: /model/layers: found "));
  }
}

TEST_CASE("aliases, tags and other bytes than UTF-8 are refused") {
  CHECK(diagnostics("a: &x [1]\nb: *x\n", {}, "e.yaml") ==
        "e.yaml:2:4: YAML aliases (*name) are not accepted");
  CHECK(diagnostics("a: !!binary xx\n", {}, "e.yaml").starts_with("e.yaml:1:4: YAML tag"));
  CHECK(diagnostics("a: \xff\n", {}, "e.yaml") == "e.yaml:1:4: the text is not UTF-8");
  CHECK(diagnostics("\xEF\xBB\xBF{\"model\": \"tiny\", \"cluster\": \"box\"}").empty());
}

TEST_CASE("overrides that cannot be applied are named") {
  const auto apply = [](const std::string& override) {
    return diagnostics(R"({"model": "tiny", "cluster": "box", "name": "n"})", {override});
  };
  CHECK(apply("plan") == "command line: found \"plan\", allowed KEY=VALUE");
  CHECK(apply("plan..x=1") == "command line: found key \"plan..x\", allowed names with dots between them");
  CHECK(apply("plan.stage_layers=[1").starts_with("command line: the value \"[1\" cannot be read: "));
  CHECK(apply("name.x=1") == "command line: /name: found \"n\", which has no key \"x\"");
  CHECK(apply("plan.zero_stage=9") ==
        "command line: /plan/zero_stage: found 9, allowed an integer from 0 to 3");
}

TEST_CASE("hostile documents are refused without harm") {
  CHECK(refused(repeated("[", 100000)));
  CHECK(refused(repeated("{\"a\":", 100000)));
  CHECK(diagnostics(R"({"plan": )" + repeated("[", 64) + repeated("]", 64) + "}")
            .find("nested deeper than 64") != std::string::npos);
  CHECK(refused(repeated("[", 20000), "e.yaml"));
  CHECK(refused(repeated("- ", 20000), "e.yaml"));
  CHECK(refused(repeated("? ", 20000), "e.yaml"));
  CHECK(refused(repeated("a: {", 5000), "e.yaml"));
  CHECK(refused("[" + repeated("1,", 3000000) + "1]"));
  CHECK(diagnostics("{\"name\": \"" + std::string(17000000, 'x') + "\"}") ==
        "e.json: cannot be read: longer than 16 MB");
  CHECK(refused(std::string("{\"na\0me\": 1}", 12)));
  CHECK(refused(std::string("\0\1\2\3", 4)));
  CHECK(refused("/*"));
  CHECK(refused("//"));
  CHECK(refused("{\"plan\": {\"zero_stage\": 1e999}}"));
  const std::string many = "[" + repeated("[],", 5000) + "[]]";
  CHECK(refused(R"({"model": "tiny", "cluster": "box", "plan": {"stage_layers": )" + many + "}}"));
}

TEST_CASE("random mutations are read or refused, never worse") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> texts{
      R"({"name": "x", "model": {"base": "tiny", "layers": 16}, "cluster": {"base": "box", "nodes": 2,
          "fabric": {"kind": "torus", "nic_gbps": 100, "shape": [2, 2]}},
          "plan": {"tensor_parallel": 4, "stage_layers": [16], "collectives": {"all-reduce": "ring"}}})",
      "model: {kind: mlp, widths: [8, 8], seq_length: 4}\ncluster:\n  gpu: fast\n  nodes: 2\n  fabric:\n"
      "    kind: ring\n    nic_gbps: 1e2\nplan:\n- x\n"};
  const std::string alphabet = "{}[]:,\"'0123456789.eE-+ \n\t/*#&!|>%@`~\\x\xff\x80\xc3";
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[pick(texts.size())];
    for (std::size_t edits = 1 + pick(6); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = pick(text.size());
      switch (pick(4)) {
        case 0:
          text[at] = alphabet[pick(alphabet.size())];
          break;
        case 1:
          text.insert(at, 1, alphabet[pick(alphabet.size())]);
          break;
        case 2:
          text.erase(at, 1 + pick(8));
          break;
        default:
          text.insert(at, text.substr(pick(text.size()), pick(20)));
          break;
      }
    }
    CAPTURE(text);
    CHECK_NOTHROW(diagnostics(text, {}, round % 2 == 0 ? "e.json" : "e.yaml"));
  }
}
