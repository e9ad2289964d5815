#include "sim/io/document_series.hpp"

#include <algorithm>
#include <utility>

#include "sim/io/findings.hpp"

namespace orrery {
namespace {

/// Longer ones would keep much.
constexpr std::size_t kLongestKept = 1 << 16;

std::string_view part(std::string_view text, const JsonScalar& scalar) {
  return text.substr(scalar.begin, scalar.end - scalar.begin);
}

/// A parser that sees the token alone would take a byte order mark.
bool begins_scalar(char c) {
  return c == '"' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

}  // namespace

Document DocumentSeries::read(std::string_view text, const std::string& source,
                              std::vector<Problem>& problems) {
  if (renew(text)) return {text, Syntax::json, {}};
  text_.clear();
  value_ = nullptr;
  Document document = parse_document(text, source);
  value_ = std::exchange(document.value, {});
  const bool kept =
      document.syntax == Syntax::json && value_.is_object() && document.text.size() <= kLongestKept;
  scalars_ = kept ? json_scalars(document.text, value_) : std::vector<JsonScalar>{};
  overridden_ = apply_overrides(value_, overrides_, problems);
  for (JsonScalar& scalar : scalars_) {
    if (is_overridden(scalar)) scalar.value = nullptr;
  }
  if (kept && problems.empty()) text_ = document.text;
  return document;
}

/// Whether overrides set something in its part of the document.
bool DocumentSeries::is_overridden(const JsonScalar& scalar) const {
  const std::string part = "/" + pointer_token(*scalar.part) + "/";
  return std::ranges::any_of(overridden_,
                             [&](const std::string& set) { return (set + "/").starts_with(part); });
}

/// Makes the value that of `text`. False where that takes more than new scalars; the value is of no use then.
bool DocumentSeries::renew(std::string_view text) {
  if (text_.empty() || text.size() > kLongestKept || !differs_in_scalars(text)) return false;
  std::string before;
  before.swap(text_);  // nothing is kept of a value that is half of one text and half of another
  try {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::string_view token = part(text, found_[i]);
      if (token == part(before, scalars_[i])) continue;
      if (found_[i].value == nullptr) return false;
      *found_[i].value = parse_json(token);
    }
  } catch (const DocumentError&) {  // parse_document() tells it with its position
    return false;
  }
  scalars_.swap(found_);
  before = text;
  text_.swap(before);
  return true;
}

/// Whether what lies between the scalars of both texts is the same; fills in found_.
bool DocumentSeries::differs_in_scalars(std::string_view text) {
  found_.clear();
  const std::string_view before = text_;
  std::size_t from = 0;
  std::size_t at = 0;
  for (const JsonScalar& scalar : scalars_) {
    const std::string_view between = before.substr(from, scalar.begin - from);
    if (!text.substr(at).starts_with(between)) return false;
    at += between.size();
    if (at == text.size() || !begins_scalar(text[at])) return false;
    found_.push_back({at, token_end(text, at), scalar.value, scalar.part});
    from = scalar.end;
    at = found_.back().end;
  }
  return !scalars_.empty() && text.substr(at) == before.substr(from);
}

}  // namespace orrery
