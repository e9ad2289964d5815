#include "explore/page.hpp"

#include "config/text/json.hpp"
#include "reports/page/page.hpp"

namespace orrery::explore {

std::string explore_page(const std::string& catalog, const std::string& setup) {
  Page page;
  page.title = "Orrery: explore";
  page.scripts = {"explore_server.js", "explore_knobs.js", "explore_views.js", "explore.js"};
  page.data = Json{{"catalog", Json::parse(catalog)}, {"setup", setup}}.dump();
  page.asks_its_server = true;
  std::string text;
  write_page(page, [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace orrery::explore
