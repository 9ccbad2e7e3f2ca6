#include "passes/work/operator_formulas.h"

#include <algorithm>

namespace tracedb {

const Argument& argument(Args args, int place) {
  static const Argument kAbsent;
  return place >= 0 && static_cast<std::size_t>(place) < args.size() ? args[static_cast<std::size_t>(place)] : kAbsent;
}

bool is_given(const Argument& tensor) { return tensor.is_tensor() && !tensor.dims.empty(); }

namespace {

Amount size_of(const ElementType* type) { return type == nullptr ? Amount() : Amount(type->bytes); }
Amount size_of(const Argument& tensor) { return size_of(tensor.element); }
Amount bytes_of(Amount count, const Argument& type) { return times(count, size_of(type)); }
// Of all of a tensor; nothing of one that is absent; not known of an unknown type.
Amount bytes_of(const Argument& tensor) {
  if (tensor.dims.empty() && !tensor.is_tensor()) return 0;
  return bytes_of(elements(tensor.dims), tensor);
}

Amount product(std::initializer_list<Amount> factors) {
  Amount out = 1;
  if (std::ranges::find(factors, Amount(0)) != factors.end()) return 0;
  for (const Amount factor : factors) out = times(out, factor);
  return out;
}
Amount sum(std::initializer_list<Amount> terms) {
  Amount out = 0;
  for (const Amount term : terms) out = plus(out, term);
  return out;
}

// For a formula that cannot go on.
void lacks(OperatorWork& work, std::string_view what) { work.missing = what; }

// Along a dimension, where an element may pack several.
Amount values(const Argument& tensor, std::size_t dim) {
  return times(tensor.dims[dim], tensor.element != nullptr ? tensor.element->values : 1);
}

bool is_column_major(const Argument& matrix) {
  const std::size_t n = matrix.strides.size();
  return n >= 2 && n == matrix.dims.size() && matrix.strides[n - 2] == 1 && matrix.strides[n - 1] != 1;
}

// Of an element of a result that an argument names the type of, by PyTorch's number, or says to be float.
Amount named_size(const Argument& says, const ElementType* otherwise) {
  if (says.type.empty()) return size_of(otherwise);
  if (says.is_tensor()) return size_of(says);  // the input of the forward pass
  if (const auto is_float = says.flag()) return size_of(*is_float ? element_type("float") : otherwise);
  const auto number = says.numbers();
  return number && number->size() == 1 ? size_of(element_type(number->front())) : Amount();
}

// Of an element of a result of operands of type `in`, by `type`, of enum ResultType.
Amount result_size(const ElementType* in, Args args, int type) {
  if (type == kBoolResult) return 1;
  if (in == nullptr) return std::nullopt;
  const bool is_integer = in->kind <= NumberKind::kInteger;
  if (type == kFloatResult) return size_of(is_integer ? element_type("float") : in);
  if (type == kRealResult) return in->kind == NumberKind::kComplex ? in->bytes / 2 : in->bytes;
  if (type <= kOwnResult) return in->bytes;
  // Sums of what is narrower than int are of 64 bits (so are int's, but the reference keeps these).
  constexpr int kLong = 4;
  const bool is_widened = is_integer && in->bytes < static_cast<int>(sizeof(int));
  return named_size(argument(args, type), is_widened ? element_type(kLong) : in);
}

// Of an element of a product. kScaledResult, `per_element`, stands for scaled ones. An argument names the type where
// there are more than the one that may be `out`.
Amount product_size(Args args, const FormulaRule& rule) {
  const Argument &a = argument(args, rule.at[0]), &b = argument(args, rule.at[1]), &out = argument(args, rule.at[3]);
  if (is_given(out)) return size_of(out);
  const bool is_named = rule.at[5] > 0 && std::ssize(args) > rule.at[3];
  const Argument& says = argument(args, is_named ? rule.at[5] : -1);
  if (rule.per_element > 0 && says.value.empty()) return rule.per_element;
  return named_size(says, a.element != nullptr && b.element != nullptr && a.element->bytes < b.element->bytes
                              ? b.element
                              : a.element);
}

}  // namespace

// at: A, B, C that is added, `out`, whether B is [N, K], the number of the result's type. Result: the type of `out`,
// else of the number, else the wider of A and B; of scaled products 2 bytes.
void gemm(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &a = argument(args, at[0]), &b = argument(args, at[1]), &c = argument(args, at[2]);
  const bool is_n_k = at[4] != 0;
  if (a.dims.size() < 2 || b.dims.size() < 2) return lacks(work, "not two matrices");
  const bool batched = b.dims.size() > 2;
  const Amount k = values(a, a.dims.size() - 1);
  if (k != values(b, b.dims.size() - (is_n_k ? 1 : 2)) ||
      (batched && (a.dims.size() != b.dims.size() || a.dims.front() != b.dims.front()))) {
    return lacks(work, "sizes of matrices that do not fit");
  }
  work.k = k;
  work.n = is_n_k ? b.dims[b.dims.size() - 2] : times(b.dims.back(), 1);
  // Rows of A before the last dimension are rows of one product, where B is a single matrix.
  const Dims before(a.dims.begin(), a.dims.end() - 1);
  work.b = batched ? a.dims.front() : 1;
  work.m = batched ? a.dims[a.dims.size() - 2] : elements(before);
  if (!a.strides.empty() && !b.strides.empty()) {
    work.layout = {is_column_major(a) ? 'T' : 'N', is_column_major(b) != is_n_k ? 'T' : 'N'};
  }
  work.type = size_of(b) && size_of(a) && size_of(b) > size_of(a) ? b.type : a.type;
  work.flops = product({2, work.b, work.m, work.n, work.k});
  work.bytes = sum({bytes_of(a), bytes_of(b), product({work.b, work.m, work.n, product_size(args, rule)}),
                    at[2] < 0 ? Amount(0) : bytes_of(c)});
}

namespace {

// Bytes of queries, keys, values and results, each of its own type; queries of one byte do not tell that of results.
Amount attention_bytes(Amount on_q, Amount on_k, Args operands, const Argument& out) {
  const Argument &q = operands[0], &k = operands[1], &v = operands[2];
  const Amount result = is_given(out) ? size_of(out) : (size_of(q) == 1 ? Amount() : size_of(q));
  return sum({product({on_q, q.dims.back(), size_of(q)}), product({on_k, k.dims.back(), size_of(k)}),
              product({on_k, v.dims.back(), size_of(v)}), product({on_q, v.dims.back(), result})});
}

// at: the window's keys to the left, behind it those to the right; -1: all to that side. A causal call may say that it
// has none to the right.
bool has_window(Args args, int at, bool causal) {
  const auto reaches = [&](int side, std::int64_t least) {
    const auto keys = argument(args, at + side).numbers();
    return keys && keys->size() == 1 && keys->front() >= least;
  };
  return at > 0 && (reaches(0, 0) || reaches(1, causal ? 1 : 0));
}

}  // namespace

// at: Q, K, V, causal, layout [B, N, H, D] (else [B, H, N, D]), what is added to the scores, `out`, the sliding window
// (0: none is), keys of a chunk; `uses`: l where a tensor holds lengths, or which keys there are; `per_element`: halves
// of the forward's FLOPs, 2 forward and 5 backward, which computes S again and dV, dP, dQ and dK.
void attention(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &q = argument(args, at[0]), &k = argument(args, at[1]), &v = argument(args, at[2]),
                 &mask = argument(args, at[5]);
  constexpr std::size_t kDims = 4;
  if (!is_given(q) || !is_given(k) || !is_given(v)) return;
  work.type = q.type;
  bool has_lengths = q.dims.size() != kDims || k.dims.size() != kDims || v.dims.size() != kDims;
  for (std::size_t i = 0; i < std::min(args.size(), rule.uses.size()); ++i) {
    has_lengths |= rule.uses[i] == 'l' && is_given(args[i]);
  }
  if (has_lengths) return lacks(work, "lengths not recorded");
  const std::size_t n = at[4] != 0 ? 1 : 2, h = at[4] != 0 ? 2 : 1;
  if (k.dims[0] != q.dims[0] || k.dims[3] != q.dims[3] ||
      !std::equal(k.dims.begin(), k.dims.end() - 1, v.dims.begin())) {
    return lacks(work, "sizes of queries, keys and values that do not fit");
  }
  const std::optional<bool> causal = argument(args, at[3]).flag();
  const std::int64_t queries = q.dims[n], keys = k.dims[n];
  const Amount on_q = product({q.dims[0], q.dims[h], queries}), on_k = product({k.dims[0], k.dims[h], keys});
  const bool backward = rule.per_element > 2;
  const Amount operands =
      attention_bytes(on_q, on_k, args.subspan(static_cast<std::size_t>(at[0])), argument(args, at[6]));
  work.bytes = plus(times(operands, backward ? 2 : 1), is_given(mask) ? bytes_of(mask) : Amount(0));
  if (has_window(args, at[7], causal == true)) return lacks(work, "a sliding window");
  if (at[8] > 0 && argument(args, at[8]).numbers().value_or(Dims{0}) != Dims{0}) {
    return lacks(work, "attention in chunks");
  }
  if (!causal) return lacks(work, "whether it is causal is not recorded");
  if (*causal && keys < queries) return lacks(work, "causal with fewer keys than queries");
  const Amount all = product({2, queries, keys}), square = times(queries, queries);
  const Amount pairs = *causal && all && square ? Amount(*all - *square) : all;
  work.flops = product({q.dims[0], q.dims[h], pairs, plus(q.dims[3], v.dims[3]), rule.per_element});
  if (work.flops) *work.flops /= 2;
}

namespace {

// Of the requests of a step whose tokens a call has. `is_padded`: it has those of all, and more to fill a size up.
std::optional<StepLengths> lengths_of_call(const StepLengths& step, std::int64_t tokens, bool is_padded) {
  const auto& [context, generation] = step;
  const Amount all = plus(context.q, generation.q);
  if (tokens == all || (is_padded && all && tokens > *all)) return step;
  if (context.q == generation.q) return std::nullopt;  // either
  if (tokens == context.q) return StepLengths{context, {}};
  if (tokens == generation.q) return StepLengths{{}, generation};
  return std::nullopt;
}

}  // namespace

// at: Q [T, H, D], K and V [.., H, D], causal (if it says), the sliding window, `out`, whether Q is padded. The lengths
// of requests are in a tensor: from the step.
void attention_of_step(Args args, const FormulaRule& rule, const StepLengths* step, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &q = argument(args, at[0]), &k = argument(args, at[1]), &v = argument(args, at[2]);
  // Of more dimensions, keys are in tiles.
  if (q.dims.size() != 3 || k.dims.size() < 3 || k.dims.size() > 4 || v.dims.size() != k.dims.size()) return;
  work.type = q.type;
  const bool causal = argument(args, at[3]).flag().value_or(true);
  if (has_window(args, at[4], causal)) return lacks(work, "a sliding window");
  if (step == nullptr) return lacks(work, "lengths not recorded");
  const auto lengths = lengths_of_call(*step, q.dims[0], at[6] != 0);
  if (!lengths) return lacks(work, "tokens of the step that are not those of this call");
  const std::int64_t heads = q.dims[1], kv_heads = k.dims[k.dims.size() - 2];
  const auto& [context, generation] = *lengths;
  const Amount pairs = sum({times(2, context.qk), times(2, generation.qk)});
  if (!pairs || *pairs < context.qq) return lacks(work, "lengths of the step that cannot be");
  work.flops = product({heads, plus(q.dims.back(), v.dims.back()), *pairs - (causal ? context.qq : 0)});
  work.bytes =
      attention_bytes(times(plus(context.q, generation.q), heads), times(plus(context.k, generation.k), kv_heads),
                      args.subspan(static_cast<std::size_t>(at[0])), argument(args, at[5]));
}

namespace {

struct ConvolutionShape {
  Dims out;
  Amount flops;
};

struct ConvolutionPlaces {
  int x, w, stride, padding, dilation, transposed, output_padding, groups;
};

struct ConvolutionSide {
  std::int64_t in = 0, kernel = 0, stride = 0, padding = 0, dilation = 0, output_padding = 0;
};

// Of one dimension; nullopt: they cannot be.
Amount output_size(const ConvolutionSide& side, bool transposed) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 30U;  // what follows cannot overflow
  for (const std::int64_t value :
       {side.in, side.kernel, side.stride, side.padding, side.dilation, side.output_padding}) {
    if (value < 0 || value >= kHuge) return std::nullopt;
  }
  const std::int64_t reach = side.dilation * (side.kernel - 1) + 1, padded = side.in + 2 * side.padding;
  if (side.stride == 0 || (!transposed && padded < reach)) return std::nullopt;
  const std::int64_t size = transposed ? (side.in - 1) * side.stride - 2 * side.padding + reach + side.output_padding
                                       : (padded - reach) / side.stride + 1;
  return size < 0 ? std::nullopt : Amount(size);
}

// nullopt: what it takes is not recorded.
std::optional<ConvolutionShape> convolution_shape(Args args, const ConvolutionPlaces& at) {
  const Argument &x = argument(args, at.x), &w = argument(args, at.w);
  const std::size_t spatial = x.dims.size() < 3 ? 0 : x.dims.size() - 2;
  const auto each = [&](int place) {
    auto numbers = argument(args, place).numbers();
    if (numbers && numbers->size() == 1) numbers->resize(spatial, numbers->front());
    return numbers && numbers->size() == spatial ? *numbers : Dims();
  };
  const Dims stride = each(at.stride), padding = each(at.padding), dilation = each(at.dilation);
  const Dims more = at.output_padding < 0 ? Dims(spatial, 0) : each(at.output_padding);
  const auto transposed =
      at.transposed < 0 ? std::optional(at.transposed == kTransposed) : argument(args, at.transposed).flag();
  const auto groups = at.groups < 0 ? std::optional(Dims{1}) : argument(args, at.groups).numbers();
  if (spatial == 0 || w.dims.size() != x.dims.size() || stride.empty() || padding.empty() || dilation.empty() ||
      more.empty() || !transposed || !groups || groups->size() != 1) {
    return std::nullopt;
  }
  ConvolutionShape shape;
  const Amount channels = *transposed ? times(w.dims[1], groups->front()) : w.dims[0];
  shape.out = {x.dims[0], channels.value_or(0)};
  for (std::size_t i = 0; i < spatial; ++i) {
    const Amount size =
        output_size({x.dims[i + 2], w.dims[i + 2], stride[i], padding[i], dilation[i], more[i]}, *transposed);
    if (!size) return std::nullopt;
    shape.out.push_back(*size);
  }
  const Dims per_channel(w.dims.begin() + 1, w.dims.end());
  shape.flops = product({2, elements(*transposed ? x.dims : shape.out), elements(per_channel)});
  return shape;
}

}  // namespace

void convolution(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &x = argument(args, 0), &w = argument(args, 1), &bias = argument(args, at[0]);
  work.type = x.type;
  const auto shape = convolution_shape(args, {0, 1, at[1], at[2], at[3], at[4], at[5], at[6]});
  if (!shape) return lacks(work, "stride and padding not recorded");
  work.flops = shape->flops;
  work.bytes = sum({bytes_of(x), bytes_of(w), bytes_of(elements(shape->out), x), is_given(bias) ? bytes_of(bias) : 0});
}

void convolution_backward(Args args, const FormulaRule&, const StepLengths*, OperatorWork& work) {
  constexpr int kMask = 10;
  const Argument &gradient = argument(args, 0), &x = argument(args, 1), &w = argument(args, 2);
  work.type = x.type;
  const auto shape = convolution_shape(args, {1, 2, 4, 5, 6, 7, 8, 9});
  if (!shape) return lacks(work, "stride and padding not recorded");
  const std::string& mask = argument(args, kMask).value;
  std::array<bool, 3> wanted = {true, true, false};
  if (!mask.empty()) {
    std::size_t at = 0;
    for (bool& one : wanted) {
      at = mask.find_first_of("TF", at);
      if (at == std::string::npos) return lacks(work, "output mask not recorded");
      one = mask[at++] == 'T';
    }
  }
  const Amount count = std::int64_t{wanted[0]} + std::int64_t{wanted[1]};
  work.flops = times(shape->flops, count);
  const Amount all = sum({bytes_of(elements(gradient.dims), x), bytes_of(w), bytes_of(x)});
  const Amount bias = gradient.dims.size() > 1 ? bytes_of(gradient.dims[1], x) : Amount(0);
  work.bytes = plus(times(all, count), wanted[2] ? bias : Amount(0));
}

namespace {

// Bytes of a result like an operand; `at` as of moved.
Amount written_like(const Argument& in, Args args, const ArgumentPlaces& at, OperatorWork& work) {
  const int type = at[2] != 0 && in.element != nullptr && in.element->bytes > 2 ? kOwnResult : at[1];
  const Amount size = result_size(in.element, args, type);
  if (!size && in.element != nullptr) work.missing = "type of the result not recorded";
  return times(elements(in.dims), size);
}

}  // namespace

// `uses`. at: the argument whose elements are counted, the type of what is written like one that is read (ResultType);
// 1: only of halves it may be another.
void moved(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  Amount bytes = 0, count;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const char use = i < rule.uses.size() ? rule.uses[i] : (rule.uses.ends_with('*') ? 'r' : '.');
    if (use == '.' || (args[i].dims.empty() && !args[i].is_tensor())) continue;
    if (work.type.empty()) work.type = args[i].type;
    if (rule.at.count == 0 ? !count : static_cast<int>(i) == rule.at[0]) count = elements(args[i].dims);
    const std::int64_t passes = use == 't' ? 3 : (use == 'b' ? 2 : 1);
    bytes = plus(bytes, times(bytes_of(args[i]), passes));
    if (use == 'd') bytes = plus(bytes, written_like(args[i], args, rule.at, work));
  }
  if (!count) return;
  if (rule.per_element >= 0) work.flops = times(count, rule.per_element);
  work.bytes = bytes;
}

// In training the running statistics are written too. at: x, whether it trains.
void batch_norm(Args args, const FormulaRule& rule, const StepLengths* step, OperatorWork& work) {
  const auto training = argument(args, rule.at[1]).flag();
  FormulaRule mine = rule;
  mine.at = {};
  mine.uses = training == true ? "drrbb" : "drrrr";
  moved(args, mine, step, work);
  if (!training) {
    work.bytes.reset();
    work.missing = "whether it trains is not recorded";
  }
}

namespace {

Dims broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  const auto widen = [&](const Dims& in) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      std::int64_t& size = out[out.size() - in.size() + i];
      size = in[i] == 0 || size == 0 ? 0 : std::max(size, in[i]);
    }
  };
  widen(a);
  widen(b);
  return out;
}

// Of an operation of all. One of no dimensions counts only where no other is of its kind or a higher one; a double then
// is a number of Python's, which makes float of integers.
const ElementType* common_type(Args operands) {
  const ElementType *with = nullptr, *without = nullptr;
  for (const Argument& one : operands) {
    if (!one.is_tensor() && one.dims.empty()) continue;
    if (one.element == nullptr) return nullptr;
    const ElementType*& of = one.dims.empty() ? without : with;
    of = of == nullptr ? one.element : wider(of, one.element);
  }
  if (with == nullptr || without == nullptr) return with == nullptr ? without : with;
  if (without->kind <= with->kind) return with;
  return without == element_type("double") ? element_type("float") : without;
}

}  // namespace

// at: unused, the type of the result (ResultType), how many operands there are, 0: two.
void elementwise(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Args operands = args.first(std::min<std::size_t>(args.size(), at[2] > 0 ? static_cast<std::size_t>(at[2]) : 2));
  Dims out;
  work.bytes = 0;
  for (const Argument& one : operands) {
    if (!one.is_tensor() && one.dims.empty()) continue;
    if (work.type.empty()) work.type = one.type;
    out = broadcast(out, one.dims);
    work.bytes = plus(work.bytes, bytes_of(one));
  }
  if (work.type.empty()) {
    work.bytes.reset();
    return;
  }
  const bool in_place = at[1] == kInPlace;
  const Amount count = elements(in_place ? operands[0].dims : out);
  const ElementType* type = in_place ? operands[0].element : common_type(operands);
  // Of integers, div may be told to round: words are not recorded.
  const bool may_round =
      at[1] == kFloatResult && args.size() > operands.size() && type != nullptr && type->kind <= NumberKind::kInteger;
  if (may_round) work.missing = "whether it rounds is not recorded";
  if (rule.per_element >= 0) work.flops = count;
  work.bytes = may_round ? Amount() : plus(work.bytes, times(count, result_size(type, args, at[1])));
}

// at: the place of the dimensions; 1: they may be a bare number, before others; 1: behind whether they are kept, or the
// last of few, is the number of the result's type. Without dimensions all are reduced.
void reduce(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &in = argument(args, 0), &over = argument(args, at[0]);
  if (in.dims.empty() && !in.is_tensor()) return;
  work.type = in.type;
  work.flops = elements(in.dims);
  const auto rank = static_cast<std::int64_t>(in.dims.size());
  const bool is_listed = over.value.starts_with('[') || (at[1] != 0 && args.size() > 2);
  const Dims dims = is_listed ? over.numbers().value_or(Dims{}) : Dims{};
  if (!over.type.empty() && !over.is_tensor() && over.value.empty()) work.missing = "dimensions not recorded";
  Dims out = dims.empty() ? Dims{} : in.dims;
  for (const std::int64_t dim : dims) {
    const std::int64_t place = dim < 0 ? dim + rank : dim;
    if (place >= 0 && place < rank) {
      out[static_cast<std::size_t>(place)] = 1;
    } else if (rank > 0) {
      work.missing = "a dimension that it does not have";
    }
  }
  const int few = at[0] + 1, all = at[0] + 3, count = static_cast<int>(args.size());
  const int type = at[2] == 0 ? kOwnResult : (count >= all ? all - 1 : (count == few ? few - 1 : kOwnResult));
  if (work.missing.empty()) work.bytes = plus(bytes_of(in), times(elements(out), result_size(in.element, args, type)));
}

// at: the table, what is looked up, the argument with the dimension; -1: rows. gather: one element each.
void gather(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &table = argument(args, at[0]), &index = argument(args, at[1]);
  if (table.dims.empty() || !index.is_tensor()) return;
  work.type = table.type;
  work.flops = 0;
  Amount count = elements(index.dims);
  if (at[2] != 0) {
    const auto dim = at[2] < 0 ? std::optional(Dims{0}) : argument(args, at[2]).numbers();
    const auto rank = static_cast<std::int64_t>(table.dims.size());
    if (!dim || dim->size() != 1 || dim->front() >= rank || dim->front() < -rank) {
      return lacks(work, "dimension not recorded");
    }
    for (std::int64_t i = 0; i < rank; ++i) {
      if (i != (dim->front() + rank) % rank) count = times(count, table.dims[static_cast<std::size_t>(i)]);
    }
  }
  work.bytes = plus(times(bytes_of(count, table), 2), bytes_of(index));
}

// at: x [T, H], w1 [E, 2F or F, H], w2 [E, H, F], then the weights or ids of the chosen experts [T, topk].
void moe(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const ArgumentPlaces& at = rule.at;
  const Argument &x = argument(args, at[0]), &w1 = argument(args, at[1]), &w2 = argument(args, at[2]),
                 &top = argument(args, at[3]);
  work.type = x.type;
  if (x.dims.size() != 2 || w1.dims.size() != 3 || w2.dims.size() != 3 || top.dims.size() != 2 ||
      top.dims[0] != x.dims[0]) {
    return lacks(work, "experts per token not in the shapes");
  }
  const std::int64_t tokens = x.dims[0], hidden = x.dims[1], experts = w1.dims[0], inner = w2.dims[2];
  const std::int64_t gates = inner > 0 && w1.dims[1] % inner == 0 ? w1.dims[1] / inner : 0;
  if (w1.dims[2] != hidden || w2.dims[1] != hidden || gates < 1 || gates > 2) {
    return lacks(work, "weights are packed");  // four bits a value, or tiles
  }
  // A map of the experts that are here, or a count of the tokens.
  if (std::ranges::any_of(args, [](const Argument& one) {
        return one.dims.size() == 1 && one.element != nullptr && one.element->kind == NumberKind::kInteger;
      })) {
    return lacks(work, "which of the experts' tokens are computed here is not recorded");
  }
  const Amount chosen = times(tokens, top.dims[1]);
  work.flops = product({2, chosen, gates + 1, hidden, inner});
  const Amount used = chosen ? Amount(std::min(*chosen, experts)) : chosen;
  const Amount one = plus(bytes_of(product({w1.dims[1], hidden}), w1), bytes_of(product({hidden, inner}), w2));
  work.bytes = plus(times(used, one), times(bytes_of(x), 2));
}

void not_recorded(Args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  if (!uses_matrix_units(rule.family)) work.flops = 0;
  work.missing = rule.uses;
}

// at: as of gemm, A [T, K], B [E, K, N]: each row of A by the matrix of its group.
void grouped_gemm(Args args, const FormulaRule& rule, const StepLengths*, OperatorWork& work) {
  const Argument &a = argument(args, rule.at[0]), &b = argument(args, rule.at[1]);
  if (a.dims.size() != 2 || b.dims.size() != 3 || a.dims[1] != b.dims[1]) {
    return lacks(work, "not rows and a matrix a group that fits");
  }
  work.type = a.type;
  work.b = 1, work.m = a.dims[0], work.k = a.dims[1], work.n = b.dims[2];
  work.flops = product({2, work.m, work.n, work.k});
  const Amount groups = std::min(a.dims[0], b.dims[0]);
  work.bytes = sum({bytes_of(a), bytes_of(product({groups, b.dims[1], b.dims[2]}), b),
                    product({work.m, work.n, product_size(args, rule)})});
}

}  // namespace tracedb
