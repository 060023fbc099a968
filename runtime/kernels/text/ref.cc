#include "runtime/kernels/text/text.h"

#include <re2/re2.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <type_traits>

#include "runtime/base/float_text.h"
#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/texts.h"

namespace wf::kernels {

namespace {

constexpr utf8proc_int32_t kSharpS = 0xDF;  // whose capital no file means

}  // namespace

std::string InCase(std::string_view text, bool upper) {
  std::string out;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = -1;
    const auto size = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    if (size <= 0) {
      out += text[at++];
      continue;
    }
    utf8proc_uint8_t written[4];
    const auto other = !upper ? utf8proc_tolower(point) : point == kSharpS ? point : utf8proc_toupper(point);
    const auto length = utf8proc_encode_char(other, written);
    out.append(reinterpret_cast<const char*>(written), static_cast<size_t>(length));
    at += static_cast<size_t>(size);
  }
  return out;
}

namespace ref {
namespace {

constexpr const char* kNoRoom = "its strings take more memory than a run may have";
constexpr int64_t kMostPatternBytes = int64_t{1} << 20;

// Calls f(string) for each of `count` and puts the number of the string that it gives.
template <typename F>
const char* ForEachText(const Buffers& b, int64_t count, F f) {
  const auto* x = static_cast<const int64_t*>(b.in[0]);
  auto* y = static_cast<int64_t*>(b.out[0]);
  for (int64_t i = 0; i < count; ++i) {
    y[i] = b.texts->Number(f(b.texts->At(x[i])));
    if (y[i] < 0) return kNoRoom;
  }
  return nullptr;
}

const char* Join(const Broadcast<2>& walk, const Buffers& b) {
  const auto *x = static_cast<const int64_t*>(b.in[0]), *z = static_cast<const int64_t*>(b.in[1]);
  auto* y = static_cast<int64_t*>(b.out[0]);
  bool has_room = true;
  walk.ForEach([&](int64_t out, const std::array<int64_t, 2>& at, const std::array<int64_t, 2>& stride, int64_t count) {
    for (int64_t i = 0; i < count && has_room; ++i) {
      std::string joined(b.texts->At(x[at[0] + i * stride[0]]));
      joined += b.texts->At(z[at[1] + i * stride[1]]);
      y[out + i] = b.texts->Number(joined);
      has_room = y[out + i] >= 0;
    }
  });
  return has_room ? nullptr : kNoRoom;
}

template <typename T>
std::string_view TextOf(T x, std::array<char, base::kMostFloatText>& room) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "True" : "False";
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "INF" : "-INF";
    return {room.data(), base::PutFloat(room.data(), x)};
  } else {
    return {room.data(), std::to_chars(room.data(), room.data() + room.size(), x).ptr};
  }
}

template <typename T>
bool NumberOf(std::string_view text, T& x) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if constexpr (std::is_same_v<T, bool>) {
    x = text == "True" || text == "true" || text == "1";
    return x || text == "False" || text == "false" || text == "0";
  } else {  // from_chars reads nan and inf in any letter case, too
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    return error == std::errc() && end == text.data() + text.size();
  }
}

template <typename T>
std::unique_ptr<Kernel> FromNumbers(int64_t count) {
  return MakeFunction(1, [count](const Buffers& b) -> const char* {
    const auto* x = static_cast<const T*>(b.in[0]);
    auto* y = static_cast<int64_t*>(b.out[0]);
    std::array<char, base::kMostFloatText> room;
    for (int64_t i = 0; i < count; ++i) {
      y[i] = b.texts->Number(TextOf(x[i], room));
      if (y[i] < 0) return kNoRoom;
    }
    return nullptr;
  });
}

template <typename T>
std::unique_ptr<Kernel> ToNumbers(int64_t count) {
  return MakeFunction(1, [count](const Buffers& b) -> const char* {
    const auto* x = static_cast<const int64_t*>(b.in[0]);
    for (int64_t i = 0; i < count; ++i) {
      if (!NumberOf(b.texts->At(x[i]), static_cast<T*>(b.out[0])[i])) return "a string that is no number of the type";
    }
    return nullptr;
  });
}

base::Result<std::unique_ptr<Kernel>> Matches(const std::string& pattern, int64_t count) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostPatternBytes);
  const auto compiled = std::make_shared<const re2::RE2>(pattern, options);
  if (!compiled->ok()) return base::Status(base::kUnimplemented, "a pattern that is none of RE2: " + compiled->error());
  return MakeFunction(1, [compiled, count](const Buffers& b) -> const char* {
    const auto* x = static_cast<const int64_t*>(b.in[0]);
    for (int64_t i = 0; i < count; ++i) {
      const std::string_view text = b.texts->At(x[i]);
      static_cast<bool*>(b.out[0])[i] =
          re2::RE2::FullMatch(re2::StringPiece(text.data() == nullptr ? "" : text.data(), text.size()), *compiled);
    }
    return nullptr;
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeText(const Operation& operation) {
  const TextOp& text = std::get<TextOp>(operation.params);
  const int64_t count = operation.out[0].count();
  switch (text.what) {
    case TextOp::What::kLower:
    case TextOp::What::kUpper: {
      const bool upper = text.what == TextOp::What::kUpper;
      return MakeFunction(1, [count, upper](const Buffers& b) {
        return ForEachText(b, count, [upper](std::string_view each) { return InCase(each, upper); });
      });
    }
    case TextOp::What::kJoin: {
      const Broadcast<2> walk(operation.out[0].dim,
                              {std::span<const int64_t>(operation.in[0].dim), std::span<const int64_t>(operation.in[1].dim)});
      return MakeFunction(2, [walk](const Buffers& b) { return Join(walk, b); });
    }
    case TextOp::What::kMatch:
      return Matches(text.pattern, count);
    case TextOp::What::kFromNumber:
      return ForType<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
          operation.in[0].dtype, [&]<typename T>() { return FromNumbers<T>(count); });
    case TextOp::What::kToNumber:
      return ForType<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
          operation.out[0].dtype, [&]<typename T>() { return ToNumbers<T>(count); });
  }
  return std::unique_ptr<Kernel>();
}

}  // namespace ref
}  // namespace wf::kernels
