// Scripts are read and never run: variables, arrays, conditions, what stays open, and tricks.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "importers/common/shell_arithmetic.hpp"
#include "importers/common/shell_script.hpp"
#include "importers/frameworks/imported.hpp"
#include "orrery/error.hpp"

namespace orrery::importers::frameworks {
namespace {

/// The words of the last command of a script.
std::vector<std::string> last_command(const std::string& text,
                                      const std::map<std::string, std::string>& given = {}) {
  const SourceFile file("script.sh", text);
  ShellVariables variables(given, "script.sh");
  const ShellScript script = read_shell_script(file, variables);
  std::vector<std::string> words;
  if (!script.commands.empty())
    for (const PlacedText& word : script.commands.back().words) words.push_back(word.text());
  return words;
}

using Words = std::vector<std::string>;

constexpr const char* kModel =
    "MODEL_ARGS=(\n  --num-layers 16  # of them\n  --hidden-size 4096\n  --num-attention-heads 32\n"
    "  --seq-length 2048\n  --max-position-embeddings 2048\n  --vocab-size 32000\n)\n";

}  // namespace

TEST_CASE("variables, defaults, arrays, arithmetic and continued lines have their values") {
  CHECK(last_command("A=8\nrun $A ${B:-4} ${A:+x} $((A * 2 + 1)) \\\n  end") ==
        Words{"run", "8", "4", "x", "17", "end"});
  CHECK(last_command("L=(--a 1  # first\n  --b \"x y\")\nL+=(--c)\nrun ${L[@]} ${L[1]}") ==
        Words{"run", "--a", "1", "--b", "x", "y", "--c", "1"});
  CHECK(last_command("L=(\"--a 1\")\nrun \"${L[@]}\" \"$@\"") == Words{"run", "--a 1"});
  CHECK(last_command("A=\" \\\n  --x 1 \\\n  --y 2 \\\n  \"\nA+=\"--z\"\nrun $A") ==
        Words{"run", "--x", "1", "--y", "2", "--z"});
  CHECK(last_command("A=1; export B=2 C=$A\nrun '$A' \"$B\" $C") == Words{"run", "$A", "2", "1"});
  CHECK(last_command("run ${A}", {{"A", "given"}}) == Words{"run", "given"});
}

TEST_CASE("branches are taken where the condition is known") {
  CHECK(last_command("A=fp8\nif [[ $A == fp8 ]]; then X=1; else X=2; fi\nrun $X") == Words{"run", "1"});
  CHECK(
      last_command("A=3\nif [ $A -gt 2 ] && [ $A -lt 9 ]; then X=1; elif [ $A = 9 ]; then X=2; fi\nrun $X") ==
      Words{"run", "1"});
  CHECK(last_command("if [ -z ${A} ]; then A=5; fi\nrun $A") == Words{"run", "5"});
  CHECK(last_command("A=$1\nif [ \"$A\" == \"\" ]; then A=./out; fi\nrun $A") == Words{"run", "./out"});
  CHECK(last_command("A=b\ncase $A in\n  a) X=1 ;;\n  b|c) X=2 ;;\n  *) X=3 ;;\nesac\nrun $X") ==
        Words{"run", "2"});
  CHECK(last_command("A=2\n[ $A = 2 ] && X=1\n[ $A = 3 ] || Y=4\nrun $X $Y") == Words{"run", "1", "4"});
  CHECK(last_command("(( 3 > 2 )) && X=1\nrun $X") == Words{"run", "1"});
}

TEST_CASE("what is not known stays open, by the name of the variable to give") {
  CHECK(last_command("TP=$1\nrun $TP") == Words{"run", "${TP}"});
  CHECK(last_command("N=$(nproc)\nrun $N") == Words{"run", "${N}"});
  CHECK(last_command("G=$((MBS * DP))\nMBS=2\nrun $G") == Words{"run", "${MBS}"});
  CHECK(last_command("if [ $SIZE = 8B ]; then L=32; else L=80; fi\nrun $L") == Words{"run", "${SIZE}"});
  CHECK(last_command("if [ $SIZE = 8B ]; then L=32; else L=80; fi\nrun $L", {{"SIZE", "8B"}}) ==
        Words{"run", "32"});
  CHECK(last_command("for i in 1 2; do X=$i; done\nrun $X") == Words{"run", "${i}"});
}

TEST_CASE("commands within commands are read too") {
  CHECK(last_command("C=\"train --a 1\"\nsrun -n 4 bash -c '$C --b $R' 2>&1 | tee log") ==
        Words{"tee", "log"});
  CHECK(last_command("C=\"train --a 1\"\nsrun bash -c '$C --b 2'") == Words{"train", "--a", "1", "--b", "2"});
  CHECK(last_command("C=\"train --a 1\"\necho $C\neval $C") == Words{"train", "--a", "1"});
  CHECK(last_command("f() {\n  train --a 1\n}\nf") == Words{"f"});
}

TEST_CASE("arithmetic of the shell is whole and checked") {
  const ShellNumber none = [](const std::string&) { return std::nullopt; };
  CHECK(shell_arithmetic("2 + 3 * 4 ** 2", none) == 50);
  CHECK(shell_arithmetic("(7 / 2) % 2", none) == 1);
  CHECK(shell_arithmetic("3 > 2 ? 10 : 20", none) == 10);
  CHECK_FALSE(shell_arithmetic("1 / 0", none));
  CHECK_FALSE(shell_arithmetic("9223372036854775807 + 1", none));
  CHECK_FALSE(shell_arithmetic("2 +", none));
  CHECK_FALSE(shell_arithmetic("A + 1", none));
  CHECK_FALSE(shell_arithmetic(std::string(10000, '('), none));
}

TEST_CASE("nothing in a script is run, and none of it grows without end") {
  const auto mark = std::filesystem::temp_directory_path() / "orrery-was-run";
  std::filesystem::remove(mark);
  const std::string touch = "touch " + mark.string();
  last_command("X=$(" + touch + ")\n`" + touch + "`\neval \"" + touch + "\"\nrun $X");
  imported({{"x.sh", "#!/bin/bash\n" + touch + "\n$(" + touch + ")\n"}});
  CHECK_FALSE(std::filesystem::exists(mark));
  std::string bomb = "A=aaaaaaaaaa\n";
  for (int i = 0; i < 60; ++i) bomb += "A=$A$A\n";
  CHECK_THROWS_AS(last_command(bomb + "run $A"), InputError);
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += "if true; then\n";
  CHECK_NOTHROW(last_command(nested));
  CHECK_NOTHROW(last_command("run \"unterminated ${A:-${B:-"));
  CHECK_NOTHROW(last_command("cat <<EOF\nnever ends"));
}

TEST_CASE("a script of Megatron-LM is an experiment, with GPUs of its launcher") {
  const std::string text =
      std::string("#!/bin/bash\nGPUS=8\nNNODES=2\nTP=2\n") + kModel +
      "if [[ $TP -gt 1 ]]; then PAR=\"--sequence-parallel\"; fi\n"
      "torchrun --nproc_per_node $GPUS --nnodes $NNODES --node_rank ${RANK:-0} pretrain_gpt.py \\\n"
      "  ${MODEL_ARGS[@]} --tensor-model-parallel-size $TP $PAR --micro-batch-size 1 \\\n"
      "  --global-batch-size 64 --bf16 $EXTRA \"$@\"\n";
  const Imported result = imported({{"launch.sh", text}});
  const auto e = experiment_of(result);
  REQUIRE_FALSE(result.stopped());
  CHECK(e.at("plan").at("tensor_parallel") == 2);
  CHECK(e.at("plan").at("sequence_parallel") == true);
  CHECK(e.at("cluster").at("nodes") == 2);
  CHECK(e.at("model").at("vocab") == 32000);  // 125 x 256
  CHECK(item_of(result, "--hidden-size")->place.line == 7);
  CHECK(item_of(result, "${EXTRA}")->fate == Fate::ignored);
}

TEST_CASE("arguments of the script itself are missing until they are given") {
  const std::string text =
      std::string(
          "#!/bin/bash\nTP=$1\nif [ $2 = full ]; then AC=\"--recompute-granularity full --recompute-method "
          "uniform\"; fi\n") +
      kModel +
      "torchrun --nproc_per_node 8 pretrain_gpt.py ${MODEL_ARGS[@]} --micro-batch-size 1 "
      "--global-batch-size 64 --tensor-model-parallel-size $TP $AC --bf16\n";
  const Imported open = imported({{"launch.sh", text}});
  CHECK(open.stopped());
  CHECK(is_missing(open, "--set TP=VALUE"));
  CHECK(is_missing(open, "--set 2=VALUE"));
  const auto e = experiment_of(imported({{"launch.sh", text}}, {"TP=2", "2=full"}));
  CHECK(e.at("plan").at("recompute") == "full");
  CHECK(e.at("plan").at("tensor_parallel") == 2);
}

TEST_CASE("Slurm's head gives nodes and GPUs, and a file that the script writes gives DeepSpeed's keys") {
  const std::string text =
      std::string(
          "#!/bin/bash\n#SBATCH --nodes=4   # of them\n#SBATCH "
          "--gres=gpu:a100:8\nZERO=2\nCONFIG=./ds.json\n") +
      "cat <<END > $CONFIG\n{\"train_micro_batch_size_per_gpu\": 2, \"zero_optimization\": {\"stage\": "
      "$ZERO},\n"
      " \"bf16\": {\"enabled\": true}}\nEND\n" +
      kModel +
      "srun python pretrain_gpt.py ${MODEL_ARGS[@]} --micro-batch-size 2 --global-batch-size 64 --bf16 "
      "--deepspeed --deepspeed_config $CONFIG --zero-stage $ZERO\n";
  const Imported result = imported({{"job.slurm", text}});
  const auto e = experiment_of(result);
  REQUIRE_FALSE(result.stopped());
  CHECK(e.at("cluster").at("nodes") == 4);
  CHECK(e.at("plan").at("zero_stage") == 2);
  CHECK(e.at("stack") == "megatron-deepspeed-2023");
}

TEST_CASE("a script that sets variables alone hands them on to the file that uses them") {
  const std::string script = "#!/bin/bash\nexport TP=${TP:-4}\nexport NNODES=2\nbash run_all.sh --x\n";
  const std::string config =
      "MODEL_ARGS:\n  --num-layers: 16\n  --hidden-size: 4096\n  --num-attention-heads: 32\n"
      "  --seq-length: 2048\n  --tensor-model-parallel-size: ${TP}\n  --micro-batch-size: 1\n";
  const auto e = experiment_of(imported({{"env.sh", script}, {"config.yaml", config}}));
  CHECK(e.at("plan").at("tensor_parallel") == 4);
  CHECK(imported({{"env.sh", script}}).stopped());
}

TEST_CASE("a trainer of Hugging Face in a script is read with its catalog model") {
  const std::string text =
      "#!/bin/bash\nZERO=$2\nif [ \"$ZERO\" == \"\" ]; then\n  ZERO=3\nfi\ndeepspeed --num_gpus 8 main.py "
      "\\\n"
      "  --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 "
      "--gradient_accumulation_steps 4 \\\n"
      "  --max_seq_len 4096 --zero_stage $ZERO --bf16 --gradient_checkpointing\n";
  const auto e = experiment_of(imported({{"train.sh", text}}));
  CHECK(e.at("model").at("base") == "llama3.1-8b");
  CHECK(e.at("plan").at("zero_stage") == 3);
  CHECK(e.at("plan").at("global_batch_size") == 64);  // 2 x 4 x 8 replicas
  CHECK(e.at("plan").at("recompute") == "full");
}

/// A script of a zoo of models: no #!, variables, and another script that gets arguments.
constexpr const char* kHanding = R"(# Cluster: fill in
export CLUSTER=${CLUSTER:-}
export MODEL=${MODEL:-Some-Model}

# 64 nodes: 256 GPUs
PR=mxfp8 TP=2 PP=4 NNODES=64 GBS=8192 bash sbatch_benchmarking.sh \
  --recompute-granularity selective --recompute-modules mlp \
  --mtp-num-layers 1
)";

TEST_CASE("scripts without #! are told by their content, and hand on variables") {
  const Imported result = imported({{"run.sh", kHanding}});
  REQUIRE(result.files.size() == 1);
  CHECK(result.files.front().kind == "launch-script");
  const ImportItem* degree = item_of(result, "launch.variable.TP");
  REQUIRE(degree != nullptr);
  CHECK(degree->found == "\"2\"");
  // Arguments of the other script are reported, each at its line.
  const ImportItem* argument = item_of(result, "--recompute-granularity");
  REQUIRE(argument != nullptr);
  CHECK(argument->fate == Fate::ignored);
  CHECK(argument->place.line == 7);
  CHECK(argument->note.find("sbatch_benchmarking.sh") != std::string::npos);
}

TEST_CASE("a script without #! trains by its command") {
  const Imported result = imported(
      {{"run_it.txt",
        "GPUS=8\ntorchrun --nproc_per_node $GPUS pretrain_gpt.py \\\n  --num-layers 4 --hidden-size 512 "
        "\\\n --num-attention-heads 8 --seq-length 1024 --micro-batch-size 1 --vocab-size 1000 "
        "--global-batch-size 8 --bf16\n"}});
  CHECK(experiment_of(result).at("model").at("layers") == 4);
}

TEST_CASE("YAML that names scripts and text that is neither are no scripts of the shell") {
  CHECK_THROWS_AS(imported({{"job.yaml", "name: a job\nlaunch: torchrun train.sh\nnodes: 4\n"}}), InputError);
  CHECK_THROWS_AS(imported({{"notes.txt", "We ran run.sh on\nmany nodes of\nthe cluster.\n"}}), InputError);
}

}  // namespace orrery::importers::frameworks
