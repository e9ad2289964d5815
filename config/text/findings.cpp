#include "config/text/findings.hpp"

namespace orrery {

std::string pointer_token(std::string_view key) {
  if (key.find('~') == std::string_view::npos && key.find('/') == std::string_view::npos)
    return std::string(key);
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

std::string Path::pointer() const {
  if (parent_ == nullptr) return "";
  return parent_->pointer() + "/" + (is_index_ ? std::to_string(index_) : pointer_token(key_));
}

}  // namespace orrery
