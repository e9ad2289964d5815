// Readers of measurements, on small files of our own and on what strangers may send.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "orrery/error.hpp"
#include "studies/explain/measured/chrome_profile.hpp"
#include "studies/explain/measured/measured.hpp"

using namespace orrery;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-explain-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string compressed(const std::string& name, const std::string& text) const {
    const std::string path = (path_ / name).string();
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string error_of(const std::string& path) {
  try {
    static_cast<void>(read_measurements({path}));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TrainingLog training_log(const std::string& text) {
  TrainingLogReader reader("log");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) reader.read(line);
  return std::move(reader).finish();
}

constexpr const char* kTrace = R"({"schemaVersion": 1, "distributedInfo": {"rank": 2, "world_size": 4},
 "deviceProperties": [{"id": 0, "name": "GPU"}],
 "traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 1, "tid": 1, "ts": 1700000000000000.250, "dur": 100},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1700000000000001.500, "dur": 2.5, "args": {"correlation": 7}},
 {"ph": "X", "cat": "kernel", "name": "flash_fwd_kernel<128>", "ts": 1700000000000010.125, "dur": 20.5, "args": {"correlation": 7, "stream": 7}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL", "ts": 1700000000000040, "dur": 5,
  "args": {"Collective name": "_allgather_base", "In msg nelems": 100, "Out msg nelems": 200, "dtype": "BFloat16", "Group size": 2,
           "Process Group Name": "3", "Process Group Description": "TENSOR_MODEL_PARALLEL_GROUP", "Process Group Ranks": "[2, 3]"}},
 {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#5", "ts": 0, "dur": 1},
 {"ph": "i", "cat": "kernel", "name": "instant", "ts": 0}
 ]})";

}  // namespace

TEST_CASE("a trace of PyTorch's profiler") {
  const TemporaryFolder folder;
  const Measurements all = read_measurements({folder.compressed("rank2.json.gz", kTrace)});
  REQUIRE(all.profiles.size() == 1);
  const Profile& profile = all.profiles.front();
  CHECK(profile.rank == 2);
  CHECK(profile.world == 4);
  REQUIRE(profile.spans.size() == 2);
  CHECK(profile.spans[0].use == use_of(KernelClass::attention));
  CHECK(profile.spans[0].start_ns == 1'700'000'000'000'010'125);  // a double would miss it by 100 ns
  CHECK(profile.spans[0].finish_ns == 1'700'000'000'000'030'625);
  CHECK(profile.spans[0].launched_ns == 1'700'000'000'000'004'000);
  CHECK(profile.spans[1].use == KernelUse::communication);
  const ProfiledMessage& message = profile.messages[profile.spans[1].message];
  CHECK(message.collective == Collective::all_gather);
  CHECK(message.dimension == Dimension::tensor);
  CHECK(message.bytes == 400);  // 200 values of 2 bytes that come out
  REQUIRE(profile.steps.size() == 1);
  CHECK(profile.steps[0].number == 5);
  CHECK(profile.spans[0].step == 0);
}

TEST_CASE("a bare list of events, without steps") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "t.json",
      R"([{"ph":"X","cat":"kernel","name":"ampere_bf16_s16816gemm","ts":1,"dur":2,"args":{"stream":7}}])");
  const Measurements all = read_measurements({path});
  CHECK(all.profiles.front().spans.front().use == use_of(KernelClass::dense_products));
  CHECK(all.profiles.front().rank == 0);
  CHECK(mentions(all.profiles.front().remarks.front(), "no steps are marked"));
}

TEST_CASE("kernels by their names") {
  CHECK(use_by_name("void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm>") ==
        use_of(KernelClass::dense_products));
  CHECK(use_by_name("nvjet_hsh_128x256") == use_of(KernelClass::dense_products));
  CHECK(use_by_name("cudnn_generated_fort_native_sdpa_flash_bprop") == use_of(KernelClass::attention));
  CHECK(use_by_name("void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel") ==
        use_of(KernelClass::norm));
  CHECK(use_by_name("_permute_kernel") == use_of(KernelClass::permutation));
  CHECK(use_by_name("multi_tensor_apply_kernel<AdamFunctor>") == KernelUse::optimizer);
  CHECK(use_by_name("fused_rope_forward") == KernelUse::rotary);
  CHECK(use_by_name("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL") == KernelUse::communication);
  CHECK(use_by_name("something new") == use_of(KernelClass::other));
  CHECK(collective_by_name("ncclDevKernel_ReduceScatter_Sum_bf16") == Collective::reduce_scatter);
  CHECK(collective_by_name("ncclDevKernel_SendRecv") == Collective::send_recv);
  CHECK(dimension_by_name("EXPERT_MODEL_PARALLEL_GROUP") == Dimension::expert);
  CHECK(dimension_by_name("default_pg") == std::nullopt);
}

TEST_CASE("logs of training frameworks") {
  // Warm-up 9 s, then 2.0, 2.2, 2.1: the median of the three is 2.1.
  const TrainingLog megatron = training_log(
      "  world_size ...................................... 16\n"
      " iteration 1/ 4 | elapsed time per iteration (ms): 9000.0 | global batch size:   64 | lm loss: "
      "1.1E+01 |\n"
      "    forward-backward ...............................: (7000.10, 7000.20)\n"
      " iteration 2/ 4 | elapsed time per iteration (ms): 2000.0 | global batch size:   64 |\n"
      "    forward-backward ...............................: (1500.10, 1500.20)\n"
      " iteration 3/ 4 | elapsed time per iteration (ms): 2200.0 | global batch size:   64 |\n"
      " iteration 4/ 4 | elapsed time per iteration (ms): 2100.0 | global batch size:   64 |\n");
  CHECK(megatron.framework == "Megatron-LM");
  CHECK(spread_of(megatron.step_s.settled()).median == doctest::Approx(2.1));
  CHECK(megatron.timers_s.at("forward-backward").values.back() == doctest::Approx(1.5002));
  CHECK(megatron.global_batch_size == 64);
  CHECK(megatron.gpus == 16);

  const TrainingLog titan = training_log(
      "\x1b[31mstep: 10  \x1b[32mloss:  7.1  \x1b[39mmemory: 34.1GiB(43%)  \x1b[34mtps: 5,123  "
      "\x1b[36mtflops: 1.2\n");
  CHECK(titan.framework == "torchtitan");
  CHECK(titan.tokens_per_s_per_gpu.values.front() == doctest::Approx(5123));

  CHECK(training_log("Epoch 0: global_step=4, train_step_timing in s=7.63, x").step_s.values.front() ==
        doctest::Approx(7.63));
  CHECK(training_log("steps: 10 loss: 2.0 iter time (s): 0.512 samples/sec: 62").step_s.values.front() ==
        doctest::Approx(0.512));
  CHECK(training_log("{'train_runtime': 10, 'train_steps_per_second': 0.5}").step_s.values.front() ==
        doctest::Approx(2));
  CHECK(training_log("x step time: 123.4 ms").step_s.values.front() == doctest::Approx(0.1234));
  CHECK(training_log("time (ms) | forward-compute: 12.5 | optimizer: 3.25\n")
            .timers_s.at("optimizer")
            .values.front() == doctest::Approx(0.00325));
  CHECK(training_log("nothing of the kind, step by step\nelapsed time per iteration (ms): nan").empty());
}

TEST_CASE("a log of nccl-tests") {
  const TemporaryFolder folder;
  const std::string text =
      "# nThread 1 nGpus 2 minBytes 1024 maxBytes 2048\n"
      "# Using devices\n"
      "#   Rank  0 Group  0 Pid 1 on  node-a device  0 [0x00] GPU\n"
      "#   Rank  1 Group  0 Pid 1 on  node-b device  0 [0x00] GPU\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw "
      "  busbw #wrong\n"
      "node-a:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 2\n"
      "        1024           256     float     sum      -1    20.00    0.05    0.05      0    19.00    0.05 "
      "   0.05      0\n"
      "   134217728      33554432     float     sum      -1   2000.0   67.11   67.11      0   2100.0   63.91 "
      "  63.91    N/A\n";
  const Measurements all = read_measurements({folder.write("x.log", text)});
  REQUIRE(all.collectives.size() == 1);
  const CollectiveLog& log = all.collectives.front();
  CHECK(log.ranks == 2);
  CHECK(log.nodes == 2);
  CHECK(log.collective == Collective::all_reduce);  // of 2 ranks, whose bus is as fast as the algorithm
  REQUIRE(log.rows.size() == 2);
  CHECK(log.rows[0].time_s == doctest::Approx(19e-6));
  CHECK(log.rows[1].time_s == doctest::Approx(2000e-6));
}

TEST_CASE("results of vLLM's benchmark, and the log of its server") {
  const TemporaryFolder folder;
  const std::string results = folder.write(
      "r.json",
      R"({"backend": "vllm", "completed": 100, "total_output_tokens": 12800, "request_throughput": 10.5,
                    "input_lens": [1, 2], "itls": [[0.1, 0.2], []], "mean_ttft_ms": 120.5, "median_ttft_ms": 110, "p99_ttft_ms": 400,
                    "mean_tpot_ms": 20.25, "mean_e2el_ms": 2700})");
  const ServingMeasurement one = read_measurements({results}).serving.front();
  CHECK(one.figures.at("ttft_s") == doctest::Approx(0.1205));
  CHECK(one.figures.at("ttft_s_p50") == doctest::Approx(0.11));
  CHECK(one.figures.at("ttft_s_p99") == doctest::Approx(0.4));
  CHECK(one.figures.at("requests_per_s") == doctest::Approx(10.5));
  CHECK(one.requests == 100);
  const std::string server = folder.write("s.log",
                                          "INFO Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg "
                                          "generation throughput: 1.0 tokens/s, Running: 1 reqs\n"
                                          "INFO Engine 000: Avg prompt throughput: 10.0 tokens/s, Avg "
                                          "generation throughput: 500.0 tokens/s, Running: 8 reqs\n");
  CHECK(read_measurements({server}).serving.front().figures.at("output_tokens_per_s") == 500);
}

namespace {

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  char* message = nullptr;
  REQUIRE_MESSAGE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK,
                  (message == nullptr ? "" : message));
  sqlite3_close(database);
}

}  // namespace

TEST_CASE("an export of Nsight Systems") {
  const TemporaryFolder folder;
  const std::string path = folder.path("n.sqlite");
  run_sql(path,
          "CREATE TABLE StringIds(id INTEGER, value TEXT);"
          "INSERT INTO StringIds VALUES (1, 'rmsnorm_fwd'), (2, 'ncclDevKernel_AllReduce_Sum');"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, correlationId INT, "
          "demangledName INT, shortName INT);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 5, 1, 1), (3000, 3500, 0, 6, 2, 2), "
          "(1000, 1500, 1, 9, 1, 1);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, correlationId INT);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500, 700, 5), (2500, 2600, 6);"
          "CREATE TABLE NVTX_EVENTS(start INT, end INT, text TEXT);"
          "INSERT INTO NVTX_EVENTS VALUES (400, 5000, 'iteration3');");
  const Measurements all = read_measurements({path});
  REQUIRE(all.profiles.size() == 2);
  const Profile& first = all.profiles.front();
  REQUIRE(first.spans.size() == 2);
  CHECK(first.spans[0].use == use_of(KernelClass::norm));
  CHECK(first.spans[0].launched_ns == 700);
  CHECK(first.messages[first.spans[1].message].collective == Collective::all_reduce);
  CHECK(first.steps.front().number == 3);
}

TEST_CASE("what strangers send is refused by name, or read") {
  const TemporaryFolder folder;
  const std::string trace = kTrace;
  CHECK(mentions(error_of(folder.write("cut.json", trace.substr(0, 700))), "breaks off"));
  std::string packed;
  {
    std::ifstream file(folder.compressed("whole.json.gz", trace), std::ios::binary);
    packed.assign(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(mentions(error_of(folder.write("cut.json.gz", packed.substr(0, packed.size() - 60))), "break"));
  CHECK(mentions(error_of(folder.write("empty", "")), "is empty"));
  CHECK(mentions(error_of(folder.path("missing")), "cannot be read"));
  CHECK(
      mentions(error_of(folder.write("deep.json", std::string(300'000, '['))), "text without measurements"));
  CHECK(mentions(error_of(folder.write("deep2.json", R"({"traceEvents":)" + std::string(300'000, '['))),
                 "deeper"));
  CHECK(mentions(error_of(folder.write("long.json", R"({"a": ")" + std::string(5'000'000, 'x') + R"("})")),
                 "more than 4 MB"));
  CHECK(mentions(error_of(folder.write("digits.json", R"({"a": )" + std::string(5'000'000, '1') + "}")),
                 "more than 4 MB"));
  CHECK(mentions(error_of(folder.write("none.json", R"({"traceEvents": []})")), "without kernels"));
  CHECK(mentions(error_of(folder.write("wide.json", std::string("\xff\xfe{\0\"\0a\0", 8))), "no text"));
  CHECK(
      mentions(error_of(folder.write("prose.txt", "a poem\nwithout steps\n")), "text without measurements"));
  CHECK(mentions(error_of(folder.write("fake.sqlite", std::string("SQLite format 3\0 nonsense", 25))),
                 "sqlite"));
  const std::string foreign = folder.path("foreign.sqlite");
  run_sql(foreign, "CREATE TABLE people(name TEXT);");
  CHECK(mentions(error_of(foreign), "CUPTI_ACTIVITY_KIND_KERNEL"));
  const std::string views = folder.path("views.sqlite");
  run_sql(views,
          "CREATE TABLE StringIds(id INTEGER, value TEXT);"
          "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
          "FROM c) "
          "SELECT x AS start FROM c;");
  CHECK(mentions(error_of(views), "CUPTI_ACTIVITY_KIND_KERNEL"));
}

TEST_CASE("times that no clock shows are refused, with the kernel and what is allowed") {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& times) {
    return folder.write("t.json", R"([{"ph":"X","cat":"kernel","name":"gemm",)" + times + "}]");
  };
  CHECK(error_of(with(R"("ts":12,"dur":3)")).empty());
  for (const char* times : {R"("ts":1e300,"dur":5)", R"("ts":99999999999999999999999,"dur":1)",
                            R"("ts":1,"dur":1e14)", R"("ts":-5,"dur":1)", R"("ts":5,"dur":-1)",
                            R"("ts":5,"dur":1e18)", R"("ts":-9223372036854775808,"dur":1)"})
    CHECK_MESSAGE(mentions(error_of(with(times)), "kernel 1, \"gemm\": found times that no clock shows"),
                  times);
  CHECK(mentions(error_of(with(R"("ts":NaN,"dur":1)")), "no JSON, at byte"));
}

TEST_CASE("names, communicators and ranks of strangers are bounded") {
  const TemporaryFolder folder;
  const auto kernel = [](const std::string& name, const std::string& arguments) {
    return R"({"ph":"X","cat":"kernel","ts":1,"dur":1,"name":")" + name + R"(","args":{)" + arguments + "}}";
  };
  CHECK(mentions(error_of(folder.write("name.json", "[" + kernel(std::string(30'000, 'x'), "") + "]")),
                 "found a name of 30000 bytes, allowed up to 20000"));
  for (const char* rank : {"-1", "99999999999"})
    CHECK(mentions(error_of(folder.write("rank.json", R"({"distributedInfo": {"rank": )" + std::string(rank) +
                                                          R"(}, "traceEvents": [)" + kernel("a", "") + "]}")),
                   "found a rank of"));
  std::string many = "[";
  for (int group = 0; group <= 100'000; ++group)
    many += (group == 0 ? "" : ",") +
            kernel("ncclKernel_AllReduce", R"("Process Group Name":")" + std::to_string(group) + "\"");
  CHECK(mentions(error_of(folder.write("groups.json", many + "]")), "more than 100000 communicators"));
  // Lists of ranks that differ behind their 500th byte are different communicators.
  const std::string ranks(600, '1');
  const Measurements two = read_measurements({folder.write(
      "two.json", "[" +
                      kernel("ncclKernel_AllReduce",
                             R"("Process Group Name":"0","Process Group Ranks":")" + ranks + "2\"") +
                      "," +
                      kernel("ncclKernel_AllReduce",
                             R"("Process Group Name":"0","Process Group Ranks":")" + ranks + "3\"") +
                      "]")});
  REQUIRE(two.profiles.front().messages.size() == 2);
  CHECK(two.profiles.front().messages[0].group != two.profiles.front().messages[1].group);
}

TEST_CASE("numbers of logs that are none are refused, or no measurements") {
  const TemporaryFolder folder;
  CHECK(mentions(error_of(folder.write("huge.json", R"({"mean_ttft_ms": 1e300, "completed": 5})")),
                 "/mean_ttft_ms: found 1e+300, allowed 0 to 1e15"));
  CHECK(mentions(error_of(folder.write("less.json", R"({"mean_ttft_ms": 5, "completed": -1})")),
                 "/completed: found -1"));
  CHECK(mentions(error_of(folder.write("nan.json", R"({"completed": 5, "mean_ttft_ms": NaN})")),
                 "which has neither NaN nor Infinity: mean_ttft_ms is not a time"));
  CHECK(training_log("iteration 1 | elapsed time per iteration (ms): 1e300 | global batch size: 1e300 |")
            .empty());
  CHECK(training_log("    forward-backward .....: (1.0, 1e300)\n").timers_s.empty());
  const std::string threads = "# nThread 9223372036854775807 nGpus 9223372036854775807 minBytes 1\n";
  CHECK(mentions(error_of(folder.write("t.log", threads)), "without measurements"));
  // Rows of no time, of more than a day, and of more bytes than a message has.
  for (const char* row :
       {"1024 256 float sum -1 0 1 1 0", "1024 256 float sum -1 1e300 1 1 0",
        "9223372036854775807 256 float sum -1 20.0 1 1 0", "-5 256 float sum -1 20.0 1 1 0"})
    CHECK(mentions(error_of(folder.write("r.log", "# nThread 1 nGpus 2\n" + std::string(row) + "\n")),
                   "without measurements"));
}
