#include "ascend/model_side.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text/json_text.h"

namespace tracedb {
namespace {

std::string members(std::string_view object) {
  std::string out;
  for (const auto& [key, value] : json_members(object)) out += std::string(key) + "=" + text_of_json(value) + ";";
  return out;
}

}  // namespace

TEST_CASE("json arguments: members of an object") {
  CHECK(members(R"({"a":"x","b":1.5,"c":null,"d":[1,"]",{"e":2}],"f":{"g":"}"}})") ==
        R"(a=x;b=1.5;c=;d=[1,"]",{"e":2}];f={"g":"}"};)");
  CHECK(members(R"({ "a" : "x" , "b" : true } )") == "a=x;b=true;");
  CHECK(members(R"({"a":"q\"u\\","b":"\u00fc\n"})") == "a=q\"u\\;b=\xC3\xBC\n;");
  CHECK(members("{}").empty());
}

TEST_CASE("json arguments: what is broken ends the members") {
  for (const char* text : {"", "[]", "{", "{\"a\"", "{\"a\":", "{\"a\":\"x", "{\"a\":[1", "{a:1}"}) {
    CAPTURE(text);
    CHECK(members(text).empty());
  }
  CHECK(members(R"({"a":1,"b")") == "a=1;");
}

}  // namespace tracedb
