// Where mistakes are said to stand that are found after, or besides, the reading.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;

namespace {

std::string located(std::string_view text, const std::vector<std::string>& overrides,
                    const std::string& pointer) {
  const LocatedExperiment read =
      read_experiment_text(text, "e.json", overrides, io_test::catalog(), io_test::menus());
  try {
    read.apply([&](const Experiment&) { throw InputError(pointer, "wrong"); });
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

}  // namespace

TEST_CASE("a mistake found after the reading gets its place in text, catalog or command line") {
  const char* text = "{\"model\": \"tiny\",\n \"cluster\": \"box\", \"plan\": {\"zero_stage\": 1}}";
  CHECK(located(text, {}, "/plan/zero_stage") == "e.json:2:43: /plan/zero_stage: wrong");
  CHECK(located(text, {"plan.zero_stage=2"}, "/plan/zero_stage") == "command line: /plan/zero_stage: wrong");
  CHECK(located(text, {}, "/cluster/node/link_gb_per_s") ==
        "e.json:2:13: /cluster/node/link_gb_per_s: wrong (in catalog cluster \"box\")");
  CHECK(located("model: tiny\ncluster: box\n", {}, "/cluster") == "e.json:2:10: /cluster: wrong");
}

TEST_CASE("problems that name a source of their own keep it, results pass through") {
  const LocatedExperiment read = read_experiment_text(R"({"model": "tiny", "cluster": "box"})", "e.json", {},
                                                      io_test::catalog(), io_test::menus());
  CHECK(read.apply([](const Experiment& e) { return e.model.layers; }) == 8);
  const InputError both({{"command line", 0, 0, "/plan", "first"}, {"", 0, 0, "/model", "second"}});
  const InputError told = read.positions.located(both);
  REQUIRE(told.diagnostics().size() == 2);
  CHECK(told.diagnostics()[0].text() == "command line: /plan: first");
  CHECK(told.diagnostics()[1].text() == "e.json:1:11: /model: second");
}

TEST_CASE("a line of a series knows its name and id even if it is wrong") {
  ExperimentSeries series(io_test::catalog(), io_test::menus(), {});
  ExperimentLabel label;
  CHECK(series.read(R"({"id": "a\n", "name": "x", "model": "tiny", "cluster": "box"})", "", &label)
            .experiment.name == "x");
  CHECK(label.id == R"("a\n")");
  CHECK(label.name == "x");
  label = {};
  CHECK_THROWS_AS(series.read(R"({"id": 7, "name": "y", "model": "none", "cluster": "box"})", "", &label),
                  InputError);
  CHECK(label.id == "7");
  CHECK(label.name == "y");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "id": [1]})") ==
        "e.json:1:43: /id: found [1], allowed a text of at most 1000 bytes or an integer");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "id": 1.5})").find("/id: found 1.5") !=
        std::string::npos);
}

TEST_CASE("keys and file names stay on one line and move nothing on a terminal") {
  const auto of_key = [](const std::string& key) {
    return diagnostics("{\"model\": \"tiny\", \"cluster\": \"box\", \"plan\": {\"" + key + "\": 1}}");
  };
  CHECK(of_key("a\\nb").find("/plan/a\\x0ab: found unknown key \"a\\x0ab\"") != std::string::npos);
  CHECK(of_key("a\\u0000b").find("/plan/a\\x00b: ") != std::string::npos);
  CHECK(of_key("\\u001b[31m").find("/plan/\\x1b[31m: ") != std::string::npos);
  CHECK(of_key("\\u202egnp.exe").find("/plan/\\u202egnp.exe: found unknown key \"\\u202egnp.exe\"") !=
        std::string::npos);
  CHECK(of_key("größe").find("/plan/größe: ") != std::string::npos);
  CHECK(diagnostics("{}", {}, "a\nb\x1b.json").starts_with("a\\x0ab\\x1b.json:1:1: /model: missing"));
  CHECK(diagnostics("{}", {}, "\xff.json").starts_with("\\xff.json:1:1: "));
}

TEST_CASE("mistakes beyond the first hundred are counted") {
  std::string text = R"({"model": "tiny", "cluster": "box", "plan": {)";
  for (int i = 0; i < 1000; ++i) text += (i > 0 ? ", \"k" : "\"k") + std::to_string(i) + "\": 1";
  const std::string found = diagnostics(text + "}}");
  CHECK(std::ranges::count(found, '\n') == 100);
  CHECK(found.ends_with("\ne.json: 900 more mistakes are left out"));
}
