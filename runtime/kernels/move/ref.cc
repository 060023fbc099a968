#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/move/strided.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

std::vector<int64_t> ByteStrides(const TensorInfo& tensor) {
  std::vector<int64_t> stride(tensor.dim.size());
  int64_t size = base::DTypeSize(tensor.dtype);
  for (size_t i = stride.size(); i-- > 0;) {
    stride[i] = size;
    size *= tensor.dim[i];
  }
  return stride;
}

// Bytes of everything behind an axis, and the number of times it repeats in front.
void Blocks(const TensorInfo& tensor, size_t axis, int64_t& outer, int64_t& inner_bytes) {
  outer = 1;
  inner_bytes = base::DTypeSize(tensor.dtype);
  for (size_t i = 0; i < axis; ++i) outer *= tensor.dim[i];
  for (size_t i = axis + 1; i < tensor.dim.size(); ++i) inner_bytes *= tensor.dim[i];
}

template <typename Index>
const char* RunGather(const Buffers& b, int64_t outer, int64_t extent, int64_t inner, int64_t n) {
  const Index* at = static_cast<const Index*>(b.in[1]);
  const uint8_t* in = static_cast<const uint8_t*>(b.in[0]);
  uint8_t* out = static_cast<uint8_t*>(b.out[0]);
  for (int64_t o = 0; o < outer; ++o, in += extent * inner) {
    for (int64_t i = 0; i < n; ++i, out += inner) {
      int64_t k = at[i];
      if (k < -extent || k >= extent) return "an index is out of range";
      if (k < 0) k += extent;
      std::memcpy(out, in + k * inner, static_cast<size_t>(inner));
    }
  }
  return nullptr;
}

template <size_t kSize>
std::unique_ptr<Kernel> MakeWhereOf(const Operation& operation) {
  struct Element {
    uint8_t byte[kSize];
  };
  const Broadcast<3> shape(operation.out[0].dim, {operation.in[0].dim, operation.in[1].dim, operation.in[2].dim});
  return MakeFunction(3, [shape](const Buffers& b) -> const char* {
    const uint8_t* condition = static_cast<const uint8_t*>(b.in[0]);
    const Element *yes = static_cast<const Element*>(b.in[1]), *no = static_cast<const Element*>(b.in[2]);
    Element* out = static_cast<Element*>(b.out[0]);
    shape.ForEach([&](int64_t at, const auto& offset, const auto& stride, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        out[at + i] = condition[offset[0] + i * stride[0]] != 0 ? yes[offset[1] + i * stride[1]] : no[offset[2] + i * stride[2]];
      }
    });
    return nullptr;
  });
}

// Where position `at` of the padded axis comes from: -1 is the padding.
int64_t PadSource(Pad::Mode mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == Pad::Mode::kConstant || extent <= 0) return -1;
  if (mode == Pad::Mode::kEdge) return at < 0 ? 0 : extent - 1;
  const auto within = [](int64_t place, int64_t period) { return place % period + (place % period < 0 ? period : 0); };
  if (mode == Pad::Mode::kWrap) return within(at, extent);
  if (extent == 1) return 0;
  const int64_t turned = within(at, 2 * (extent - 1));
  return turned < extent ? turned : 2 * (extent - 1) - turned;
}

void FillWith(const uint8_t* value, int64_t element, uint8_t* out, int64_t bytes) {
  if (bytes <= 0) return;
  std::memcpy(out, value, static_cast<size_t>(element));
  for (int64_t done = element; done < bytes; done *= 2) std::memcpy(out + done, out, static_cast<size_t>(std::min(done, bytes - done)));
}

struct Padding {
  struct Axis {
    int64_t in, out, begin, in_bytes, out_bytes;  // bytes: of a step along the axis
  };
  Pad::Mode mode;
  int64_t element;
  std::vector<Axis> axes;  // those behind the last one that is padded are part of its steps

  // Steps that lie within the input side by side are copied at once.
  void Fill(size_t depth, const uint8_t* in, const uint8_t* value, uint8_t* out) const {
    const Axis& axis = axes[depth];
    const bool last = depth + 1 == axes.size();
    // What a padding below 0 takes away is gone before the rest is repeated.
    const int64_t first = std::max<int64_t>(0, -axis.begin), end = axis.in + std::min<int64_t>(0, axis.out - axis.in - axis.begin);
    for (int64_t at = 0; at < axis.out;) {
      const int64_t place = at - axis.begin, kept = PadSource(mode, place - first, end - first), from = kept < 0 ? kept : first + kept;
      int64_t run = 1;
      if (from < 0) run = place < 0 ? std::min(-place, axis.out - at) : axis.out - at;
      if (last && from >= 0 && place == from) run = std::min(end - from, axis.out - at);
      uint8_t* to = out + at * axis.out_bytes;
      if (from < 0) {
        FillWith(value, element, to, run * axis.out_bytes);
      } else if (last) {
        std::memcpy(to, in + from * axis.in_bytes, static_cast<size_t>(run * axis.out_bytes));
      } else {
        Fill(depth + 1, in + from * axis.in_bytes, value, to);
      }
      at += run;
    }
  }
};

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeTranspose(const Operation& operation) {
  const std::vector<int64_t> stride = ByteStrides(operation.in[0]);
  Strided strided;
  strided.size = base::DTypeSize(operation.in[0].dtype);
  for (const size_t from : std::get<Transpose>(operation.params).perm) {
    strided.extent.push_back(operation.in[0].dim[from]);
    strided.stride.push_back(stride[from]);
  }
  return MakeStrided(std::move(strided), operation.out[0].count());
}

base::Result<std::unique_ptr<Kernel>> MakeSlice(const Operation& operation) {
  const Slice& slice = std::get<Slice>(operation.params);
  Strided strided;
  strided.size = base::DTypeSize(operation.in[0].dtype);
  strided.extent = operation.out[0].dim;
  strided.stride = ByteStrides(operation.in[0]);
  for (size_t i = 0; i < strided.stride.size(); ++i) {
    strided.offset += slice.start[i] * strided.stride[i];
    strided.stride[i] = strided.extent[i] > 1 ? strided.stride[i] * slice.step[i] : strided.stride[i];
  }
  return MakeStrided(std::move(strided), operation.out[0].count());
}

base::Result<std::unique_ptr<Kernel>> MakeConcat(const Operation& operation) {
  std::vector<int64_t> bytes;
  int64_t outer = 1, inner = 1;
  for (const TensorInfo& in : operation.in) {
    Blocks(in, std::get<Concat>(operation.params).axis, outer, inner);
    bytes.push_back(inner * in.dim[std::get<Concat>(operation.params).axis]);
  }
  return MakeFunction(operation.in.size(), [bytes, outer](const Buffers& b) -> const char* {
    uint8_t* out = static_cast<uint8_t*>(b.out[0]);
    for (int64_t o = 0; o < outer; ++o) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) std::memcpy(out, static_cast<const uint8_t*>(b.in[i]) + o * bytes[i], static_cast<size_t>(bytes[i]));
        out += bytes[i];
      }
    }
    return nullptr;
  });
}

base::Result<std::unique_ptr<Kernel>> MakePad(const Operation& operation) {
  const Pad& pad = std::get<Pad>(operation.params);
  const TensorInfo &in = operation.in[0], &out = operation.out[0];
  const std::vector<int64_t> in_bytes = ByteStrides(in), out_bytes = ByteStrides(out);
  Padding padding{pad.mode, base::DTypeSize(in.dtype), {}};
  size_t depth = in.dim.size();
  while (depth > 0 && pad.begin[depth - 1] == 0 && in.dim[depth - 1] == out.dim[depth - 1]) --depth;
  for (size_t i = 0; i < depth; ++i) padding.axes.push_back({in.dim[i], out.dim[i], pad.begin[i], in_bytes[i], out_bytes[i]});
  if (depth == 0) padding.axes.push_back({1, 1, 0, in.count() * padding.element, in.count() * padding.element});
  std::array<uint8_t, 8> value{};
  if (in.dtype == WF_F32) std::memcpy(value.data(), &pad.value, 4);
  const double wide = static_cast<double>(pad.value);
  if (in.dtype == WF_F64) std::memcpy(value.data(), &wide, 8);
  if (pad.value != 0 && in.dtype != WF_F32 && in.dtype != WF_F64) return std::unique_ptr<Kernel>();
  return MakeFunction(operation.in.size(), [padding, value, count = out.count()](const Buffers& b) -> const char* {
    const void* given = b.in.size() > 1 ? b.in[1] : nullptr;
    if (count > 0) {
      padding.Fill(0, static_cast<const uint8_t*>(b.in[0]), given != nullptr ? static_cast<const uint8_t*>(given) : value.data(),
                   static_cast<uint8_t*>(b.out[0]));
    }
    return nullptr;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeGather(const Operation& operation) {
  const size_t axis = std::get<Gather>(operation.params).axis;
  int64_t outer = 1, inner = 1;
  Blocks(operation.in[0], axis, outer, inner);
  const int64_t extent = operation.in[0].dim[axis], n = operation.in[1].count();
  return ForType<int32_t, int64_t>(operation.in[1].dtype, [&]<typename Index>() {
    return MakeFunction(2, [=](const Buffers& b) -> const char* { return RunGather<Index>(b, outer, extent, inner, n); });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeWhere(const Operation& operation) {
  switch (base::DTypeSize(operation.in[1].dtype)) {
    case 1:
      return MakeWhereOf<1>(operation);
    case 2:
      return MakeWhereOf<2>(operation);
    case 4:
      return MakeWhereOf<4>(operation);
    case 8:
      return MakeWhereOf<8>(operation);
    default:
      return std::unique_ptr<Kernel>();
  }
}

base::Result<std::unique_ptr<Kernel>> MakeCopy(const Operation& operation) {
  return MakeFunction(
      1,
      [bytes = static_cast<size_t>(operation.out[0].count() * base::DTypeSize(operation.out[0].dtype))](const Buffers& b) -> const char* {
        if (bytes > 0) std::memcpy(b.out[0], b.in[0], bytes);
        return nullptr;
      });
}

}  // namespace wf::kernels::ref
