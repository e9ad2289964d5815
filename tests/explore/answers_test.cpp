// Answers to the page: the figures of simulate, differences to a pinned run, errors with their lines.
#include "explore/answers.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"

namespace orrery::explore {
namespace {

using Answer = nlohmann::json;

constexpr const char* kPlan =
    "model: llama3.1-8b\ncluster: { base: dgx-h100, nodes: 2 }\n"
    "plan: { tensor_parallel: 4, global_batch_size: 64, zero_stage: 1 }\n";

Question question_about(std::vector<std::string> changes, std::string key = "") {
  return {{kPlan, std::move(changes)}, {}, std::move(key), ""};
}

}  // namespace

TEST_CASE("figures are those of simulate, with the changes in the experiment") {
  Simulator simulator;
  const Answer answer = Answer::parse(figures_answer(question_about({"plan.tensor_parallel=2"}), simulator));
  const Report alone = simulate(read_setup({kPlan, {"plan.tensor_parallel=2"}}).experiment);
  CHECK(answer.at("result").at("step_time_s").get<double>() == to_seconds(alone.makespan_ps));
  CHECK(answer.at("resolved").at("plan").at("tensor_parallel") == 2);
  CHECK(answer.at("experiment").get<std::string>().find("tensor_parallel: 2") != std::string::npos);
  CHECK(answer.at("difference").is_null());
}

TEST_CASE("terms against a pinned run add up to the difference of the steps") {
  Simulator simulator;
  Question question = question_about({"plan.tensor_parallel=2"});
  question.pinned = {kPlan, {}};
  const Answer answer = Answer::parse(figures_answer(question, simulator));
  double sum = 0;
  for (const Answer& term : answer.at("difference").at("breakdown_s"))
    sum += term.at("now").get<double>() - term.at("pinned").get<double>();
  const double step = answer.at("result").at("step_time_s").get<double>() -
                      answer.at("difference").at("result").at("step_time_s").get<double>();
  CHECK(sum == doctest::Approx(step).epsilon(1e-9));
}

TEST_CASE("degrees are those that divide, with what each gives or the reason that it cannot") {
  Simulator simulator;
  const Answer answer = Answer::parse(variants_answer(question_about({}, "plan.tensor_parallel"), simulator));
  std::vector<std::string> values;
  for (const Answer& one : answer.at("values")) {
    values.push_back(one.at("value"));
    CHECK((one.at("time_s").is_number() || !one.at("reason").get<std::string>().empty()));
  }
  CHECK(values == std::vector<std::string>{"1", "2", "4", "8", "16"});  // divisors of 16 GPUs
}

TEST_CASE("a number with too many values to list has neighbours") {
  Simulator simulator;
  const Answer answer =
      Answer::parse(variants_answer(question_about({}, "plan.global_batch_size"), simulator));
  CHECK(answer.at("values").at(0).at("value") == "32");  // 64 / 2
  CHECK(answer.at("values").at(2).at("value") == "128");
}

TEST_CASE("an error has the line of the text that it is about") {
  Simulator simulator;
  const Question question{
      {"model: llama3.1-8b\ncluster: dgx-h100\nplan: { tensor_paralel: 4 }\n", {}}, {}, "", ""};
  Answer answer;
  try {
    answer = Answer::parse(figures_answer(question, simulator));
  } catch (const InputError& error) {
    answer = Answer::parse(errors_answer(error));
  }
  CHECK(answer.at("errors").at(0).at("line") == 3);
  CHECK(answer.at("errors").at(0).at("message").get<std::string>().find("tensor_parallel") !=
        std::string::npos);
}

TEST_CASE("texts that are no questions are refused") {
  for (const char* text : {"", "[]", "{", "7", "{\"setup\":3}", "\xff\xfe"}) {
    CAPTURE(text);
    Simulator simulator;
    CHECK_THROWS_AS(static_cast<void>(figures_answer(read_question(text), simulator)), InputError);
  }
}

TEST_CASE("files to take away are what the command line writes") {
  Question question = question_about({});
  for (const char* form : {"experiment", "json", "csv", "svg", "page", "trace", "megatron"}) {
    question.form = form;
    CAPTURE(form);
    CHECK(Answer::parse(taken_answer(question)).at("text").get<std::string>().size() > 100);
  }
  question.form = "cobol";
  CHECK_THROWS_AS(static_cast<void>(taken_answer(question)), InputError);
}

}  // namespace orrery::explore
