#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ir/body_run.h"
#include "compiler/ir/builder.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"

// Records, lists, maps, text and effects of the interpreter.
namespace wf::ir {
namespace {

// What a native is given, or gives back, is read or written piece by piece.
uint64_t StepsToPass(const Value& value) {
  constexpr uint64_t kStepsOfAPiece = 4, kBytesOfTextAStep = 4;
  if (!value.dims.empty()) {
    uint64_t elements = 1;
    for (const int64_t dim : value.dims) elements *= static_cast<uint64_t>(dim);
    return kStepsOfAPiece * elements;
  }
  uint64_t steps = kStepsOfAPiece + (value.text ? value.text->size() / kBytesOfTextAStep : 0);
  if (value.items) {
    for (const Value& item : *value.items) steps += StepsToPass(item);
  }
  return steps;
}

bool IsUtf8(const std::string& text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    const unsigned char lead = *at++;
    if (lead < 0x80) continue;
    const int extra = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || end - at < extra) return false;
    uint32_t point = lead & (0x3fu >> extra);
    for (int i = 0; i < extra; ++i, ++at) {
      if ((*at & 0xc0) != 0x80) return false;
      point = point << 6 | (*at & 0x3fu);
    }
    if ((extra == 2 && point < 0x800) || (extra == 3 && point < 0x10000) || point > 0x10ffff) return false;
    if (point >= 0xd800 && point <= 0xdfff) return false;
  }
  return true;
}

}  // namespace

bool BodyRun::RunRecord(ValueId id, const Op& op) {
  switch (op.kind) {
    case OpKind::kRecord: {
      if (!Spend(op.args.size() * sizeof(Value))) return false;
      std::vector<Value> fields;
      for (size_t i = 0; i < op.args.size(); ++i) fields.push_back(Arg(op, i));
      At(id) = Value::Items(std::move(fields));
      return Step(op.place.line, kStepsOfItems);
    }
    case OpKind::kField:
      At(id) = Value((*Arg(op, 0).items)[op.imm]);
      return true;
    case OpKind::kNone:
      At(id) = {};
      return true;
    case OpKind::kSome: {
      if (!Spend(sizeof(Value))) return false;
      Value some = Value::Items({Arg(op, 0)});
      some.bits = 1;
      At(id) = std::move(some);
      return Step(op.place.line, kStepsOfItems);
    }
    case OpKind::kHas:
      Set(id, Arg(op, 0).bits);
      return true;
    case OpKind::kUnwrap:
      WF_CHECK(Arg(op, 0).bits == 1);
      At(id) = Value((*Arg(op, 0).items)[0]);
      return true;
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define RECORD_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

bool BodyRun::RunList(ValueId id, const Op& op) {
  switch (op.kind) {
    case OpKind::kListMake: {
      if (!Spend(op.args.size() * sizeof(Value))) return false;
      std::vector<Value> items;
      for (size_t i = 0; i < op.args.size(); ++i) items.push_back(Arg(op, i));
      return SetItems(id, std::move(items));
    }
    case OpKind::kListLen:
      Set(id, Arg(op, 0).items ? Arg(op, 0).items->size() : 0);
      return true;
    case OpKind::kListGet: {
      const int64_t index = Integer(op.args[1]), count = Arg(op, 0).items ? static_cast<int64_t>(Arg(op, 0).items->size()) : 0;
      if (!Holds(index >= 0 && index < count, op.place.line)) return false;
      At(id) = Value((*Arg(op, 0).items)[static_cast<size_t>(index)]);
      return true;
    }
    case OpKind::kListBuild:
      return RunListBuild(id, op);
    case OpKind::kListFilter:
      return RunListFilter(id, op);
    case OpKind::kListOfTensor:
      return RunListOfTensor(id, op);
    case OpKind::kTensorOfList:
      return RunTensorOfList(id, op);
    case OpKind::kMapGet:
    case OpKind::kMapKeys:
    case OpKind::kMapValues:
      return RunMap(id, op);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define LIST_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

bool BodyRun::RunListBuild(ValueId id, const Op& op) {
  std::vector<Value> items;
  for (int64_t k = 0, n = Integer(op.args[0]); k < n; ++k) {
    SetParam(op.blocks[0], 0, static_cast<uint64_t>(k));
    if (!Spend(sizeof(Value)) || !RunBlock(op.blocks[0])) return false;
    items.push_back(At(body_[op.blocks[0]].result));
  }
  return SetItems(id, std::move(items));
}

bool BodyRun::RunListFilter(ValueId id, const Op& op) {
  std::vector<Value> items;
  for (int64_t k = 0, n = Integer(op.args[0]); k < n; ++k) {
    SetParam(op.blocks[0], 0, static_cast<uint64_t>(k));
    if (!Spend(sizeof(Value)) || !RunBlock(op.blocks[0])) return false;
    if (!At(body_[op.blocks[0]].result).bits) continue;
    SetParam(op.blocks[1], 0, static_cast<uint64_t>(k));
    if (!RunBlock(op.blocks[1])) return false;
    items.push_back(At(body_[op.blocks[1]].result));
  }
  return SetItems(id, std::move(items));
}

bool BodyRun::RunListOfTensor(ValueId id, const Op& op) {
  const Value tensor = Arg(op, 0);
  const size_t size = SizeOf(TypeOf(op.args[0]).dtype);
  const std::vector<int64_t> inner(tensor.dims.begin() + 1, tensor.dims.end());
  size_t stride = size;
  for (const int64_t dim : inner) stride *= static_cast<size_t>(dim);
  std::vector<Value> items;
  for (int64_t k = 0; k < tensor.dims[0]; ++k) {
    if (!Spend(sizeof(Value) + stride)) return false;
    const char* const begin = tensor.text->data() + static_cast<size_t>(k) * stride;
    uint64_t bits = 0;
    if (inner.empty()) std::memcpy(&bits, begin, size);
    items.push_back(inner.empty() ? Value::Scalar(bits) : Value::Tensor(inner, std::string(begin, stride)));
  }
  return SetItems(id, std::move(items));
}

bool BodyRun::RunTensorOfList(ValueId id, const Op& op) {
  const Value list = Arg(op, 0);
  const Type& type = TypeOf(id);
  const size_t size = SizeOf(type.dtype), count = list.items ? list.items->size() : 0;
  std::vector<int64_t> dims{static_cast<int64_t>(count)};
  size_t stride = size;
  if (type.dims.size() > 1) {  // the first element's shape; of an empty list 0 wherever the type does not say
    for (size_t axis = 1; axis < type.dims.size(); ++axis) {
      dims.push_back(count ? (*list.items)[0].dims[axis - 1] : std::max<int64_t>(type.dims[axis], 0));
      stride *= static_cast<size_t>(dims.back());
    }
  }
  if (!Spend(stride * count)) return false;
  std::string elements(stride * count, '\0');
  for (size_t k = 0; k < count; ++k) {
    const Value& item = (*list.items)[k];
    if (type.dims.size() == 1) {
      std::memcpy(elements.data() + k * stride, &item.bits, size);
    } else if (std::equal(item.dims.begin(), item.dims.end(), dims.begin() + 1, dims.end())) {
      std::memcpy(elements.data() + k * stride, item.text->data(), stride);
    } else {
      sticky_ |= 8;
    }
  }
  return SetTensor(id, std::move(dims), std::move(elements));
}

bool BodyRun::RunMap(ValueId id, const Op& op) {
  const Value& map = Arg(op, 0);
  if (op.kind == OpKind::kMapKeys) {
    std::vector<Value> keys;
    for (size_t i = 0; map.keys && i < map.keys->size(); ++i) {
      const std::string& key = (*map.keys)[i];
      if (!Spend(sizeof(Value) + key.size())) return false;
      keys.push_back(Value::Text(key));
    }
    return SetItems(id, std::move(keys));
  }
  if (op.kind == OpKind::kMapValues) {
    std::vector<Value> values;
    if (map.items && !Spend(map.items->size() * sizeof(Value))) return false;
    if (map.items) values = *map.items;
    return SetItems(id, std::move(values));
  }
  Value found;
  if (map.keys) {
    const auto at = std::lower_bound(map.keys->begin(), map.keys->end(), *Arg(op, 1).text);
    if (at != map.keys->end() && *at == *Arg(op, 1).text) {
      if (!Spend(sizeof(Value))) return false;
      found = Value::Items({(*map.items)[static_cast<size_t>(at - map.keys->begin())]});
      found.bits = 1;
    }
  }
  At(id) = std::move(found);
  return Step(op.place.line, kStepsOfItems);
}

bool BodyRun::RunText(ValueId id, const Op& op) {
  switch (op.kind) {
    case OpKind::kStringLen:
      Set(id, Arg(op, 0).text->size());
      return true;
    case OpKind::kStringEqual: {
      const std::string &left = *Arg(op, 0).text, &right = *Arg(op, 1).text;
      Set(id, left == right);
      return Step(op.place.line, left.size() == right.size() ? left.size() / kBytesOfAStep : 0);
    }
    case OpKind::kStringFromBytes:
      if ((tensor_depth_ == 0 && !CheckSticky()) || !Step(op.place.line, Arg(op, 0).text->size() / kBytesOfAStep)) return false;
      if (!IsUtf8(*Arg(op, 0).text)) return Fail(code::kNotUtf8, "bytes that are not UTF-8", op.place.line);
      At(id) = Value(Arg(op, 0));
      return true;
    case OpKind::kText:
      return RunFormat(id, op);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define TEXT_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

bool BodyRun::RunFormat(ValueId id, const Op& op) {
  const std::string& format = *program_.constants[op.imm].value.text;
  const auto is_scalar = [&](size_t i) { return TypeOf(op.args[i]).kind == TypeKind::kScalar; };
  uint64_t bytes = format.size();  // a text that would be too long is not made
  for (size_t i = 0; i < op.args.size(); ++i) bytes += is_scalar(i) ? 0 : Arg(op, i).text->size();
  if (bytes > owner_.limits_.max_bytes - owner_.bytes_) return Spend(bytes);
  std::string text;
  text.reserve(bytes);
  size_t from = 0;
  for (size_t i = 0; i < op.args.size(); ++i) {
    const size_t hole = format.find("{}", from);
    WF_CHECK(hole != std::string::npos, format);
    text.append(format, from, hole - from);
    from = hole + 2;
    text += is_scalar(i) ? ScalarText(TypeOf(op.args[i]).dtype, Arg(op, i).bits) : *Arg(op, i).text;
  }
  return SetText(id, std::move(text.append(format, from)));
}

bool BodyRun::RunEffect(ValueId id, const Op& op) {
  if (tensor_depth_ == 0 && !CheckSticky()) return false;
  switch (op.kind) {
    case OpKind::kFailIf: {
      if (!Arg(op, 0).bits) return true;
      if (!RunBlock(op.blocks[0])) return false;
      const ValueId message = body_[op.blocks[0]].result;
      return Fail(static_cast<int32_t>(op.imm), *At(message).text, op.place.line);
    }
    case OpKind::kMeta:
      return RunMeta(id, op);
    case OpKind::kAnnotate:
      owner_.annotations_.push_back({*Arg(op, 0).text, *Arg(op, 1).text});
      return true;
    case OpKind::kNative:
      return RunNative(id, op);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define EFFECT_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  return Unknown(op);
}

bool BodyRun::RunMeta(ValueId id, const Op& op) {
  const std::string& key = *Arg(op, 0).text;
  const std::optional<std::string> text = owner_.hooks_.meta ? owner_.hooks_.meta(key) : std::nullopt;
  if (!text) {
    At(id) = Value(Arg(op, 1));
    return true;
  }
  const Type& type = TypeOf(id);
  const auto fail = [&](std::string_view why) {
    return Fail(code::kInputParams, (base::TextBuilder() << "metadata `").Quote(key).str() + "` is not " + std::string(why), op.place.line);
  };
  if (type.kind == TypeKind::kString) return IsUtf8(*text) ? SetText(id, *text) : fail("UTF-8");
  const std::optional<uint64_t> bits = ParseScalar(type.dtype, *text);
  if (!bits) return fail("a value of type " + std::string(NameOf(type.dtype)));
  Set(id, *bits);
  return true;
}

bool BodyRun::RunNative(ValueId id, const Op& op) {
  const std::string& symbol = program_.natives[op.imm];
  std::vector<Value> args;
  uint64_t steps = kStepsOfANative;
  for (size_t i = 0; i < op.args.size(); ++i) {
    args.push_back(Arg(op, i));
    steps += StepsToPass(args.back());
  }
  if (!Step(op.place.line, steps)) return false;
  const TypeId told = TypeTold(program_, body_, op);
  Outcome outcome = owner_.hooks_.native
                        ? owner_.hooks_.native(symbol, args, told == TypeId::kNone ? op.type : told)
                        : Outcome{.value = {}, .failure = Failure{.code = code::kInference, .message = symbol + " needs a server"}};
  if (outcome.failure) return Fail(outcome.failure->code, outcome.failure->message, op.place.line);
  At(id) = std::move(*outcome.value);
  return Step(op.place.line, StepsToPass(At(id)));
}

}  // namespace wf::ir
