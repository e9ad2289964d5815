// `cluster.regions`: sites and the lines between them. That all sites reach each other is checked where the
// network is built.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

/// The list at `key`, null where there is none.
const Json* region_list(const Json& value, std::string_view key, const Path& path, Scope& scope) {
  const auto found = value.find(key);
  if (found == value.end()) return nullptr;
  if (found->is_array()) return &*found;
  scope.findings.add(Path(path, key), fmt::format("found {}, allowed {}", described(*found),
                                                  field_named(region_fields(), key).help));
  return nullptr;
}

void read_sites(const Json& list, Regions& regions, const Path& path, Scope& scope) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Path here(path, i);
    Site site;
    read_fields(list[i], site_fields(), site, here, scope);
    if (!list[i].is_object()) continue;
    require(list[i], site_fields(), "name", "a site", here, scope);
    if (site.name.empty() && list[i].contains("name"))
      scope.findings.add(Path(here, "name"), "found \"\", allowed a name to call the site by");
    const auto same = [&](const Site& other) { return other.name == site.name; };
    if (!site.name.empty() && std::ranges::any_of(regions.sites, same))
      scope.findings.add(Path(here, "name"), fmt::format("found site {} twice", quote(site.name)));
    regions.sites.push_back(std::move(site));
  }
  if (list.empty())
    scope.findings.add(path, fmt::format("found {}, allowed at least one site", described(list)));
}

void read_site_links(const Json& list, Regions& regions, const Path& path, Scope& scope) {
  std::vector<std::string_view> names;
  for (const Site& site : regions.sites) names.push_back(site.name);
  const auto check_end = [&](const std::string& name, const Path& here) {
    if (name.empty() || std::ranges::find(names, name) != names.end()) return;
    scope.findings.add(here,
                       fmt::format("found {}, allowed the name of a site{}", quote(name), hint(name, names)));
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Path here(path, i);
    SiteLink link;
    read_fields(list[i], site_link_fields(), link, here, scope);
    if (!list[i].is_object()) continue;
    for (const std::string_view key : {"from", "to", "up_gbps"})
      require(list[i], site_link_fields(), key, "a link between sites", here, scope);
    check_end(link.from, Path(here, "from"));
    check_end(link.to, Path(here, "to"));
    if (!link.from.empty() && link.from == link.to)
      scope.findings.add(Path(here, "to"),
                         fmt::format("found {}, allowed another site than from", quote(link.to)));
    regions.links.push_back(std::move(link));
  }
}

}  // namespace

Regions read_regions(const Json& value, const Path& path, Scope& scope) {
  Regions regions;
  read_fields(value, region_fields(), regions, path, scope);
  if (!value.is_object()) return regions;
  if (!value.contains("sites")) scope.findings.add(Path(path, "sites"), "missing; regions need it");
  if (const Json* sites = region_list(value, "sites", path, scope))
    read_sites(*sites, regions, Path(path, "sites"), scope);
  if (const Json* links = region_list(value, "links", path, scope))
    read_site_links(*links, regions, Path(path, "links"), scope);
  return regions;
}

}  // namespace orrery
