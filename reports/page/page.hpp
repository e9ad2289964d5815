// Writes a page: one HTML file that shows data with the scripts it carries, opens from disk and asks no
// machine for anything. Every command's page is written by this one function from the command's title, data,
// and the scripts that draw it. Knows nothing of the contents.
//
// In the page, scripts find the data as `orrery.data` (the JSON) and `orrery.columns` (typed arrays by name),
// and the kinds of activity with their colours as `orrery.activities`.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/write.hpp"
#include "reports/page/base64.hpp"

namespace orrery {

/// Numbers that scripts read as a typed array.
struct PageColumn {
  std::string name;
  std::string_view type;  ///< of the array in JavaScript, such as "Float64Array"
  std::string bytes;
};

struct Page {
  std::string title;                 ///< any text
  std::vector<std::string> scripts;  ///< of assets/, in this order, after those of all pages
  std::string data = "null";         ///< JSON; may hold any text
  std::vector<PageColumn> columns;
  bool asks_its_server = false;  ///< and nobody else; pages on disk ask nobody

  /// Times are exact below 2^53 in doubles: picoseconds of two hours and a half.
  template <class Number>
  void add_column(std::string name, std::span<const Number> numbers) {
    columns.push_back({std::move(name), array_type<Number>(), little_endian(numbers)});
  }
  template <class Number>
  void add_column(std::string name, const std::vector<Number>& numbers) {
    add_column(std::move(name), std::span<const Number>(numbers));
  }
  /// Adds a column with `value` of each row.
  template <class Number, class Row, class Value>
  void add_column(std::string name, const std::vector<Row>& rows, Value value) {
    std::vector<Number> numbers;
    numbers.reserve(rows.size());
    for (const Row& row : rows) numbers.push_back(static_cast<Number>(std::invoke(value, row)));
    add_column(std::move(name), numbers);
  }

 private:
  template <class Number>
  static constexpr std::string_view array_type() {
    if constexpr (std::same_as<Number, std::uint8_t>) return "Uint8Array";
    if constexpr (std::same_as<Number, std::uint16_t>) return "Uint16Array";
    if constexpr (std::same_as<Number, std::int32_t>) return "Int32Array";
    if constexpr (std::same_as<Number, std::uint32_t>) return "Uint32Array";
    if constexpr (std::same_as<Number, std::int64_t>) return "BigInt64Array";
    if constexpr (std::same_as<Number, float>) return "Float32Array";
    if constexpr (std::same_as<Number, double>) return "Float64Array";
  }
};

/// The page as one HTML file, the same bytes for the same page. Its content security policy names the scripts
/// by their hashes and forbids every request but those to its own server.
void write_page(const Page& page, const Sink& sink);

}  // namespace orrery
