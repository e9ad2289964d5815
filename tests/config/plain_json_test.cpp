// The quick way through JSON, beside the library that knows all of it.
#include "config/text/plain_json.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace orrery;

TEST_CASE("plain JSON is read as the library reads it") {
  for (const char* text :
       {R"({"model": "gpt3-13b", "plan": {"tensor_parallel": 8, "sequence_parallel": true}, "id": -7})",
        " {\t\"a\" : [ ] , \"b\":{},\r\n\"c\":[null, false, 0, 999999999999999, [\"x y\"]] } ", "[1,2]", "3",
        R"("text")", "true"}) {
    CAPTURE(text);
    const std::optional<Json> plain = parse_plain_json(text);
    REQUIRE(plain.has_value());
    const Json all = Json::parse(text);
    CHECK(*plain == all);
    CHECK(plain->dump() == all.dump());
    CHECK(plain->type() == all.type());
  }
}

TEST_CASE("what is not plain is left to the library") {
  const std::string deep(20, '[');
  for (const std::string text : {R"({"a": "\u0041"})",
                                 R"({"a": "é"})",
                                 "{\"a\": \"\t\"}",
                                 "1.5",
                                 "1e3",
                                 "-0",
                                 "01",
                                 "+1",
                                 "-",
                                 "",
                                 "1234567890123456",
                                 "{\"a\": 1, \"a\": 2}",
                                 "{\"a\": 1,}",
                                 "[1 2]",
                                 "[1",
                                 "{",
                                 "{} x",
                                 "// c\n{}",
                                 "tru",
                                 "{a: 1}",
                                 "{\"a\" 1}",
                                 "\"a",
                                 deep.c_str()})
    CHECK_MESSAGE(!parse_plain_json(text).has_value(), text);
}

TEST_CASE("random texts of JSON's characters are never read otherwise than by the library") {
  std::mt19937 random(7);
  const std::string characters = "{}[]\",:0123-.etrufalsn \\/\n";
  int read = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    const auto length = random() % 7;
    for (std::size_t c = 0; c < length; ++c) text += characters[random() % characters.size()];
    const std::optional<Json> plain = parse_plain_json(text);
    if (!plain) continue;
    ++read;
    CAPTURE(text);
    REQUIRE(*plain == Json::parse(text));
  }
  CHECK(read > 1000);
}
