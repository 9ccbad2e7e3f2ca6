#include <doctest/doctest.h>

#include "compare/trace/recording.h"

namespace tracedb {

TEST_CASE("recorded work: the operands that say how much a product is") {
  const RecordedShape linear = shape_of("aten::addmm", "[[512],[141,2048],[2048,512],[],[]]");
  CHECK(linear.kind == "linear layer");
  CHECK(linear.operands == "[141,2048] x [2048,512]");
  CHECK(linear.work == 141.0 * 2048 * 512);
  const RecordedShape batched = shape_of("aten::bmm", "[[96,3137,64],[96,64,3137]]");
  CHECK(batched.kind == "batched product");
  CHECK(batched.work == 96.0 * 3137 * 64 * 3137);
}

TEST_CASE("recorded work: attention by its query, convolutions by input and weight") {
  const RecordedShape attention =
      shape_of("aten::_flash_attention_forward", "[[1,141,8,64],[1,141,8,64],[1,141,8,64],[],[]]");
  CHECK(attention.kind == "attention");
  CHECK(attention.operands == "[1,141,8,64]");
  const RecordedShape convolution = shape_of("aten::cudnn_convolution", "[[32,64,56,56],[256,64,1,1],[],[]]");
  CHECK(convolution.kind == "convolution");
  CHECK(convolution.work == 32.0 * 56 * 56 * 256 * 64);
}

TEST_CASE("recorded work: nothing of other operators, of backward passes and without shapes") {
  CHECK(shape_of("aten::add", "[[4,4],[4,4],[]]").work == 0);
  CHECK(shape_of("aten::_flash_attention_backward", "[[1,141,8,64],[1,141,8,64]]").work == 0);
  CHECK(shape_of("aten::mm", "").work == 0);
  CHECK(shape_of("aten::mm", "[[],[]]").work == 0);
  CHECK(shape_of("aten::cudnn_convolution", "[[2,0,8,8],[4,0,1,1]]").work == 0);
}

}  // namespace tracedb
