#include "report_page/svg/picture_svg.h"

#include "base/error.h"

#ifdef TRACEDB_HAVE_DUKTAPE
#include <duktape.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "report_page/html/web_files.h"
#endif

namespace tracedb {

#ifdef TRACEDB_HAVE_DUKTAPE
namespace {

constexpr int kSvgWidth = 960;  // half of a slide

struct SvgRequest {
  std::string_view script, data, id;
};

void push(duk_context* context, std::string_view text) { duk_push_lstring(context, text.data(), text.size()); }

// tracedb.staticSvg(data, id, width). Runs under duk_safe_call: errors of the script leave it by longjmp, past frames
// that must own nothing.
duk_ret_t call_script(duk_context* context, void* request_of) {
  const auto& request = *static_cast<const SvgRequest*>(request_of);
  push(context, request.script);
  duk_push_literal(context, "pictures");
  duk_compile(context, 0);
  duk_call(context, 0);
  duk_get_global_literal(context, "tracedb");
  duk_get_prop_literal(context, -1, "staticSvg");
  push(context, request.data);
  push(context, request.id);
  duk_push_int(context, kSvgWidth);
  duk_call(context, 3);
  return 1;
}

}  // namespace

std::string picture_svg(const std::string& data, const std::string& id) {
  const std::unique_ptr<duk_context, decltype(&duk_destroy_heap)> heap(duk_create_heap_default(), &duk_destroy_heap);
  if (!heap) throw std::bad_alloc();
  SvgRequest request{web_files().static_script, data, id};
  if (duk_safe_call(heap.get(), call_script, &request, 0, 1) != DUK_EXEC_SUCCESS) {
    throw std::logic_error(std::string("picture ") + id + ": " + duk_safe_to_string(heap.get(), -1));
  }
  duk_size_t size = 0;
  const char* text = duk_get_lstring(heap.get(), -1, &size);  // null is no text
  return text == nullptr ? std::string() : std::string(text, size);
}

#else

std::string picture_svg(const std::string&, const std::string&) {
  throw Error(
      ErrorCode::kUsage,
      "--format svg: this program was built without Duktape, which draws; the page of 'report' and of 'compare' "
      "saves its pictures as SVG, too");
}

#endif

}  // namespace tracedb
