#include "studies/validate/csv_text.hpp"

#include <csv.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "config/text/document.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostCells = 1'000'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Feeds libcsv byte by byte, since only so is it known where a cell begins.
class CsvReader {
 public:
  explicit CsvReader(const std::string& source) : source_(source) {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  }
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  ~CsvReader() { csv_free(&parser_); }

  std::vector<CsvRow> read(std::string_view text) {
    for (; text.starts_with('#'); ++line_) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    for (const char byte : text) {
      if (fresh_) begin_ = {"", line_, column_};
      fresh_ = fresh_ && (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n');
      if (csv_parse(&parser_, &byte, 1, on_cell, on_row, this) != 1) fail(line_, column_);
      rethrow();
      advance(byte);
    }
    if (fresh_) begin_ = {"", line_, column_};
    if (csv_fini(&parser_, on_cell, on_row, this) != 0) fail(begin_.line, begin_.column);
    rethrow();
    return std::move(rows_);
  }

 private:
  /// Stores exceptions until libcsv has returned, because it is C.
  static void on_cell(void* data, std::size_t size, void* self) {
    auto& reader = *static_cast<CsvReader*>(self);
    reader.guarded([&] { reader.add_cell({static_cast<const char*>(data), size}); });
  }
  static void on_row(int /*terminator*/, void* self) {
    auto& reader = *static_cast<CsvReader*>(self);
    reader.guarded([&] { reader.rows_.push_back(std::exchange(reader.row_, {})); });
  }

  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  void add_cell(std::string_view text) {
    if (++cells_ > kMostCells) {
      throw InputError({Diagnostic{source_, line_, column_, "", "more than 1000000 cells"}});
    }
    row_.push_back({std::string(text), begin_.line, begin_.column});
    fresh_ = true;
  }

  [[noreturn]] void fail(int line, int column) {
    if (csv_error(&parser_) == CSV_ENOMEM) throw std::bad_alloc();
    throw InputError(
        {Diagnostic{source_, line, column, "",
                    "found a quote out of place, allowed: a cell quoted as a whole, with its own "
                    "quotes doubled"}});
  }

  void advance(char byte) {
    if (byte == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) {
      ++column_;
    }
  }

  const std::string& source_;
  csv_parser parser_{};
  std::exception_ptr error_;
  int line_ = 1;
  int column_ = 1;
  CsvCell begin_;
  bool fresh_ = true;  ///< nothing of the next cell was seen yet
  std::size_t cells_ = 0;
  CsvRow row_;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, const std::string& source) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t bad = first_invalid_utf8(text); bad != std::string_view::npos) {
    Diagnostic diagnostic{source, 0, 0, "", "the text is not UTF-8"};
    set_position(diagnostic, text, bad);
    throw InputError({diagnostic});
  }
  return CsvReader(source).read(text);
}

}  // namespace orrery
