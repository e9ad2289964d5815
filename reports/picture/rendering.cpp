#include "reports/picture/rendering.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>

#include "orrery/error.hpp"
#include "orrery/file_ending.hpp"

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

constexpr double kPointsOfPixel = 0.75;  // an inch has 72 points
constexpr int kCreateDate = 5;           // CAIRO_PDF_METADATA_CREATE_DATE

[[noreturn]] void refuse_rendering(RenderedFormat format, const std::string& why) {
  throw RunError(std::string("cannot write a ") + (format == RenderedFormat::png ? "PNG: " : "PDF: ") + why);
}

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
  void* (*create_pdf)(Write, void*, double, double);
  void (*set_metadata)(void*, int, const char*);
  void (*finish)(void*);
  int (*status)(void*);
};

template <class Function>
void find(RenderedFormat format, void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    refuse_rendering(format, std::string(kLibrary) + " has no " + name + "; 2.52 or later is needed");
}

Functions load(RenderedFormat format) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    refuse_rendering(
        format, "it takes librsvg, which is not installed (Debian package librsvg2-2); SVG takes nothing");
  Functions found{};
  find(format, library, "rsvg_handle_new_from_data", found.new_from_data);
  find(format, library, "rsvg_handle_get_intrinsic_size_in_pixels", found.size_in_pixels);
  find(format, library, "rsvg_handle_render_document", found.render);
  find(format, library, "g_object_unref", found.unref);
  find(format, library, "cairo_image_surface_create", found.create_surface);
  find(format, library, "cairo_surface_destroy", found.destroy_surface);
  find(format, library, "cairo_create", found.create);
  find(format, library, "cairo_destroy", found.destroy);
  find(format, library, "cairo_surface_write_to_png_stream", found.write_to_stream);
  find(format, library, "cairo_pdf_surface_create_for_stream", found.create_pdf);
  find(format, library, "cairo_pdf_surface_set_metadata", found.set_metadata);
  find(format, library, "cairo_surface_finish", found.finish);
  find(format, library, "cairo_surface_status", found.status);
  return found;
}

const Functions& functions(RenderedFormat format) {
  static const Functions loaded = load(format);
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

/// Draws the picture over all of a surface.
void render(RenderedFormat format, void* handle, void* surface, const Rectangle& all) {
  const Functions& use = functions(format);
  const Held context(use.create(surface), use.destroy);
  if (use.render(handle, context.get(), &all, nullptr) == 0)
    refuse_rendering(format, "librsvg cannot draw it");
}

std::string png_of(void* handle, double width, double height) {
  const Functions& use = functions(RenderedFormat::png);
  const double scale = std::min(kScale, kMostPixels / std::max(width, height));
  const Rectangle all{0, 0, width * scale, height * scale};
  const Held surface(use.create_surface(kArgb32, static_cast<int>(all.width), static_cast<int>(all.height)),
                     use.destroy_surface);
  render(RenderedFormat::png, handle, surface.get(), all);
  std::string png;
  if (use.write_to_stream(surface.get(), append, &png) != kSuccess)
    refuse_rendering(RenderedFormat::png, "cairo cannot encode it");
  return png;
}

std::string pdf_of(void* handle, double width, double height) {
  const Functions& use = functions(RenderedFormat::pdf);
  const Rectangle all{0, 0, width * kPointsOfPixel, height * kPointsOfPixel};
  std::string pdf;
  const Held surface(use.create_pdf(append, &pdf, all.width, all.height), use.destroy_surface);
  use.set_metadata(surface.get(), kCreateDate, "");  // else the time of day is in the file
  render(RenderedFormat::pdf, handle, surface.get(), all);
  use.finish(surface.get());
  if (use.status(surface.get()) != kSuccess) refuse_rendering(RenderedFormat::pdf, "cairo cannot encode it");
  return pdf;
}

}  // namespace

std::optional<RenderedFormat> rendered_format_of(std::string_view path) {
  if (has_ending(path, ".png")) return RenderedFormat::png;
  if (has_ending(path, ".pdf")) return RenderedFormat::pdf;
  return std::nullopt;
}

void require_renderer(RenderedFormat format) { functions(format); }

void write_rendered(RenderedFormat format, std::string_view svg, const Sink& sink) {
  const Functions& use = functions(format);
  const auto* data = reinterpret_cast<const unsigned char*>(svg.data());
  const Held handle(use.new_from_data(data, svg.size(), nullptr), use.unref);
  double width = 0;
  double height = 0;
  if (!handle || use.size_in_pixels(handle.get(), &width, &height) == 0)
    refuse_rendering(format, "librsvg cannot read it");
  sink(format == RenderedFormat::png ? png_of(handle.get(), width, height)
                                     : pdf_of(handle.get(), width, height));
}

}  // namespace orrery
