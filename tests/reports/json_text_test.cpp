// JSON as text, beside the library that tests read it with.
#include "reports/text/json_text.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

using namespace orrery;
using Json = nlohmann::ordered_json;

namespace {

template <class Value>
std::string text_of(const Value& value) {
  std::string out;
  append_json(value, out);
  return out;
}

/// {"a": {}, "b": [1, true], "c": "x"}
std::string small(int indent) {
  JsonText text(indent);
  text.begin('{');
  text.key("a");
  text.begin('{');
  text.end('}');
  text.key("b");
  text.begin('[');
  text.element();
  text.value(std::int64_t{1});
  text.element();
  text.value(true);
  text.end(']');
  text.key("c");
  text.value(std::string_view("x"));
  text.end('}');
  return text.take();
}

}  // namespace

TEST_CASE("objects and lists, on one line and indented") {
  CHECK(small(-1) == "{\"a\":{},\"b\":[1,true],\"c\":\"x\"}\n");
  CHECK(small(2) == "{\n  \"a\": {},\n  \"b\": [\n    1,\n    true\n  ],\n  \"c\": \"x\"\n}\n");
  CHECK(small(2) == Json::parse(small(-1)).dump(2) + "\n");
}

TEST_CASE("texts are escaped, and what is no UTF-8 is replaced") {
  CHECK(text_of(std::string_view("plain ~")) == "\"plain ~\"");
  CHECK(text_of(std::string_view("a\"b\\c\n\x1b")) == R"("a\"b\\c\n\u001b")");
  CHECK(text_of(std::string_view("\xc3\xa9")) == "\"\xc3\xa9\"");
  CHECK(text_of(std::string_view("\xff")) == "\"\xef\xbf\xbd\"");
}

TEST_CASE("numbers have as few digits as tell them apart") {
  CHECK(text_of(80e9 / 1e9) == "80.0");
  CHECK(text_of(1.473930772) == "1.473930772");  // dump() writes 1.4739307719999999
  CHECK(text_of(0.001) == "0.001");
  CHECK(text_of(999999.999999999) == "999999.999999999");
  CHECK(text_of(1.0) == "1.0");
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "null");
  CHECK(text_of(nullptr) == "null");
  CHECK(text_of(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random();
    INFO("bits ", bits);
    REQUIRE(text_of(std::bit_cast<double>(bits)) == Json(std::bit_cast<double>(bits)).dump());
    const double seconds = static_cast<double>(bits >> 30U) / 1e9;
    const std::string text = text_of(seconds);
    REQUIRE(Json::parse(text).get<double>() == seconds);
    REQUIRE(text.size() <= Json(seconds).dump().size());
  }
}
