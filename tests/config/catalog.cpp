#include "config/catalog/catalog.hpp"

#include <doctest/doctest.h>

#include "config/experiment/schema.hpp"
#include "config/schema/menus.hpp"
#include "tests/config/support.hpp"

using namespace orrery;

TEST_CASE("a catalog lists, finds and describes its entries") {
  const Catalog& catalog = io_test::catalog();
  CHECK(catalog.names(CatalogKind::gpu) == std::vector<std::string>{"fast", "old", "tuned", "untuned"});
  CHECK(catalog.contains(CatalogKind::cluster, "box"));
  CHECK_FALSE(catalog.contains(CatalogKind::model, "box"));
  CHECK(catalog.summary(CatalogKind::model, "tiny") == "a tiny model");
  CHECK(catalog.text(CatalogKind::model, "tiny").starts_with("{\"summary\""));
  CHECK(catalog.nearest(CatalogKind::model, "tinny") == "tiny");
  CHECK_FALSE(catalog.nearest(CatalogKind::model, "megatron"));
}

TEST_CASE("names are ordered by size") {
  const Catalog catalog(CatalogFiles{{"models/g-13b.json", "{}"},
                                     {"models/g-6.7b.json", "{}"},
                                     {"models/g-760m.json", "{}"},
                                     {"models/g-1t.json", "{}"},
                                     {"models/f-2b.json", "{}"}});
  CHECK(catalog.names(CatalogKind::model) ==
        std::vector<std::string>{"f-2b", "g-760m", "g-6.7b", "g-13b", "g-1t"});
}

TEST_CASE("a catalog text that cannot be read is named") {
  const Catalog catalog(CatalogFiles{{"models/a.json", "{"}});
  for (int times = 0; times < 2; ++times)  // it does not become readable
    CHECK_THROWS_WITH((void)catalog.text(CatalogKind::model, "a"),
                      doctest::Contains("catalog/models/a.json:1:2: syntax error"));
  CHECK_THROWS_AS(Catalog(CatalogFiles{{"others/a.json", "{}"}}), InputError);
}

TEST_CASE("every entry of the embedded catalog is right, or not modelled yet") {
  const Catalog catalog = Catalog::embedded();
  const auto check = [&](const std::string& model, const std::string& cluster) {
    const std::string text = R"({"model": ")" + model + R"(", "cluster": )" + cluster + "}";
    CAPTURE(text);
    try {
      read_experiment_text(text, "", {}, catalog, io_test::menus());
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        CAPTURE(diagnostic.text());
        CHECK(diagnostic.not_modelled);
      }
    }
  };
  const auto models = catalog.names(CatalogKind::model);
  const auto gpus = catalog.names(CatalogKind::gpu);
  if (models.empty() || gpus.empty()) return;
  for (const std::string& model : models) check(model, R"({"gpu": ")" + gpus.front() + "\"}");
  for (const std::string& gpu : gpus) check("gpt3-125m", R"({"gpu": ")" + gpu + "\"}");
  for (const std::string& cluster : catalog.names(CatalogKind::cluster))
    check("gpt3-125m", "\"" + cluster + "\"");
}

TEST_CASE("every software calibration of the embedded catalog is right") {
  const Catalog catalog = Catalog::embedded();
  for (const std::string& name : catalog.names(CatalogKind::calibration)) {
    if (catalog.text(CatalogKind::calibration, name).find(R"("part": "software")") == std::string::npos)
      continue;
    CAPTURE(name);
    CHECK_NOTHROW(
        read_experiment_text(R"({"model": "gpt3-125m", "cluster": "dgx-h100", "stack": ")" + name + "\"}", "",
                             {}, catalog, io_test::menus()));
  }
}

TEST_CASE("schemas come from the same tables") {
  const Menus menus = io_test::menus();
  for (const char* which : {"model", "cluster", "experiment"}) {
    CHECK(json_schema(which, menus).find("http://json-schema.org/draft-07/schema#") != std::string::npos);
  }
  const std::string schema = json_schema("experiment", menus);
  for (const char* key :
       {"\"tensor_parallel\"", "\"link_gb_per_s\"", "\"interleaved-1f1b\"", "\"kv_heads\""}) {
    CHECK(schema.find(key) != std::string::npos);
  }
  CHECK_THROWS_AS(json_schema("models", menus), InputError);
}

TEST_CASE("a calibration joins the catalog under its name, and what is wrong in one is located") {
  const auto [named, name] = io_test::catalog().with_calibration(
      R"({"name": "mine", "part": "software", "constants": {
            "forward_issue_us": {"value": 7, "source": "a test", "minimum": 1, "maximum": 9}}, "fit": {"any": 1}})",
      "f.json", "f");
  CHECK(name == "mine");
  CHECK(named.part_of_calibration("mine") == "software");
  const Experiment experiment =
      read_experiment_text(R"({"model": "tiny", "cluster": "box", "stack": "mine"})", "e.json", {}, named,
                           io_test::menus())
          .experiment;
  CHECK(experiment.software.forward_issue_us == 7);
  const auto wrong = [](const char* text) {
    try {
      static_cast<void>(io_test::catalog().with_calibration(text, "f.json", "f"));
      return std::string();
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
  };
  CHECK(wrong(R"({"part": "software",
 "constants": {"forward_issue": {"value": 1, "source": "s"}}})")
            .starts_with("f.json:2:16: /constants/forward_issue: found unknown key"));
  CHECK(wrong(R"({"part": "gpu", "constants": {"sustained_clock": {"value": 2, "source": "s"}}})")
            .find("allowed a number from 0 to 1") != std::string::npos);
  CHECK(wrong(R"({"part": "gpu", "constants": {"sustained_clock": {"value": 1}}})").find("source: missing") !=
        std::string::npos);
  CHECK(wrong(R"({"constants": {}})").find("/part: missing") != std::string::npos);
  CHECK(wrong(R"({"part": "software", "constants": {}, "serving_errors": {}})") ==
        "f.json:1:57: /serving_errors: found object, allowed a list of objects");
  CHECK(wrong(R"({"part": "software", "constants": {}, "serving_errors": [
 {"figure": "ttft", "gpus": [], "rows": 9, "p10": 0, "p90": 1}]})")
            .starts_with("f.json:2:13: /serving_errors/0/figure: found \"ttft\", allowed one of ttft_s"));
  CHECK(wrong(R"({"part": "software", "constants": {}, "serving_errors": [
 {"figure": "ttft_s", "gpus": "h100", "rows": 9, "p10": 0, "p90": 1}]})") ==
        "f.json:2:31: /serving_errors/0/gpus: found \"h100\", allowed a list of texts");
  CHECK(wrong(R"({"part": "software", "constants": {}, "serving_errors": [
 {"figure": "ttft_s", "gpus": [], "rows": 9, "p10": 0.5, "p90": -0.5}]})") ==
        "f.json:2:65: /serving_errors/0/p90: found -0.5, allowed p10 (0.5) or more");
  CHECK(wrong(R"({"part": "software", "constants": {}, "serving_errors": [{"figure": "ttft_s"}]})")
            .find("missing") != std::string::npos);
  CHECK(wrong(R"({"part": "gpu", "constants": {}, "inherit": "x"})").find("did you mean \"inherits\"?") !=
        std::string::npos);
}
