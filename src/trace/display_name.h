// Names of kernels for people: what distinguishes them, in few letters.
//
//   void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<float, ...>(...)    cunn_SoftMaxForwardReg
//   void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>
//   vectorized_elementwise_kernel<FillFunctor> Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x288x64_MI16x16x1_SN_...
//   Cijk_Alik_Bljk_BBS_BH…MT64x288x64
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// Without return type, namespaces, template arguments and parameters; of a function that only runs another one, such as
// cutlass::Kernel2, with the name of that; of a long name in one piece, its beginning, the size of its tile and its
// alignment; of one of XLA's its operation and the shape of that (trace/kernel_name.h). What is no such name stays as
// it is.
std::string display_name(std::string_view name);

// One for each name of a table: different names are shown differently. Where display_name() is the same for several,
// the first part in which they differ is added, else a number in the order of the names.
std::vector<std::string> display_names(std::span<const std::string> names);

}  // namespace tracedb
