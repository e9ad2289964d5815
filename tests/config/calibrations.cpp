// Calibrations are defaults of the keys of a gpu, a node and a fabric.
#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;
using io_test::read;

namespace {

Cluster cluster(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read(R"({"model": "tiny", "cluster": )" + text + "}", overrides).cluster;
}

std::string cluster_problems(const std::string& text) {
  return diagnostics(R"({"model": "tiny", "cluster": )" + text + "}");
}

void check_refused(const std::string& constants, const char* message) {
  const Catalog catalog(CatalogFiles{{"calibrations/a.json", constants}});
  CHECK_THROWS_WITH((void)catalog.text(CatalogKind::calibration, "a"), doctest::Contains(message));
}

}  // namespace

TEST_CASE("constants come from the calibrations that a catalog cluster names") {
  const Cluster c = cluster(R"("tuned-box")");
  CHECK(c.gpu.calibration == "quick");
  CHECK(c.gpu.gemm_efficiency == 0.9);
  CHECK(c.gpu.sustained_clock == 0.8);
  CHECK(c.gpu.memory_efficiency == 1);  // in no calibration
  CHECK(c.node.calibration == "wires");
  CHECK(c.node.latency_us == 3);
  CHECK(c.node.ramp_us == 7);
  CHECK(c.fabric.calibration == "ether");
  CHECK(c.fabric.efficiency == 0.5);
}

TEST_CASE("an explicit key wins over the calibration") {
  const Cluster c = cluster(R"({"base": "tuned-box", "node": {"latency_us": 1}, "fabric": {"efficiency": 0.7},
                                "gpu": {"gemm_efficiency": 0.5}})");
  CHECK(c.gpu.gemm_efficiency == 0.5);
  CHECK(c.gpu.sustained_clock == 0.8);
  CHECK(c.node.latency_us == 1);
  CHECK(c.node.ramp_us == 7);
  CHECK(c.fabric.efficiency == 0.7);

  const Cluster set =
      cluster(R"("tuned-box")", {"cluster.node.latency_us=4", "cluster.gpu.sustained_clock=1"});
  CHECK(set.node.latency_us == 4);
  CHECK(set.node.ramp_us == 7);
  CHECK(set.gpu.sustained_clock == 1);
  CHECK(set.gpu.gemm_efficiency == 0.9);
}

TEST_CASE("a gpu based on another keeps its calibration, or names its own") {
  const Cluster based = cluster(R"({"gpu": {"base": "tuned", "memory_gb": 40, "sustained_clock": 0.6}})");
  CHECK(based.gpu.memory_gb == 40);
  CHECK(based.gpu.gemm_efficiency == 0.9);
  CHECK(based.gpu.sustained_clock == 0.6);

  const Cluster other = cluster(R"("tuned-box")", {"cluster.gpu.calibration=quicker"});
  CHECK(other.gpu.gemm_efficiency == 0.9);  // inherited
  CHECK(other.gpu.sustained_clock == 0.95);

  const Cluster whole = cluster(R"({"gpu": {"peak_tflops": {"fp16": 1}, "memory_gb": 8, "memory_gb_per_s": 9,
                                            "calibration": "quick"}})");
  CHECK(whole.gpu.gemm_efficiency == 0.9);
}

TEST_CASE("a wiring that starts afresh has no calibration but its own") {
  const Cluster c = cluster(R"({"base": "tuned-box", "node": {"kind": "ring", "link_gb_per_s": 50},
                                "fabric": {"kind": "ring", "nic_gbps": 100, "calibration": "ether"}})");
  CHECK(c.node.calibration.empty());
  CHECK(c.node.latency_us == 0);
  CHECK(c.node.ramp_us == 0);
  CHECK(c.fabric.efficiency == 0.5);
}

TEST_CASE("unknown calibrations, and those of another part, are refused where they are named") {
  CHECK(cluster_problems(R"({"gpu": {"base": "tuned", "calibration": "quikc"}})") ==
        "e.json:1:71: /cluster/gpu/calibration: found \"quikc\", allowed a calibration of a gpu (circle-a, "
        "circle-b, mixed, odd, quick, quicker); did you mean \"quick\"?");
  CHECK(cluster_problems(R"({"gpu": "untuned"})") ==
        "e.json:1:38: /cluster/gpu/calibration: found \"quik\", allowed a calibration of a gpu (circle-a, "
        "circle-b, mixed, odd, quick, quicker); did you mean \"quick\"? (in catalog gpu \"untuned\")");
  CHECK(cluster_problems(R"({"base": "tuned-box", "fabric": {"calibration": "wires"}})") ==
        "e.json:1:78: /cluster/fabric/calibration: found \"wires\", which is of a node, allowed a "
        "calibration of a fabric (ether)");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "tuned-box"})", {"cluster.node.calibration=wirse"}) ==
        "command line: /cluster/node/calibration: found \"wirse\", allowed a calibration of a node "
        "(wires); did you mean \"wires\"?");
}

TEST_CASE("calibrations that inherit what they cannot are refused") {
  CHECK(cluster_problems(R"({"gpu": {"base": "tuned", "calibration": "odd"}})") ==
        "catalog/calibrations/odd.json:1:29: /inherits: found \"absent\", allowed a "
        "calibration of a gpu (circle-a, circle-b, mixed, odd, quick, quicker)");
  CHECK(cluster_problems(R"({"gpu": {"base": "tuned", "calibration": "mixed"}})") ==
        "catalog/calibrations/mixed.json:1:29: /inherits: found \"wires\", which is of a "
        "node, allowed a calibration of a gpu (circle-a, circle-b, mixed, odd, quick, quicker)");
  CHECK(cluster_problems(R"({"gpu": {"base": "tuned", "calibration": "circle-a"}})") ==
        "catalog/calibrations/circle-b.json:1:29: /inherits: found \"circle-a\", so that the calibration "
        "inherits from itself");
}

TEST_CASE("errors inside a calibration name it, missing keys do not") {
  check_refused(
      R"({"part": "node", "constants": {"efficiency": {"value": 2, "source": "measured"}}})",
      "catalog/calibrations/a.json:1:56: /constants/efficiency/value: found 2, allowed a number from "
      "0.001 to 1");
  CHECK(cluster_problems(R"({"base": "tuned-box", "node": {"kind": "ring", "calibration": "wires"}})") ==
        "e.json:1:60: /cluster/node/link_gb_per_s: missing; a wired node needs it: a number from 1e-06 to "
        "70000 GB/s, one direction, per GPU port (nvswitch, pcie, pcie-host) or per link (the others)");
}

TEST_CASE("a calibration file needs a part, and a value and a source for every constant") {
  check_refused(
      R"({"part": "gpu", "constants": {"sustained_clock": {"value": 1}}})",
      "/constants/sustained_clock/source: missing; every constant needs it: text of at most 40000 bytes");
  check_refused(R"({"part": "gpu", "constants": {"sustained_clock": {"source": "measured"}}})",
                "/constants/sustained_clock/value: missing; every constant needs it: the constant");
  check_refused(
      R"({"part": "gpu", "constants": {"sustained_clock": {"value": 1, "source": ""}}})",
      "/constants/sustained_clock/source: found \"\", allowed a text that says where the value comes from");
  check_refused(R"({"part": "gpu", "constants": {"sustained_clock": 1}})",
                "/constants/sustained_clock: found 1, allowed an object");
  check_refused(R"({"part": "gpu"})",
                "/constants: missing; every calibration needs it: an object of constants");
  check_refused(R"({"part": "cpu", "constants": {}})",
                "/part: found \"cpu\", allowed one of gpu, node, fabric, software");
}
