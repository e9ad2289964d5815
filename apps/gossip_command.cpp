#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/gossip_output.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/text_columns.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "reports/page/page.hpp"
#include "topologies/gossip/analysis.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery {
namespace {

/// Rounds drawn of random matchings: their gap is that of these rounds.
constexpr std::uint32_t kRandomRounds = 16;

/// Workers that a picture draws a graph for where one number is given.
const std::vector<std::uint32_t> kDrawnWorkers{4, 8, 16, 32, 64, 128, 256, 512, 1024};

struct GossipOptions {
  std::vector<std::string> topologies;
  std::vector<std::uint32_t> workers{16};
  std::string weights{kMixingWeightsNames.front()};
  DataParallelSync sync;
  GossipSize size{1, 8, kRandomRounds, 0};
  std::string json, csv, html;
  ChartArguments picture;
};

void weigh(const GossipGraph& graph, GossipRow& row) {
  row.smallest = 1;
  for (const Mixing& round : graph.rounds) {
    for (const double weight : round.weight) {
      row.smallest = std::min(row.smallest, weight);
      row.largest = std::max(row.largest, weight);
    }
  }
  row.smallest = std::min(row.smallest, row.largest);
}

GossipRow row_of(const GossipOptions& options, const std::string& topology, std::uint32_t workers) {
  GossipRow row;
  row.topology = topology;
  row.workers = workers;
  try {
    DataParallelSync sync = options.sync;
    sync.topology = topology;
    GossipSize size = options.size;
    size.workers = workers;
    const GossipGraph graph = build_gossip_graph(sync, size);
    const GossipDegrees degrees = gossip_degrees(graph);
    row.rounds = graph.rounds.size();
    row.degree = std::max(degrees.max_in, degrees.max_out);
    row.messages = messages_per_step(graph);
    row.gap = spectral_gap(graph);
    row.period = averaging_period(graph);
    weigh(graph, row);
    row.graph = graph;
  } catch (const InputError& error) {
    row.problem = error.diagnostics().front().message;
  }
  return row;
}

std::string weights_text(const GossipRow& row) {
  char text[64];
  if (row.largest - row.smallest < 1e-12) {
    std::snprintf(text, sizeof text, "%.4g", row.largest);
  } else {
    std::snprintf(text, sizeof text, "%.3g..%.3g", row.smallest, row.largest);
  }
  return text;
}

void print_row(const GossipRow& row) {
  char begin[80];
  std::snprintf(begin, sizeof begin, "%-23s %7u ", row.topology.c_str(), row.workers);
  if (!row.problem.empty()) {
    std::printf("%s\n", wrapped_lines(begin + row.problem, text_columns()).c_str());
    return;
  }
  const std::string period = row.period ? std::to_string(*row.period) : "-";
  std::printf("%s%6u %8.6g %9.4g %5s %s\n", begin, row.degree, row.messages, row.gap, period.c_str(),
              weights_text(row).c_str());
}

void print_table(const std::vector<GossipRow>& rows) {
  std::printf("%-23s %7s %6s %8s %9s %5s %s\n", "topology", "workers", "degree", "messages", "spectral",
              "exact", "weights of");
  std::printf("%-23s %7s %6s %8s %9s %5s %s\n", "", "", "", "per step", "gap", "after", "neighbours");
  for (const GossipRow& row : rows) print_row(row);
}

/// Number of matrix entries in a page that a browser draws at once.
constexpr std::size_t kMostDrawnWeights = 200'000;

/// The mixing matrices of all rounds as rows of in-neighbours and weights; nothing where they are too large.
nlohmann::ordered_json matrices_of(const GossipGraph& graph) {
  std::size_t weights = 0;
  for (const Mixing& round : graph.rounds) weights += round.weight.size() + round.self.size();
  if (weights > kMostDrawnWeights) return {};
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
  for (const Mixing& round : graph.rounds)
    rounds.push_back(
        {{"begin", round.begin}, {"from", round.from}, {"weight", round.weight}, {"self", round.self}});
  return rounds;
}

nlohmann::ordered_json json_of(const GossipRow& row) {
  nlohmann::ordered_json out{{"topology", row.topology}, {"workers", row.workers}};
  if (!row.problem.empty()) {
    out["problem"] = row.problem;
    return out;
  }
  out["rounds"] = row.rounds;
  out["degree"] = row.degree;
  out["messages_per_step"] = row.messages;
  out["spectral_gap"] = row.gap;
  out["exact_after_rounds"] = row.period ? nlohmann::ordered_json(*row.period) : nlohmann::ordered_json();
  out["smallest_weight"] = row.smallest;
  out["largest_weight"] = row.largest;
  return out;
}

void write_gossip_page(const std::vector<GossipRow>& rows, const Sink& sink) {
  nlohmann::ordered_json data = nlohmann::ordered_json::array();
  for (const GossipRow& row : rows) {
    data.push_back(json_of(row));
    if (row.problem.empty()) data.back()["matrices"] = matrices_of(row.graph);
  }
  Page page;
  page.title = "Graphs of gossip";
  page.scripts = {"studies.js", "gossip.js"};
  page.data = data.dump();
  write_page(page, sink);
}

std::vector<std::string> names_of(const GossipOptions& options) {
  std::vector<std::string_view> known;
  for (const GossipTopologyEntry& entry : gossip_topologies()) known.push_back(entry.name);
  if (options.topologies.empty()) return {known.begin(), known.end()};
  for (const std::string& name : options.topologies) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw InputError({Diagnostic{"command line", 0, 0, "",
                                 "found " + quote(name) + ", allowed " + joined(known) + hint(name, known)}});
  }
  return options.topologies;
}

/// An option that none of the topologies has a use for is a mistake.
void refuse_idle(const CLI::App& app, const std::vector<std::string>& names) {
  struct Use {
    const char* option;
    std::vector<std::string> topologies;
  };
  for (const Use& use : {Use{"--shape", {"grid", "torus"}}, Use{"--probability", {"erdos-renyi"}},
                         Use{"--peers", {"base-k"}}}) {
    const bool used = std::ranges::any_of(names, [&](const std::string& name) {
      return std::ranges::find(use.topologies, name) != use.topologies.end();
    });
    if (used || app.get_option(use.option)->count() == 0) continue;
    const std::vector<std::string_view> allowed(use.topologies.begin(), use.topologies.end());
    throw InputError({Diagnostic{
        "command line", 0, 0, "",
        std::string(use.option) + " does nothing for these topologies, allowed with " + joined(allowed)}});
  }
}

std::vector<GossipRow> rows_of(const GossipOptions& options, const std::vector<std::string>& names,
                               const std::vector<std::uint32_t>& workers) {
  std::vector<GossipRow> rows;
  for (const std::string& name : names)
    for (const std::uint32_t count : workers) rows.push_back(row_of(options, name, count));
  return rows;
}

int run(const CLI::App& app, GossipOptions options, const CommonOptions& common) {
  const auto chosen = std::find(kMixingWeightsNames.begin(), kMixingWeightsNames.end(), options.weights);
  options.sync.method = SyncMethod::gossip;
  options.sync.weights = static_cast<MixingWeights>(chosen - kMixingWeightsNames.begin());
  const std::vector<std::string> names = names_of(options);
  refuse_idle(app, names);
  Outputs outputs("");
  OutputFile* file = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* page = outputs.open(options.html);
  const ChartFiles picture(options.picture, outputs);
  const std::vector<GossipRow> rows = rows_of(options, names, options.workers);
  if (file != nullptr) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const GossipRow& row : rows) all.push_back(json_of(row));
    file->write(all.dump(2) + "\n");
  }
  if (csv != nullptr) csv->write(gossip_csv(rows));
  if (page != nullptr) write_gossip_page(rows, page_to(*page, common));
  if (picture.any())
    picture.write(gossip_scene(options.workers.size() > 1 ? rows : rows_of(options, names, kDrawnWorkers)));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_table(rows);
  return kDone;
}

}  // namespace

Command add_gossip(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<GossipOptions>();
  app.add_option("topology", options->topologies, "Names of gossip topologies; all when left out");
  app.add_option("--workers", options->workers, "Numbers of workers, separated by commas")
      ->type_name("NUMBERS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(integer_within(1, 1 << 24));
  app.add_option("--workers-per-node", options->size.workers_per_node, "For the inner-outer topologies")
      ->check(integer_within(1, 1 << 24));
  app.add_option("--weights", options->weights, "Rule of the weights")
      ->type_name("RULE")
      ->check(one_of({kMixingWeightsNames.begin(), kMixingWeightsNames.end()}));
  app.add_option("--peers", options->sync.peers, "base-k: neighbours a worker may have in a round")
      ->check(integer_within(1, 64));
  app.add_option("--shape", options->sync.shape, "grid, torus: extents, separated by commas")
      ->type_name("NUMBERS")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--probability", options->sync.probability, "erdos-renyi: of an edge")
      ->check(number_within(0, 1));
  app.add_option("--seed", options->size.seed, "Of random topologies")
      ->check(integer_within(0, kLargestSeed));
  add_output(app, "--json", options->json, "Write the table as JSON (- for standard output)");
  add_output(app, "--csv", options->csv, "Write a line per graph");
  add_chart_options(app, options->picture,
                    "the spectral gap over the numbers of workers (4 to 1,024 where one is given)");
  add_output(app, "--html", options->html, "Write a page that shows the graphs and their mixing matrices");
  return [options, &common, &app] { return run(app, *options, common); };
}

}  // namespace orrery
