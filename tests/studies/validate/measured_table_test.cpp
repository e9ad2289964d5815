#include "studies/validate/measured_table.hpp"

#include <doctest/doctest.h>

#include <random>

#include "config/catalog/catalog.hpp"
#include "studies/validate/validate.hpp"
#include "tests/sanitized.hpp"
#include "tests/studies/validate/tables.hpp"

using namespace orrery;
using orrery::validation_test::context;
using orrery::validation_test::diagnostics;
using orrery::validation_test::read;

namespace {

constexpr const char* kHead = "name,model,cluster.base,plan.data_parallel,measured.step_time_s\n";

/// A table of one row: `header` and `cells` beside those of a sound row.
std::string with(const std::string& header, const std::string& cells) {
  return "name,model,cluster.base,measured.step_time_s," + header + "\na,gpt3-125m,dgx-a100-80gb,1.5," +
         cells + "\n";
}

}  // namespace

TEST_CASE("a row is an experiment and what was measured") {
  const MeasuredTable table = read(
      "\xEF\xBB\xBFname,model.base,model.layers,cluster.base,plan.pipeline_parallel,plan.stage_layers,"
      "plan.sequence_parallel,plan.recompute,measured.memory.peak_gb,measured.step_time_s,source,note\r\n"
      "\"big, \"\"b\"\"\",gpt3-125m,24,dgx-a100-80gb,2,\"[11,13]\",false,full,40,1.5,paper,x\r\n"
      "\r\n"
      "7,gpt3-125m,,dgx-a100-80gb,,,,,,0.5,,\r\n");
  CHECK(table.name == "t");
  CHECK(table.source == "folder/t.csv");
  CHECK(table.keys == std::vector<std::string>{"memory.peak_gb", "step_time_s"});
  REQUIRE(table.rows.size() == 2);
  const MeasuredRow& first = table.rows[0];
  CHECK(first.name == "big, \"b\"");
  CHECK(first.experiment.name == "big, \"b\"");
  CHECK(first.line == 2);
  CHECK(first.experiment.model.layers == 24);
  CHECK(first.experiment.plan.stage_layers == std::vector<std::int64_t>{11, 13});
  CHECK(first.experiment.plan.recompute == Recompute::full);
  REQUIRE(first.measured.size() == 2);
  CHECK(first.measured[0].key == "memory.peak_gb");
  CHECK(first.measured[1].value == 1.5);
  const MeasuredRow& second = table.rows[1];
  CHECK(second.name == "7");
  CHECK(second.line == 4);
  CHECK(second.experiment.model.layers == 12);  // the catalog's: the cell is empty
  CHECK(second.experiment.plan.data_parallel == 8);
  CHECK(second.measured.size() == 1);
  CHECK(second.model_key != first.model_key);
}

TEST_CASE("parts may stand after what is in them, and a row needs no name") {
  const MeasuredTable table =
      read("model.layers,model,cluster.nodes,cluster,measured.step_time_s\n24,gpt3-125m,2,dgx-a100-80gb,1\n");
  CHECK(table.rows[0].name == "row 2");
  CHECK(table.rows[0].experiment.model.layers == 24);
  CHECK(table.rows[0].experiment.plan.data_parallel == 16);
}

TEST_CASE("overrides apply to every row") {
  TableContext changed = context();
  changed.overrides = {"simulation.network=alpha-beta", "plan.micro_batch_size=2"};
  const MeasuredTable table = read(std::string(kHead) + "a,gpt3-125m,dgx-a100-80gb,8,1\n", changed);
  CHECK(table.rows[0].experiment.simulation.network == Network::alpha_beta);
  CHECK(table.rows[0].experiment.plan.micro_batch_size == 2);
  changed.overrides = {"plan.micro_batch=2"};
  const std::string found = diagnostics(
      std::string(kHead) + "a,gpt3-125m,dgx-a100-80gb,8,1\nb,gpt3-125m,dgx-a100-80gb,8,1\n", changed);
  CHECK(found.starts_with("command line: /plan/micro_batch: found unknown key"));
  CHECK(found.find('\n') == std::string::npos);  // once, not once a row
}

TEST_CASE("rows that ask for what is not modelled yet are skipped with the reason") {
  const MeasuredTable later = read(
      "name,model,cluster.base,cluster.overrides,measured.step_time_s\n"
      "a,gpt3-125m,dgx-h100,\"[{\"\"gpu\"\": 0, \"\"speed\"\": 0.5, \"\"link\"\": "
      "0}]\",1\nb,gpt3-125m,dgx-h100,,\n");
  CHECK(later.rows[0].skipped_because.starts_with("/cluster/overrides/0/link: found key \"link\""));
  CHECK(later.rows[1].skipped_because == "nothing was measured");
}

TEST_CASE("a row that is wrong besides is an error") {
  CHECK(diagnostics("name,model,cluster,plan.zero_stage,measured.step_time_s\na,gpt3-125m,dgx-h100,7,1\n")
            .find("/plan/zero_stage: found 7") != std::string::npos);
  CHECK(diagnostics(with("plan.expert_parallel", "0")) ==
        "folder/t.csv:2:31: /plan/expert_parallel: found 0, allowed an integer from 1 to 4000000");
}

TEST_CASE("problems name the cell they come from") {
  CHECK(diagnostics("name,modle.layers,measured.step_time_s\na,1,1\n") ==
        "folder/t.csv:1:6: found \"modle.layers\", allowed a key of an experiment, measured.KEY, case, "
        "planner, "
        "planner.step_time_s, kept_back, source, note; did you mean \"model.layers\"?");
  CHECK(
      diagnostics("name,measured.step_time\na,1\n") ==
      "folder/t.csv:1:6: found \"measured.step_time\", allowed measured. and a figure of the result; did you "
      "mean \"step_time_s\"?");
  CHECK(diagnostics("name,name,measured.step_time_s\na,b,1\n")
            .starts_with("folder/t.csv:1:6: found \"name\" twice"));
  CHECK(diagnostics("name,model\na,gpt3-125m\n") ==
        "folder/t.csv:1:1: found no measured column, such as measured.step_time_s");
  CHECK(diagnostics(std::string(kHead) + "a,gpt3-125m,dgx-a100-80gb,1\nb,gpt3-125m,dgx-a100-80gb,8,1,1\n") ==
        "folder/t.csv:2:1: found 4 cells, allowed 5, as in the first line\n"
        "folder/t.csv:3:1: found 6 cells, allowed 5, as in the first line");
  CHECK(diagnostics(std::string(kHead) + "\xC3\xA4,gpt3-125m,dgx-a100-80gb,8,fast\n") ==
        "folder/t.csv:2:29: found \"fast\" for measured.step_time_s, allowed a number above 0");
  for (const char* number : {"0", "-1", "nan", "inf", "1e999", "1 s", "0x1", "1.5.2"}) {
    CAPTURE(number);
    std::string table = kHead;
    table.append("a,gpt3-125m,dgx-a100-80gb,8,").append(number).append("\n");
    CHECK(diagnostics(table).find("above 0") != std::string::npos);
  }
  CHECK(diagnostics(std::string(kHead) + "a,gpt3-125m,dgx-a100-80gb,eight,1\n") ==
        "folder/t.csv:2:27: /plan/data_parallel: found \"eight\", allowed an integer from 1 to 4000000");
  CHECK(diagnostics(std::string(kHead) + "a,gpt3-125,dgx-a100-80gb,8,1\n")
            .find("did you mean \"gpt3-125m\"?") != std::string::npos);
  CHECK(diagnostics(std::string(kHead) + "a,,dgx-a100-80gb,8,1\n")
            .starts_with("folder/t.csv:2:3: /model: missing"));
  CHECK(diagnostics(with("model.layers.0", "1")).find("found \"model.layers.0\"") != std::string::npos);
}

TEST_CASE("texts that are no table are refused") {
  CHECK(diagnostics("").starts_with("folder/t.csv:1:1: found no rows"));
  CHECK(diagnostics("\n\n\n").starts_with("folder/t.csv:1:1: found no rows"));
  CHECK(diagnostics(kHead).starts_with("folder/t.csv:1:1: found no rows"));
  CHECK(diagnostics("a,\"b\nc,d").starts_with("folder/t.csv:1:3: found a quote out of place"));
  CHECK(diagnostics("a,b\nc,d\"e\n").starts_with("folder/t.csv:2:4: found a quote out of place"));
  CHECK(diagnostics("a,b\nc,\xFF\n") == "folder/t.csv:2:3: the text is not UTF-8");
  CHECK(diagnostics(std::string(1'000'001, ',')).find("more than 1000000 cells") != std::string::npos);
  CHECK(diagnostics(with("plan.stage_layers", std::string(4'001, '[')))
            .find("found a cell of 4001 bytes, allowed 4000") != std::string::npos);
  CHECK(diagnostics(with("plan.stage_layers", std::string(2'000, '[') + std::string(2'000, ']'))) != "");
  CHECK_THROWS_AS(load_measured_table("no-such-table", context()), InputError);
  CHECK_THROWS_AS(load_measured_table("no-such-table.csv", context()), InputError);
}

TEST_CASE("any text gives a table or an InputError") {
  const std::string sound =
      "name,model,cluster.base,plan.pipeline_parallel,plan.stage_layers,measured.step_time_s\n"
      "\"a, b\",gpt3-125m,dgx-a100-80gb,2,\"[5,7]\",1.5\nc,gpt3-125m,dgx-a100-80gb,1,,2e-3\n";
  CHECK(diagnostics(sound) == "");
  std::mt19937 random(7);  // NOLINT: the same texts each time
  const std::string_view bytes = ",\"\n\r[]{}.:0123456789-eE \t\\/\x01\xC3\xA4nul";
  for (int i = 0; i < test::trials(3000); ++i) {
    std::string text = sound;
    for (auto edits = 1 + random() % 6; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const char byte = bytes[random() % bytes.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 9);
      } else if (random() % 2 == 0) {
        text[at] = byte;
      } else {
        text.insert(at, 1 + random() % 3, byte);
      }
      if (text.empty()) text = ",";
    }
    CAPTURE(text);
    CHECK_NOTHROW(diagnostics(text));
  }
}

TEST_CASE("the shipped tables read, each row with its source") {
  const std::vector<ShippedTable> shipped = shipped_tables();
  CHECK(shipped.size() >= 10);
  for (const ShippedTable& entry : shipped) {
    CAPTURE(entry.name);
    const MeasuredTable table = load_measured_table(entry.name, context());
    CHECK(table.name == entry.name);
    CHECK(table.rows.size() == entry.rows);
    CHECK(embedded_measurements().at(entry.name).find("source") != std::string::npos);
  }
}

TEST_CASE("a run out of memory is a row without figures") {
  const MeasuredTable table = read(
      "name,model,cluster.base,measured.step_time_s,measured.feasible\n"
      "a,gpt3-125m,dgx-a100-80gb,1.5,1\nb,gpt3-125m,dgx-a100-80gb,,0\nc,gpt3-125m,dgx-a100-80gb,,\n");
  CHECK(table.keys == std::vector<std::string>{"step_time_s"});
  CHECK(!table.rows[0].failed);
  CHECK(table.rows[1].failed);
  CHECK(table.rows[1].skipped_because.empty());
  CHECK(table.rows[2].skipped_because == "nothing was measured");
  CHECK(diagnostics(with("measured.feasible", "2")) ==
        "folder/t.csv:2:31: found \"2\" for measured.feasible, allowed 0 or 1");
}

TEST_CASE("a row may name its case and what a planner predicted; remarks stand at the head") {
  const MeasuredTable table = read(
      "# of \"plans\", that\n# were tried\n"
      "name,model,cluster.base,case,planner,planner.step_time_s,measured.step_time_s\n"
      "a,gpt3-125m,dgx-a100-80gb,\"one, two\",AMP,1.25,1.5\n#b,gpt3-125m,dgx-a100-80gb,,,,2\n");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].line == 4);
  CHECK(table.rows[0].case_name == "one, two");
  CHECK(table.rows[0].planner == "AMP");
  CHECK(table.rows[0].planner_step_s == 1.25);
  CHECK(table.rows[1].name == "#b");
  CHECK(!table.rows[1].planner_step_s);
  CHECK(diagnostics(with("planner.step_time_s", "soon")) ==
        "folder/t.csv:2:31: found \"soon\" for planner.step_time_s, allowed a number above 0");
  CHECK(diagnostics("# nothing else").starts_with("folder/t.csv:1:1: found no rows"));
}

TEST_CASE("figures of requests are measured of experiments that serve, and rows may be kept back from fits") {
  const std::string served =
      "name,model,cluster.base,cluster.nodes,cluster.gpus_per_node,inference.prompt_tokens,"
      "inference.output_tokens,measured.ttft_s,measured.tpot_s,kept_back\n";
  const MeasuredTable table = read(served +
                                   "a,gpt3-125m,dgx-a100-80gb,1,1,100,10,0.1,0.01,true\n"
                                   "b,gpt3-125m,dgx-a100-80gb,1,1,100,10,0.1,,\n");
  CHECK(table.keys == std::vector<std::string>{"ttft_s", "tpot_s"});
  CHECK(table.rows[0].measured.size() == 2);
  CHECK(table.rows[0].kept_back);
  CHECK_FALSE(table.rows[1].kept_back);
  const TableResult result = validate({table}, 1).front();
  CHECK(result.key_figures() == std::vector<std::string>{"tpot_s", "ttft_s"});
  CHECK(result.statistics.at("ttft_s").rows == 2);
  CHECK(result.kept_back.at("ttft_s").rows == 1);
  CHECK(diagnostics(with("kept_back", "yes")) ==
        "folder/t.csv:2:31: found \"yes\" for kept_back, allowed false or true");
  CHECK(diagnostics(with("measured.ttft_s", "0.1")) ==
        "folder/t.csv:2:31: found measured.ttft_s in a row without inference, allowed where requests are "
        "served");
}
