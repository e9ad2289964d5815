#include <iterator>

#include "config/catalog/locate.hpp"
#include "config/experiment/experiment_reader.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"

namespace orrery {

void check_overrides(const std::vector<std::string>& overrides, const Catalog& catalog, const Menus& menus) {
  const Document document = parse_document("{}", "");
  Json given = document.value;
  std::vector<Diagnostic> diagnostics;
  const std::vector<std::string> set = apply_overrides(given, overrides, diagnostics);
  ExperimentReader reader(catalog, menus);
  reader.check_parts(given);
  for (Diagnostic& diagnostic :
       located(reader.findings(), {document, "", given, set, reader.resolver().uses(), catalog.data()})) {
    if (diagnostic.source == kCommandLine)
      diagnostics.push_back(std::move(diagnostic));  // else a key that lines have
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
}

}  // namespace orrery
