# Writes OUTPUT, a .cpp with the bytes and the SHA-256 of the files that pages carry, by their file names.
# cmake -DFILES=<file>;<file>... -DOUTPUT=<file> -P embed_assets.cmake

set(arrays "")
set(rows "")
set(number 0)
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" bytes HEX)
  file(SHA256 "${path}" sum)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text_of(kBytes${number}), \"${sum}\"},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUTPUT}" "// Generated from reports/page/assets/ and third_party/ by reports/page/embed_assets.cmake.
#include \"reports/page/assets.hpp\"

namespace orrery {
namespace {

template <std::size_t size>
std::string_view text_of(const unsigned char (&bytes)[size]) {
  return {reinterpret_cast<const char*>(bytes), size - 1};
}

${arrays}
const PageAsset kAssets[] = {
${rows}};

}  // namespace

std::span<const PageAsset> page_assets() { return kAssets; }

}  // namespace orrery
")
