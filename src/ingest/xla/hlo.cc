#include "ingest/xla/hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/lookup.h"
#include "base/statistics.h"
#include "base/text/json_text.h"
#include "ingest/rows/source_rows.h"

namespace tracedb {
namespace {

// Names of the values of PrimitiveType of xla/xla_data.proto, by number.
constexpr std::array<std::string_view, 29> kTypes = {
    "",         "pred", "s8",  "s16",           "s32",        "s64",        "u8",   "u16",   "u32",   "u64",
    "f16",      "f32",  "f64", "tuple",         "opaque",     "c64",        "bf16", "token", "c128",  "f8e5m2",
    "f8e4m3fn", "s4",   "u4",  "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2",   "u2",    "f8e4m3"};

std::string type_name(std::uint64_t type) {
  return type < kTypes.size() ? std::string(kTypes[type]) : fmt::format("type{}", type);
}

constexpr int kDeepest = 8;  // of tuples in tuples

struct HloShape {
  std::string type;           // "f32"; of a tuple empty
  std::string dims;           // "8,128"
  std::string text;           // "f32[8,128]"
  std::int64_t elements = 1;  // of a tuple those of its last part
};

// A repeated integer may be packed or not.
template <class T>
void append_integers(protozero::pbf_reader& reader, std::vector<T>& out) {
  if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t value : reader.get_packed_int64()) out.push_back(static_cast<T>(value));
  } else {
    out.push_back(static_cast<T>(reader.get_int64()));
  }
}

HloShape shape_of(protozero::data_view view, int depth = 0) {
  HloShape out;
  std::vector<std::int64_t> dims;
  std::string parts;
  bool tuple = false;
  read_fields(protozero::pbf_reader(view), [&](std::uint32_t field, protozero::pbf_reader& value) {
    if (field == 2) {
      const auto type = static_cast<std::uint64_t>(value.get_enum());
      tuple = kTypes.size() > type && kTypes[type] == "tuple";
      out.type = type_name(type);
    }
    if (field == 3) append_integers(value, dims);
    if (field == 4 && depth < kDeepest) {
      const HloShape part = shape_of(value.get_view(), depth + 1);
      parts += (parts.empty() ? "" : ", ") + part.text;
      out.elements = part.elements;
    }
  });
  for (const std::int64_t side : dims) {
    if (__builtin_mul_overflow(out.elements, side, &out.elements)) out.elements = 0;
  }
  out.dims = fmt::format("{}", fmt::join(dims, ","));
  out.text = tuple ? "(" + parts + ")" : fmt::format("{}[{}]", out.type, out.dims);
  if (tuple) out.type.clear();
  return out;
}

struct HloInstruction {
  std::string name, opcode, target, op_name, source_file;
  std::int64_t source_line = 0;
  HloShape shape;
  std::uint64_t id = 0, frame = 0;
  std::vector<std::uint64_t> operands, called;  // ids
};

// Throws protozero::exception for what is damaged.
HloInstruction instruction_of(std::string_view bytes) {
  HloInstruction out;
  const auto read_metadata = [&](std::uint32_t field, protozero::pbf_reader& value) {
    if (field == 2) out.op_name = value.get_string();
    if (field == 3) out.source_file = value.get_string();
    if (field == 4) out.source_line = value.get_int64();
    if (field == 15) out.frame = static_cast<std::uint64_t>(value.get_int64());
  };
  read_fields(reader_of(bytes), [&](std::uint32_t field, protozero::pbf_reader& value) {
    if (field == 1) out.name = value.get_string();
    if (field == 2) out.opcode = value.get_string();
    if (field == 3) out.shape = shape_of(value.get_view());
    if (field == 7) read_fields(value.get_message(), read_metadata);
    if (field == 28) out.target = value.get_string();
    if (field == 35) out.id = static_cast<std::uint64_t>(value.get_int64());
    if (field == 36) append_integers(value, out.operands);
    if (field == 38) append_integers(value, out.called);
  });
  return out;
}

std::string quoted_list(const std::vector<std::string>& values, bool lists) {
  std::string out;
  for (const std::string& value : values)
    out += (out.empty() ? "" : ", ") + (lists ? "[" + value + "]" : quote_json(value));
  return "[" + out + "]";
}

// StackFrameIndex: ids count from 1, 0 stands for none.
struct FrameIndex {
  using Numbers = std::array<std::uint64_t, 4>;  // by number of the field
  std::vector<std::string> files, functions;
  std::vector<Numbers> locations;  // file, function, line
  std::vector<Numbers> frames;     // location, parent
};

FrameIndex::Numbers numbers_of(protozero::pbf_reader message) {
  FrameIndex::Numbers out{};
  read_fields(message, [&](std::uint32_t field, protozero::pbf_reader& value) {
    const bool is_number = value.wire_type() == protozero::pbf_wire_type::varint;
    if (field < out.size() && is_number) out[field] = static_cast<std::uint64_t>(value.get_int64());
  });
  return out;
}

FrameIndex frame_index(std::string_view bytes) {
  FrameIndex out;
  read_fields(reader_of(bytes), [&](std::uint32_t field, protozero::pbf_reader& value) {
    if (field == 1) out.files.push_back(value.get_string());
    if (field == 2) out.functions.push_back(value.get_string());
    if (field == 3) out.locations.push_back(numbers_of(value.get_message()));
    if (field == 4) out.frames.push_back(numbers_of(value.get_message()));
  });
  return out;
}

// Behind wrappers: "transpose(jvp(layers_3))" is "layers_3".
std::string_view unwrapped(std::string_view part) {
  while (part.ends_with(')')) {
    const std::size_t open = part.find('(');
    if (open == std::string_view::npos) break;
    if (part.substr(0, open) == "jit" || part.substr(0, open) == "pjit") return {};
    part = part.substr(open + 1, part.size() - open - 2);
  }
  return part;
}

}  // namespace

std::vector<std::string> scopes_of(std::string_view op_name) {
  constexpr std::string_view kAdded[] = {"",
                                         "while",
                                         "body",
                                         "cond",
                                         "scan",
                                         "main",
                                         "checkpoint",
                                         "remat",
                                         "remat2",
                                         "pjit",
                                         "closed_call",
                                         "core_call",
                                         "rematted_computation",
                                         "custom_jvp_call",
                                         "custom_vjp_call",
                                         "custom_vjp_call_jaxpr",
                                         "shard_map",
                                         "xla_call",
                                         "branch_0_fun",
                                         "branch_1_fun",
                                         "true_fun",
                                         "false_fun"};
  std::vector<std::string> out;
  for (std::size_t begin = 0, end = 0; (end = op_name.find('/', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string_view scope = unwrapped(op_name.substr(begin, end - begin));
    if (std::ranges::find(kAdded, scope) == std::end(kAdded)) out.emplace_back(scope);
  }
  return out;
}

void HloModules::add(std::uint64_t program, std::string_view name, ProtoRange proto) {
  modules_.try_emplace(program, Module{proto, {}, {}, {}, {}, {}, false});
  const auto [known, is_new] = only_program_.try_emplace(std::string(name.substr(0, name.find('('))), program);
  if (!is_new) known->second = kSeveral;
}

void HloModules::index(Module& module) {
  module.indexed = true;
  ProtoRange rest = module.proto;
  while (const auto field = file_.next(rest)) {
    if (field->number != 1 || !field->is_range) continue;
    ProtoRange body = field->range;
    while (const auto part = file_.next(body)) {
      if (part->number == 1 && part->is_range) module.name = file_.bytes(part->range);
      if (part->number == 3 && part->is_range) index_computation(module, part->range);
      if (part->number == 17 && part->is_range) module.frames = part->range;
    }
  }
}

void HloModules::index_computation(Module& module, ProtoRange computation) {
  ProtoRange rest = computation;
  while (const auto field = file_.next(rest)) {
    if (field->number == 5 && !field->is_range) module.computations[field->value] = computation;
    if (field->number != 2 || !field->is_range) continue;
    ProtoRange body = field->range;
    std::string name;
    std::uint64_t id = 0;
    while (const auto part = file_.next(body)) {
      if (part->number == 1 && part->is_range) name = file_.bytes(part->range);
      if (part->number == 35 && !part->is_range) id = part->value;
    }
    module.by_name.try_emplace(std::move(name), field->range);
    module.by_id.try_emplace(id, field->range);
  }
}

HloOp HloModules::find(std::uint64_t program, std::string_view module, std::string_view op) {
  HloOp out;
  out.module = module;
  out.op = op;
  Module* found = find_in(modules_, program);
  const auto* only = find_in(only_program_, out.module);
  if (found == nullptr && only != nullptr) found = find_in(modules_, *only);
  if (found == nullptr) return out;
  Module& own = *found;
  if (!own.indexed) index(own);
  if (out.module.empty()) out.module = own.name;
  const ProtoRange* place = find_in(own.by_name, out.op);
  if (place == nullptr) return out;
  // Where it is damaged, as far as it can be read.
  decodes([&] {
    const HloInstruction instruction = instruction_of(file_.bytes(*place));
    out.opcode = instruction.opcode;
    out.target = instruction.target;
    out.shape = instruction.shape.text;
    out.out_elements = instruction.shape.elements;
    out.op_name = instruction.op_name;
    if (out.op_name.empty()) out.op_name = inner_op_name(own, instruction.called);
    if (!instruction.source_file.empty()) {
      out.frames.push_back(fmt::format("{}({}): {}", instruction.source_file, instruction.source_line, op));
    }
    if (instruction.frame != 0) out.frames = frames_of(own, instruction.frame);
    std::vector<std::string> dims, types;
    for (const std::uint64_t id : instruction.operands) {
      const ProtoRange* operand = find_in(own.by_id, id);
      if (operand == nullptr) continue;
      const HloShape shape = instruction_of(file_.bytes(*operand)).shape;
      dims.push_back(shape.dims);
      if (out.dtype.empty()) out.dtype = shape.type;
      out.in_elements = saturating_add(std::max<std::int64_t>(out.in_elements, 0), shape.elements);
      types.push_back(shape.type);
    }
    out.dims = quoted_list(dims, true);
    out.types = quoted_list(types, false);
  });
  return out;
}

// Of a fusion: the last one in what it calls that names a place in the model.
std::string HloModules::inner_op_name(const Module& module, const std::vector<std::uint64_t>& computations) {
  std::string out;
  for (const std::uint64_t id : computations) {
    const ProtoRange* computation = find_in(module.computations, id);
    if (computation == nullptr) continue;
    ProtoRange rest = *computation;
    while (const auto field = file_.next(rest)) {
      if (field->number != 2 || !field->is_range) continue;
      HloInstruction inner = instruction_of(file_.bytes(field->range));
      if (inner.op_name.find('/') != std::string::npos) out = std::move(inner.op_name);
    }
  }
  return out;
}

std::vector<std::string> HloModules::frames_of(const Module& module, std::uint64_t frame) {
  constexpr std::size_t kDeepestStack = 200;  // parents of a damaged file may form a loop
  const FrameIndex index = frame_index(file_.bytes(module.frames));
  std::vector<std::string> out;
  const auto text = [](const std::vector<std::string>& texts, std::uint64_t id) {
    return id > 0 && id <= texts.size() ? texts[id - 1] : std::string("?");
  };
  while (frame > 0 && frame <= index.frames.size() && out.size() < kDeepestStack) {
    const FrameIndex::Numbers& own = index.frames[frame - 1];
    frame = own[2];
    if (own[1] == 0 || own[1] > index.locations.size()) continue;
    const FrameIndex::Numbers& place = index.locations[own[1] - 1];
    out.push_back(fmt::format("{}({}): {}", text(index.files, place[1]), place[3], text(index.functions, place[2])));
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace tracedb
