#include "reports/picture/png.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>

#include "orrery/error.hpp"

namespace orrery {
namespace {

// These declarations are the part of librsvg 2.52 and cairo 1.16 that is used, as their manuals declare it
// (rsvg.h, cairo.h). Their headers are not needed to build.
struct Rectangle {
  double x, y, width, height;
};
using Write = int (*)(void* closure, const unsigned char* data, unsigned length);
constexpr const char* kLibrary = "librsvg-2.so.2";  // brings cairo and glib
constexpr int kArgb32 = 0;                          // CAIRO_FORMAT_ARGB32
constexpr int kSuccess = 0;                         // CAIRO_STATUS_SUCCESS
constexpr int kWriteError = 11;                     // CAIRO_STATUS_WRITE_ERROR
constexpr double kScale = 2;
constexpr double kMostPixels = 32'767;  // of a side of an image surface

[[noreturn]] void refuse_png(const std::string& why) { throw RunError("cannot write a PNG: " + why); }

struct Functions {
  void* (*new_from_data)(const unsigned char*, std::size_t, void**);
  int (*size_in_pixels)(void*, double*, double*);
  int (*render)(void*, void*, const Rectangle*, void**);
  void (*unref)(void*);
  void* (*create_surface)(int, int, int);
  void (*destroy_surface)(void*);
  void* (*create)(void*);
  void (*destroy)(void*);
  int (*write_to_stream)(void*, Write, void*);
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    refuse_png(std::string(kLibrary) + " has no " + name + "; 2.52 or later is needed");
}

Functions load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    refuse_png("it takes librsvg, which is not installed (Debian package librsvg2-2); SVG takes nothing");
  Functions found{};
  find(library, "rsvg_handle_new_from_data", found.new_from_data);
  find(library, "rsvg_handle_get_intrinsic_size_in_pixels", found.size_in_pixels);
  find(library, "rsvg_handle_render_document", found.render);
  find(library, "g_object_unref", found.unref);
  find(library, "cairo_image_surface_create", found.create_surface);
  find(library, "cairo_surface_destroy", found.destroy_surface);
  find(library, "cairo_create", found.create);
  find(library, "cairo_destroy", found.destroy);
  find(library, "cairo_surface_write_to_png_stream", found.write_to_stream);
  return found;
}

const Functions& functions() {
  static const Functions loaded = load();
  return loaded;
}

/// Exceptions do not pass through a library of C.
int append(void* closure, const unsigned char* data, unsigned length) {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return kSuccess;
  } catch (const std::bad_alloc&) {
    return kWriteError;
  }
}

using Held = std::unique_ptr<void, void (*)(void*)>;

}  // namespace

void require_png_writer() { functions(); }

void write_png(std::string_view svg, const Sink& sink) {
  const Functions& use = functions();
  const auto* data = reinterpret_cast<const unsigned char*>(svg.data());
  const Held handle(use.new_from_data(data, svg.size(), nullptr), use.unref);
  double width = 0;
  double height = 0;
  if (!handle || use.size_in_pixels(handle.get(), &width, &height) == 0) refuse_png("librsvg cannot read it");
  const double scale = std::min(kScale, kMostPixels / std::max(width, height));
  const Rectangle all{0, 0, width * scale, height * scale};
  const Held surface(use.create_surface(kArgb32, static_cast<int>(all.width), static_cast<int>(all.height)),
                     use.destroy_surface);
  const Held context(use.create(surface.get()), use.destroy);
  std::string png;
  if (use.render(handle.get(), context.get(), &all, nullptr) == 0) refuse_png("librsvg cannot draw it");
  if (use.write_to_stream(surface.get(), append, &png) != kSuccess) refuse_png("cairo cannot encode it");
  sink(png);
}

}  // namespace orrery
