#include "trace/kernel_name.h"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "trace/event_names.h"

namespace tracedb {

TEST_CASE("symbols are outlined by their identifiers and literals") {
  const std::vector<std::pair<std::string_view, std::string_view>> symbols = {
      {"_Z3foov", "foo"},
      {"_ZN2ns3fooEv", "ns::foo"},
      {"_ZN2ns12_GLOBAL__N_13fooEv", "ns::foo"},
      {"_ZN2ns3fooIDF16bLi256ELb1ELb0EEEvv", "ns::foo<bfloat16, 256, true, false>"},
      {"_ZN2ns3fooINS_3barIfNS_3bazEEEEEvv", "ns::foo<bar<float, baz>>"},
      {"_ZN2ns3fooILNS_4EnumE2EiEEvv", "ns::foo<Enum2, int>"},
      {"_ZN2ns3fooIJNS_1aENS_1bEEEEvv", "ns::foo<a, b>"},
      {"_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EELb1EEEvPS3_PS4_i",
       "vllm::act_and_mul_kernel<c10::BFloat16, ref, ref, silu_kernel<ref>, ref, ref, true>"},
      {"_Z", ""},
      {"_Z99x", ""},
      {"plain", ""},
  };
  for (const auto& entry : symbols) {
    CAPTURE(entry.first);
    CHECK(outline_symbol(entry.first) == entry.second);
  }
}

TEST_CASE("names the demangler does not know get a short name all the same") {
  CHECK(short_name("_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i") ==
        "vllm::act_and_mul_kernel");
  CHECK(short_name("_ZN5aiter3addIDF16bEEvPT_") == "aiter::add");
}

TEST_CASE("a name is cut into path and arguments") {
  const KernelName plain = split_kernel_name("void ns::k<int, a<b, c>, (x)1>(float)");
  CHECK(plain.path == "ns::k");
  CHECK(plain.arguments == "int, a<b, c>, (x)1");
  REQUIRE(plain.argument_list.size() == 3);
  CHECK(plain.argument_list[1] == " a<b, c>");
  const KernelName guarded =
      split_kernel_name("std::enable_if<(((8)>(0)))&&t<c10::Half>::exists, void>::type vllm::norm<c10::Half, 8>(int)");
  CHECK(guarded.path == "vllm::norm");
  CHECK(guarded.arguments == "c10::Half, 8");
  CHECK(split_kernel_name("void f<a->b, 2>(int)").argument_list.size() == 2);
  CHECK(split_kernel_name("outer<int>::inner").path == "outer::inner");
  CHECK(split_kernel_name(" ns::type<int> ").path == "ns::type");
}

}  // namespace tracedb
