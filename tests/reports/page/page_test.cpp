// Tests the shell of every page: foreign text goes in as data, and equal pages have equal bytes.
#include "reports/page/page.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/text/json_text.hpp"
#include "tests/reports/page/page_data.hpp"

namespace orrery {
namespace {

std::string html(const Page& page) {
  std::string out;
  write_page(page, [&out](std::string_view text) { out += text; });
  return out;
}

/// Returns the text between `begin` and the next `end` after it.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  REQUIRE(from != std::string::npos);
  const std::size_t to = text.find(end, from + begin.size());
  return text.substr(from + begin.size(), to - from - begin.size());
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Page page_with(const std::string& text) {
  Page page;
  page.title = text;
  append_json(text, page.data);
  page.data = page.data.substr(4);  // behind "null"
  return page;
}

TEST_CASE("texts of an experiment are data in a page, whatever they hold") {
  const std::string plain = html(page_with("plain"));
  for (const std::string text :
       {"</script><script>alert(1)</script>", "<!--<script>", "\"><img src=x onerror=alert(1)>",
        "'; alert(1); '", "&lt;b&gt; &amp;", "\xe2\x80\xa8 and \xe2\x80\xa9", "\xe2\x80\xae right to left",
        "\xf0\x9f\x9a\x80 emoji", "</title><h1>"}) {
    CAPTURE(text);
    const std::string page = html(page_with(text));
    for (const std::string_view tag : {"<script", "</script", "<title", "</title", "<img", "<h1", "<!--"})
      CHECK(times(page, tag) == times(plain, tag));
    const std::string data = between(page, "id=\"data\">", "</script>");
    CHECK(nlohmann::json::parse(data).get<std::string>() == text);
    CHECK(data.find_first_of("<>&") == std::string::npos);
    CHECK(data.find("\xe2\x80\xa8") == std::string::npos);
    CHECK(data.find("\xe2\x80\xa9") == std::string::npos);
  }
}

TEST_CASE("a title is one line of text, and marks that turn its direction are spelled out") {
  CHECK(between(html(page_with("a<b>&\"c\"")), "<title>", "</title>") == "a&lt;b&gt;&amp;&quot;c&quot;");
  CHECK(between(html(page_with("two\nlines")), "<title>", "</title>") == "two\\x0alines");
  CHECK(between(html(page_with("\xe2\x80\xae"
                               "flip")),
                "<title>", "</title>") == "\\u202eflip");
  const std::string long_text(10'000, 'x');
  CHECK(between(html(page_with(long_text)), "<title>", "</title>") == long_text);
}

TEST_CASE("numbers come back from their column") {
  // RFC 4648, section 10.
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("\xff\xfe\xfd") == "//79");
  const std::vector<std::uint32_t> numbers{1, 0x01020304};
  CHECK(little_endian(std::span<const std::uint32_t>(numbers)) == std::string("\1\0\0\0\4\3\2\1", 8));

  Page page;
  const std::vector<double> times{1e15, 1e15 + 1, 0, 7};
  const std::vector<double> others{0.5, -0.0, std::numeric_limits<double>::infinity(), 1e300};
  const std::vector<std::int32_t> signs{-1, std::numeric_limits<std::int32_t>::min(), 2147483647};
  page.add_column("times", times);
  page.add_column("others", others);
  page.add_column("ranks", numbers);
  page.add_column("signs", signs);
  page.add_column("bytes", std::vector<std::uint8_t>{255, 0, 1});
  page.add_column("none", std::vector<double>{});
  const std::string text = html(page);
  CHECK(page_test::has_differences(text, "times"));
  CHECK_FALSE(page_test::has_differences(text, "others"));
  CHECK(page_test::column_of<double>(text, "times") == times);
  CHECK(page_test::column_of<double>(text, "others") == others);
  CHECK(page_test::column_of<std::uint32_t>(text, "ranks") == numbers);
  CHECK(page_test::column_of<std::uint8_t>(text, "bytes") == std::vector<std::uint8_t>{255, 0, 1});
  CHECK(page_test::column_of<double>(text, "none").empty());
  CHECK(page_test::unpacked(text, "signs", 4).size() == 12);
}

TEST_CASE("a page is the same bytes again, and can ask no machine for anything") {
  Page page = page_with("same");
  page.add_column("numbers", std::vector<std::int32_t>{1, -1});
  const std::string text = html(page);
  CHECK(html(page) == text);
  const std::string policy = between(text, "Content-Security-Policy\" content=\"", "\">");
  CHECK(policy.starts_with("default-src 'none'; script-src 'sha256-"));
  CHECK(policy.ends_with("; img-src data:; base-uri 'none'; form-action 'none'"));
  CHECK(policy.find("unsafe") == std::string::npos);
  CHECK(policy.find("http") == std::string::npos);
  // Each script and style has a hash: two styles, and as many scripts as there are without a type.
  CHECK(times(policy, "'sha256-") == times(text, "<style>") + times(text, "<script>"));
  CHECK(text.find("src=\"") == std::string::npos);
}

}  // namespace
}  // namespace orrery
