// Several jobs as they are written, and what is wrong with them.
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include "config/experiment/read_jobs.hpp"
#include "tests/config/support.hpp"

using namespace orrery;

namespace {

const std::string kJobsBox = R"("cluster": {"base": "box", "nodes": 4})";

JobsExperiment read_jobs(const std::string& keys, const std::vector<std::string>& overrides = {}) {
  return JobsExperiment("{" + keys + "}", "jobs.json", overrides, io_test::catalog(), io_test::menus());
}

std::string jobs_problem(const std::string& keys) {
  try {
    read_jobs(keys);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

bool jobs_hold(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

/// A file that is gone with the test.
class JobsFile {
 public:
  JobsFile(std::string name, const std::string& text) : name_("jobs_test_" + std::move(name)) {
    std::ofstream(name_) << text;
  }
  JobsFile(const JobsFile&) = delete;
  JobsFile& operator=(const JobsFile&) = delete;
  ~JobsFile() { std::remove(name_.c_str()); }
  [[nodiscard]] std::string keys() const { return kJobsBox + R"(, "jobs": ")" + name_ + "\""; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace

TEST_CASE("jobs as a list") {
  const JobsExperiment read = read_jobs(kJobsBox + R"(, "placement": "rail-aware", "queueing": "gang",
    "preemption": {"slice_s": 600, "checkpoint_s": 5, "restart_s": 60},
    "jobs": [{"name": "a", "gpus": 12, "step_s": 0.5, "steps": 100, "fabric_share": 0.2, "arrival_s": 7,
              "priority": -2},
             {"experiment": {"model": "tiny", "plan": {"data_parallel": 16}}, "gpus": 16, "steps": 3},
             {"experiment": {"model": "tiny", "plan": {"data_parallel": 16}}, "gpus": 16, "steps": 5},
             {"experiment": {"model": "tiny", "plan": {"data_parallel": 4}}, "gpus": 4, "steps": 9}])");
  CHECK(read.policy().placement == JobPlacement::rail_aware);
  CHECK(read.policy().queueing == JobQueueing::gang);
  CHECK(read.policy().slice_s == 600);
  CHECK(read.cluster().gpus() == 32);
  REQUIRE(read.jobs().size() == 4);
  CHECK(read.jobs()[0].gpus == 12);
  CHECK(read.jobs()[0].priority == -2);
  CHECK(read.jobs()[1].name == "job 2");
  // Equal experiments are one.
  REQUIRE(read.experiments().size() == 2);
  CHECK(read.jobs()[1].experiment == read.jobs()[2].experiment);
  CHECK(read.experiments()[0].cluster.nodes == 2);
  CHECK(read.experiments()[1].cluster.nodes == 1);
  CHECK(read.experiments()[1].cluster.gpus_per_node == 4);
}

TEST_CASE("the experiment of a job may be a file, whose own cluster says how many GPUs it needs") {
  const JobsFile file("own.json", R"({"model": "tiny", "cluster": {"base": "tuned-box", "nodes": 3},
    "plan": {"data_parallel": 24, "global_batch_size": 24}, "run": {"steps": 3}})");
  const JobsExperiment read =
      read_jobs(kJobsBox + R"(, "jobs": [{"experiment": ")" + file.name() + R"(", "steps": 1}])");
  CHECK(read.jobs()[0].gpus == 24);
  const Experiment& own = read.experiments().at(read.jobs()[0].experiment);
  CHECK(own.cluster.nodes == 3);
  CHECK(own.cluster.node.latency_us == 2);  // the box's, not that of its own cluster
}

TEST_CASE("wrong jobs") {
  const auto one = [](const std::string& job) { return kJobsBox + R"(, "jobs": [)" + job + "]"; };
  CHECK(jobs_hold(jobs_problem(kJobsBox), "/jobs: missing"));
  CHECK(jobs_hold(jobs_problem(R"("jobs": [{"gpus": 1, "step_s": 1, "steps": 1}])"), "/cluster: missing"));
  CHECK(jobs_hold(jobs_problem(one("")), "allowed a list of 1 to 1000000 jobs"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "step_s": 1})")), "/jobs/0/steps: missing"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "steps": 1})")), "/jobs/0/step_s: missing"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 33, "step_s": 1, "steps": 1})")),
                  "/jobs/0/gpus: found 33, allowed up to 32"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 3, "step_s": 1, "steps": 1, "prioritty": 2})")),
                  "did you mean \"priority\"?"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "step_s": 1e8, "steps": 100})")), "allowed up to 1e+09 s"));
  CHECK(jobs_hold(jobs_problem(one(R"({"experiment": {"model": "tiny"}, "gpus": 12, "steps": 1})")),
                  "allowed whole nodes of 8"));
  CHECK(jobs_hold(jobs_problem(one(R"({"experiment": {"model": "tiny"}, "steps": 1})")),
                  "allowed gpus beside it"));
  CHECK(jobs_hold(jobs_problem(one(R"({"experiment": {"model": "tin"}, "gpus": 8, "steps": 1})")),
                  "/jobs/0/experiment/model"));
  CHECK(
      jobs_hold(jobs_problem(one(R"({"experiment": {"model": "tiny"}, "gpus": 8, "steps": 1, "step_s": 1})")),
                "/jobs/0/step_s: found beside experiment"));
  CHECK(
      jobs_hold(jobs_problem(one(R"({"experiment": "absent.json", "gpus": 8, "steps": 1})")), "absent.json"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "step_s": 1, "steps": 1})") + R"(, "queuing": "fifo")"),
                  "did you mean \"queueing\"?"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "step_s": 1, "steps": 1})") + R"(, "model": "tiny")"),
                  "/model: found beside jobs"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "step_s": 1, "steps": 1})") + R"(, "preemption": {})"),
                  "without queueing priority or gang"));
  CHECK(jobs_hold(jobs_problem(one(R"({"gpus": 1, "step_s": 1, "steps": 1})") +
                               R"(, "queueing": "gang", "preemption": {"slice_s": 300})"),
                  "a job would never get on"));
  CHECK(jobs_hold(jobs_problem(R"("cluster": {"base": "box", "nods": 4}, "jobs": "x.csv")"),
                  "did you mean \"nodes\"?"));
}

TEST_CASE("other commands send jobs to theirs") {
  try {
    read_experiment_text("{" + kJobsBox + R"(, "jobs": "x.csv"})", "e.json", {}, io_test::catalog(),
                         io_test::menus());
    FAIL("was read");
  } catch (const InputError& error) {
    CHECK(jobs_hold(error.what(), "found several jobs, allowed in orrery jobs"));
  }
  try {
    read_experiment_text("{" + kJobsBox + R"(, "model": "tiny", "placement": "spread"})", "e.json", {},
                         io_test::catalog(), io_test::menus());
    FAIL("was read");
  } catch (const InputError& error) {
    CHECK(jobs_hold(error.what(), "/placement: found without jobs"));
  }
}

TEST_CASE("our own columns") {
  const JobsFile file("own.csv",
                      "gpus,duration_s,name,arrival_s,steps,priority,fabric_share\n"
                      "# a comment\n8,100,late,50,10,1,0.25\n\n4,60,early,20,,,\n0,5,cpu,1,,,\n");
  const JobsExperiment read = read_jobs(file.keys());
  CHECK(read.trace_kind() == "Orrery");
  CHECK(read.left_out() == 1);
  REQUIRE(read.jobs().size() == 2);
  CHECK(read.jobs()[0].name == "early");
  CHECK(read.jobs()[0].arrival_s == 0);
  CHECK(read.jobs()[0].step_s == 60);
  CHECK(read.jobs()[1].arrival_s == 30);
  CHECK(read.jobs()[1].steps == 10);
  CHECK(read.jobs()[1].step_s == 10);
  CHECK(read.jobs()[1].fabric_share == 0.25);
  CHECK(read_jobs(kJobsBox + R"(, "jobs": {"trace": ")" + file.name() +
                  R"(", "first": 1, "fabric_share": 0.5})")
            .jobs()[0]
            .fabric_share == 0.5);
}

TEST_CASE("columns of public traces") {
  const JobsFile helios(
      "helios.csv",
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
      "5,u1,v1,8,32,1,COMPLETED,2020-04-01 00:01:00,2020-04-01 00:02:00,2020-04-01 00:03:40,100,60\n"
      "6,u1,v1,0,32,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:02:00,2020-04-01 00:03:40,100,60\n"
      "7,u1,v1,16,64,2,FAILED,2020-04-01 00:00:30,2020-04-01 00:02:00,2020-04-01 00:03:40,40,60\n");
  JobsExperiment read = read_jobs(helios.keys());
  CHECK(read.trace_kind() == "Helios");
  CHECK(read.left_out() == 1);
  REQUIRE(read.jobs().size() == 2);
  CHECK(read.jobs()[0].name == "7");
  CHECK(read.jobs()[0].step_s == 40);
  CHECK(read.jobs()[1].arrival_s == 30);

  const JobsFile acme(
      "acme.csv",
      "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_"
      "time\n"
      "a,u,1,8,16,Other,COMPLETED,2023-03-01 00:00:02+08:00,2023-03-01 00:00:05+08:00,,3600.0,3.0,28800.0\n"
      "b,u,1,8,16,Other,CANCELLED,2023-02-28 16:00:01+00:00,,,,,\n");
  read = read_jobs(acme.keys());
  CHECK(read.trace_kind() == "Acme");
  CHECK(read.left_out() == 1);  // it never ran
  CHECK(read.jobs()[0].step_s == 3600);

  const JobsFile pai("pai.csv",
                     "j1,worker,4,Terminated,1000.0,1600.0,600.0,29.3,50.0,MISC\n"
                     "j2,ps,1,Terminated,900.0,1600.0,600.0,29.3,,\n"
                     "j3,tensorflow,3,Failed,950.0,1000.0,600.0,29.3,100.0,T4\n");
  read = read_jobs(pai.keys());
  CHECK(read.trace_kind() == "PAI");
  REQUIRE(read.jobs().size() == 2);
  CHECK(read.jobs()[0].gpus == 3);
  CHECK(read.jobs()[0].step_s == 50);
  CHECK(read.jobs()[1].gpus == 2);  // four halves
  CHECK(read.jobs()[1].arrival_s == 50);

  const JobsFile pods("pods.csv",
                      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                      "deletion_time,scheduled_time\n"
                      "p0,12000,16384,1,1000,,LS,Running,0,12537496,0.0\n"
                      "p1,6000,12288,8,1000,,BE,Failed,100,160,130\n");
  read = read_jobs(pods.keys());
  CHECK(read.trace_kind() == "PAI pods");
  CHECK(read.jobs()[1].gpus == 8);
  CHECK(read.jobs()[1].step_s == 30);
}

TEST_CASE("Philly's log") {
  const JobsFile file("philly.json", R"([
    {"status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "attempts": [
       {"start_time": "2017-10-07 01:57:58", "end_time": "2017-10-07 01:58:58",
        "detail": [{"ip": "m405", "gpus": ["gpu0", "gpu1"]}, {"ip": "m406", "gpus": ["gpu0"]}]},
       {"start_time": "2017-10-07 02:00:00", "end_time": "2017-10-07 02:00:30",
        "detail": [{"ip": "m405", "gpus": ["gpu0", "gpu1", "gpu3"]}]}],
     "submitted_time": "2017-10-07 01:57:04", "user": "ce2c7f"},
    {"status": "Killed", "vc": "x", "jobid": "application_2", "attempts": [],
     "submitted_time": "2017-10-07 01:50:00", "user": "u"},
    {"status": "Killed", "vc": "x", "jobid": "application_3", "submitted_time": "2017-10-07 01:56:04", "user": "u",
     "attempts": [{"start_time": "2017-10-07 02:00:00", "end_time": null, "detail": []}]}])");
  const JobsExperiment read = read_jobs(file.keys());
  CHECK(read.trace_kind() == "Philly");
  CHECK(read.left_out() == 2);
  REQUIRE(read.jobs().size() == 1);
  CHECK(read.jobs()[0].name == "application_1");
  CHECK(read.jobs()[0].gpus == 3);
  CHECK(read.jobs()[0].step_s == 90);
}

TEST_CASE("wrong traces are named by line") {
  const auto problem = [](const std::string& text) {
    const JobsFile file("wrong.csv", text);
    return jobs_problem(file.keys());
  };
  CHECK(jobs_hold(problem("arrival_s,gpus,duration\n0,1,1\n"),
                  "but \"duration\"; did you mean \"duration_s\"?") ==
        false);  // duration is a column of others
  CHECK(jobs_hold(problem("arrival_s,gpu,duration_s\n0,1,1\n"), "jobs_test_wrong.csv:1:1: found no columns"));
  CHECK(jobs_hold(problem("arrival_s,gpus,duration_s\n0,1\n"), ":2:1: found 2 values, allowed 3"));
  CHECK(jobs_hold(problem("arrival_s,gpus,duration_s\n0,1,1\n0,x,1\n"), ":3:3: found gpus \"x\""));
  CHECK(jobs_hold(problem("arrival_s,gpus,duration_s\nsoon,1,1\n"), ":2:1: found arrival_s \"soon\""));
  CHECK(jobs_hold(problem("arrival_s,gpus,duration_s\n0,1,1e10\n"), "found duration_s"));
  CHECK(jobs_hold(problem("arrival_s,gpus,duration_s\n0,64,1\n"), "of 64 GPUs, allowed up to 32"));
  CHECK(jobs_hold(problem("arrival_s,gpus,duration_s\n"), "found no jobs with GPUs"));
  CHECK(jobs_hold(problem(""), "found no jobs with GPUs"));
  CHECK(jobs_hold(problem("[{\"jobid\": \"a\", \"submitted_time\": \"now\"}]"), "job 1: found time \"now\""));
  CHECK(jobs_hold(problem("[\n\n{\"jobid\": ]"), ":3:"));
  CHECK(jobs_hold(problem("[3]"), "allowed an object"));
  CHECK(jobs_hold(problem("[[[[[[[[[[[[[[]]]]]]]]]]]]]]"), "found a list, allowed an object"));
}
