#include "importers/frameworks/gpus_in_comments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {

void read_gpus_in_comments(const SourceFile& file, Draft& draft) {
  for (const std::string_view before : {"preset for ", "assuming "}) {
    const std::size_t at = file.text().find(before);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = file.text().substr(at + before.size(), 40);
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    const auto gpus = whole_number(Json(std::string(rest.substr(0, blank))));
    if (!gpus || *gpus < 1 || rest.find("GPU") == std::string_view::npos) continue;
    draft.default_to(launch::kGpus, *gpus, fmt::format("the comment in line {}", file.line_at(at)));
    const std::string_view kind = rest.substr(std::min(blank + 1, rest.size()));
    if (kind.starts_with("A100")) draft.default_to("cluster.base", "dgx-a100-80gb", "the comment says A100");
    if (kind.starts_with("H100")) draft.default_to("cluster.base", "dgx-h100", "the comment says H100");
  }
}

}  // namespace orrery::importers::frameworks
