// One picture of a page as a file of SVG: the page's own script (src/web/pictures), run by Duktape on a document that
// knows how to write itself (src/web/static).
#pragma once

#include <string>

namespace tracedb {

// `data`: of the page, as JSON. Nothing if there is no picture of this id. A program that was built without Duktape
// throws an Error that says so.
std::string picture_svg(const std::string& data, const std::string& id);

}  // namespace tracedb
