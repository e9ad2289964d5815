// Defines the extension orrery._orrery, on which the package python/orrery/ is built.
#include "orrery/names.hpp"
#include "python/module/bindings.hpp"

PYBIND11_MODULE(_orrery, module) {
  using namespace orrery::python;
  module.doc() = "Orrery's simulator; import `orrery`, which documents and wraps it.";
  module.attr("__version__") = std::string(orrery::version());
  bind_errors();
  bind_results(module);
  bind_runs(module);
  bind_names(module);
  bind_topology(module);
  bind_gossip(module);
  bind_space(module);
  bind_sweep(module);
  bind_plan(module);
  bind_explain(module);
  bind_read_files(module);
}
