// Checks the compiled-in scripts: third-party files are those that their README names.
#include "reports/page/assets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/source_dir.hpp"

namespace orrery {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(test::source_dir() / path, std::ios::binary);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("the files of others are those whose checksums their README gives") {
  for (const std::string path :
       {"uplot/uPlot.iife.min.js", "uplot/uPlot.min.css", "pako/pako_inflate.min.js"}) {
    CAPTURE(path);
    const std::string folder = "third_party/" + path.substr(0, path.find('/') + 1);
    const std::string name = path.substr(path.find('/') + 1);
    const std::string readme = read_text(folder + "README.md");
    const auto asset = std::ranges::find(page_assets(), name, &PageAsset::name);
    REQUIRE(asset != page_assets().end());
    CHECK(readme.find(std::string(asset->sha256) + "  " + name + "\n") != std::string::npos);
    CHECK(asset->text == read_text(folder + name));
  }
}

TEST_CASE("scripts can stand in a page as they are") {
  CHECK(page_assets().size() >= 8);
  for (const PageAsset& asset : page_assets()) {
    CAPTURE(asset.name);
    CHECK(asset.sha256.size() == 64);
    CHECK(asset.text.find("</script") == std::string_view::npos);
    CHECK(asset.text.find("</style") == std::string_view::npos);
    CHECK(asset.text.find("<!--") == std::string_view::npos);
    CHECK(asset.text.find('\r') ==
          std::string_view::npos);  // a page would be read with other line ends than hashed
  }
}

TEST_CASE("scripts of the project reach nothing outside and put no text into a page as HTML") {
  for (const PageAsset& asset : page_assets()) {
    if (asset.name.starts_with("uPlot") || asset.name.starts_with("pako")) continue;
    CAPTURE(asset.name);
    for (const char* word : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                             "XMLHttpRequest", "WebSocket", "import(", "@import", "url("})
      CHECK(asset.text.find(word) == std::string_view::npos);
    CHECK((asset.text.find("fetch(") == std::string_view::npos || asset.name == "explore_server.js"));
    CHECK(std::ranges::count(asset.text, '\n') <= 400);
  }
}

}  // namespace
}  // namespace orrery
