#include "reports/picture/svg_text.hpp"

#include <doctest/doctest.h>

namespace orrery::test {

TEST_CASE("text of XML is escaped and has no characters that XML has not") {
  CHECK(xml_text("a<b>&\"c\" <script>") == "a&lt;b&gt;&amp;&quot;c&quot; &lt;script&gt;");
  CHECK(xml_text("\xEF\xBF\xBE|\xEF\xBF\xBF|\xED\xA0\x80|\x01") ==
        "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD");
  CHECK(xml_text("模型 🙂") == "模型 🙂");
}

TEST_CASE("text is cut to its columns with an ellipsis") {
  CHECK(cut_text("abcdef", 6) == "abcdef");
  CHECK(cut_text("abcdefg", 6) == "abcde…");
  CHECK(cut_text("模型模型", 8) == "模型模型");
  CHECK(cut_text("模型模型", 7) == "模型模…");
  CHECK(cut_text(std::string(10'000, 'x'), 20).size() == 19 + 3);
}

TEST_CASE("what a terminal would act on is escaped before it is cut") {
  CHECK(cut_text("a\nb\x1b", 20) == "a\\x0ab\\x1b");
  CHECK(cut_text("\xE2\x80\xAE"
                 "abc",
                 20) == "\\u202eabc");
  CHECK(cut_text("\xFF", 20) == "\\xff");
}

TEST_CASE("hundredths have no zeros behind them") {
  CHECK(hundredths(0) == "0");
  CHECK(hundredths(1'250) == "12.5");
  CHECK(hundredths(1'205) == "12.05");
  CHECK(hundredths(-40) == "-0.4");
  CHECK(hundredths(300) == "3");
}

}  // namespace orrery::test
