#include "importers/machines/xml_tree.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "orrery/error.hpp"

namespace orrery::importers::machines {
namespace {

constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMaxElements = 200'000;

/// Builds the tree while expat reads; the open elements lie on a stack.
struct TreeOnItsWay {
  XML_Parser parser = nullptr;
  XmlElement top;
  std::vector<XmlElement> open;
  std::size_t elements = 0;
  std::string refusal;

  void refuse(std::string reason) {
    refusal = std::move(reason);
    XML_StopParser(parser, XML_FALSE);
  }
};

void begin_element(void* data, const char* name, const char** attributes) {
  auto& tree = *static_cast<TreeOnItsWay*>(data);
  if (tree.open.size() >= kMaxDepth)
    return tree.refuse(fmt::format("elements are nested deeper than {}", kMaxDepth));
  if (++tree.elements > kMaxElements) return tree.refuse(fmt::format("more than {} elements", kMaxElements));
  XmlElement element{name, {}, {}, static_cast<int>(XML_GetCurrentLineNumber(tree.parser))};
  for (; *attributes != nullptr; attributes += 2)
    element.attributes.emplace_back(attributes[0], attributes[1]);
  tree.open.push_back(std::move(element));
}

void end_element(void* data, const char* /*name*/) {
  auto& tree = *static_cast<TreeOnItsWay*>(data);
  if (tree.open.empty()) return;
  XmlElement done = std::move(tree.open.back());
  tree.open.pop_back();
  if (tree.open.empty())
    tree.top = std::move(done);
  else
    tree.open.back().children.push_back(std::move(done));
}

void begin_doctype(void* data, const char* /*name*/, const char* /*system*/, const char* /*public*/,
                   int /*internal*/) {
  static_cast<TreeOnItsWay*>(data)->refuse("a DOCTYPE is not read: it could define entities");
}

[[noreturn]] void fail(const SourceFile& file, const TreeOnItsWay& tree) {
  const std::string reason = tree.refusal.empty()
                                 ? fmt::format("no XML: {}", XML_ErrorString(XML_GetErrorCode(tree.parser)))
                                 : tree.refusal;
  throw InputError({Diagnostic{file.path(), static_cast<int>(XML_GetCurrentLineNumber(tree.parser)),
                               static_cast<int>(XML_GetCurrentColumnNumber(tree.parser)) + 1, "", reason}});
}

}  // namespace

std::string_view XmlElement::attribute(std::string_view key) const {
  const auto found = std::ranges::find(attributes, key, &std::pair<std::string, std::string>::first);
  return found == attributes.end() ? std::string_view{} : std::string_view(found->second);
}

bool XmlElement::has(std::string_view key) const {
  return std::ranges::any_of(attributes, [key](const auto& pair) { return pair.first == key; });
}

XmlElement parse_xml(const SourceFile& file) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr),
                                                                            &XML_ParserFree);
  TreeOnItsWay tree;
  tree.parser = parser.get();
  XML_SetUserData(parser.get(), &tree);
  XML_SetElementHandler(parser.get(), begin_element, end_element);
  XML_SetStartDoctypeDeclHandler(parser.get(), begin_doctype);
  const std::string_view text = file.text();
  if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) != XML_STATUS_OK)
    fail(file, tree);
  return std::move(tree.top);
}

std::string_view first_element(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).substr(0, 1) != "<") return {};
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (text.substr(at).starts_with("<!--")) {
      at = text.find("-->", at);
      if (at == std::string_view::npos) return {};
    } else if (!text.substr(at).starts_with("<?") && !text.substr(at).starts_with("<!")) {
      const std::size_t end = text.find_first_of(" \t\r\n>/", at + 1);
      return end == std::string_view::npos ? std::string_view{} : text.substr(at + 1, end - at - 1);
    }
  }
  return {};
}

}  // namespace orrery::importers::machines
