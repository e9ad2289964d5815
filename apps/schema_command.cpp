#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "config/experiment/schema.hpp"
#include "config/schema/menus.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

struct SchemaArguments {
  std::string what = "experiment";
  std::string id;  ///< where editors find it; empty: it says none
};

/// The schema with `id` behind the name of its draft.
std::string with_id(const std::string& schema, const std::string& id) {
  const auto parsed = nlohmann::ordered_json::parse(schema);
  nlohmann::ordered_json named{{"$schema", parsed.at("$schema")}, {"$id", id}};
  named.update(parsed);
  return named.dump(2) + "\n";
}

}  // namespace

Command add_schema(CLI::App& app, const CommonOptions& /*common*/) {
  auto arguments = std::make_shared<SchemaArguments>();
  app.add_option("what", arguments->what, "model, cluster, experiment or calibration")
      ->check(one_of({"model", "cluster", "experiment", "calibration"}));
  app.add_option("--id", arguments->id, "The address that the schema names as its own ($id)")
      ->type_name("URL")
      ->check(not_empty("the address where the schema will lie"));
  return [arguments] {
    const std::string schema = json_schema(arguments->what, menus());
    std::printf("%s\n", (arguments->id.empty() ? schema : with_id(schema, arguments->id)).c_str());
    return kDone;
  };
}

}  // namespace orrery
