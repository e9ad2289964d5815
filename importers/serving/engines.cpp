#include "importers/serving/engines.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace orrery::importers::serving {
namespace {

/// Options that engines share, or that change nothing whatever engine has them.
const std::array kOfAllEngines{
    ImportRow{"model", "", read_model_name},
    ImportRow{"tensor_parallel_size", "plan.tensor_parallel"},
    ImportRow{"pipeline_parallel_size", "plan.pipeline_parallel"},
    ImportRow{"dtype", "", read_dtype},
    ImportRow{"kv_cache_dtype", "", read_cache_dtype},
    ImportRow{"host", "", nullptr, kDoor},
    ImportRow{"port", "", nullptr, kDoor},
    ImportRow{"api_key", "", nullptr, kDoor},
    ImportRow{"served_model_name", "", nullptr, kDoor},
    ImportRow{"trust_remote_code", "", nullptr, kCode},
    ImportRow{"download_dir", "", nullptr, kCode},
    ImportRow{"load_format", "", nullptr, kCode},
    ImportRow{"config", "", nullptr, "another file of options: give it to orrery import too"},
    ImportRow{"node_rank", "", nullptr, kCode},
    ImportRow{"tokenizer", "", nullptr, kText},
    ImportRow{"tokenizer_mode", "", nullptr, kText},
    ImportRow{"chat_template", "", nullptr, kText},
    ImportRow{"tool_call_parser", "", nullptr, kText},
    ImportRow{"reasoning_parser", "", nullptr, kText},
    ImportRow{"attention_backend", "", nullptr, kKernels},
    ImportRow{"log_level", "", nullptr, kCode},
    ImportRow{"stream_interval", "", nullptr, kDoor},
};

}  // namespace

void read_engine(const Engine& engine, const SourceKeys& keys, Draft& draft) {
  std::vector<ImportRow> rows(engine.rows.begin(), engine.rows.end());
  rows.insert(rows.end(), kOfAllEngines.begin(), kOfAllEngines.end());
  read_options(keys, rows, fmt::format("an option of {} that Orrery does not know", engine.name), draft);
  engine.complete(keys, draft);
  default_degrees(draft, engine.name);
  draft.default_to("stack", std::string(engine.stack),
                   fmt::format("the newest {} of the catalog; --set stack=NAME takes another", engine.name));
  draft.default_to("inference.batching", "continuous", "as engines do");
}

}  // namespace orrery::importers::serving
