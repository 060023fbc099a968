// What a workflow is called with.

#include "tests/diff/inputs.h"

#include <span>

#include "tests/diff/words.h"

namespace wf::diff {
namespace {

class InputWriter {
 public:
  InputWriter(Choices& choices, const std::vector<std::string>& dims) : choices_(choices), dims_(dims) {
    static const std::vector<int> kExtents = {2, 1, 3, 0, 4, 7, 16, 17, 8, 33, 5};
    for (size_t i = 0; i < dims_.size(); ++i) extents_.push_back(kExtents[Below(i == 0 ? 11 : 9)]);
  }

  std::string Value(const Type& type) {
    static const std::vector<std::string> kTexts = {"\"\"", "\"a\"", "\"wf {x}\"", "\"\\u00e9\\n\"", "\"\\\"\\\\\"", "\"12\""};
    static const std::vector<std::string> kBlobs = {"", "YQ==", "/w==", "w6k=", "AAECAwQFBgcICQ==", "4oI="};
    switch (type.kind) {
      case Kind::kScalar:
        return Number(type.dtype);
      case Kind::kString:
        return Any(kTexts);
      case Kind::kBytes:
        return "{\"b64\": \"" + Any(kBlobs) + "\"}";
      case Kind::kTensor:
        return TensorValue(type);
      case Kind::kOptional:
        return Below(2) == 0 ? "null" : Value(type.of[0]);
      case Kind::kList: {
        std::string text = "[";
        for (uint32_t i = 0, count = Below(4); i < count; ++i) text += (i == 0 ? "" : ", ") + Value(type.of[0]);
        return text + "]";
      }
      case Kind::kMap: {
        std::string text = "{";
        for (const std::string& key : MapKeys())
          if (Below(2) == 1) text += (text == "{" ? "\"" : ", \"") + key + "\": " + Value(type.of[0]);
        return text + "}";
      }
      case Kind::kRecord:
      case Kind::kTuple: {
        std::string text = "{";
        for (size_t i = 0; i < type.of.size(); ++i) text += (i == 0 ? "\"" : ", \"") + type.names[i] + "\": " + Value(type.of[i]);
        return text + "}";
      }
    }
    return {};
  }

 private:
  uint32_t Below(uint32_t n) { return choices_.Below(n); }
  const std::string& Any(const std::vector<std::string>& of) { return of[Below(static_cast<uint32_t>(of.size()))]; }

  int ExtentOf(const std::string& dim) {
    static const std::vector<int> kOpen = {2, 1, 3, 0, 17};
    if (dim == "_") return kOpen[Below(static_cast<uint32_t>(kOpen.size()))];
    for (size_t i = 0; i < dims_.size(); ++i)
      if (dims_[i] == dim) return extents_[i];
    return std::stoi(dim);
  }

  std::string Number(DType dtype) {
    if (dtype == DType::kBool) return Below(2) == 0 ? "false" : "true";
    return ir::IsFloat(dtype) ? Real(dtype) : Whole(dtype);
  }

  std::string Real(DType dtype) {
    static const std::vector<std::string> kAwkward = {"0",     "-0.0",  "0.1",   "-1e38",  "1e38",  "1e-40",  "65504",
                                                      "-0.75", "1e-45", "255.5", "1e-310", "1e300", "-6e-08", "3.4028234663852886e38"};
    if (choices_.OneIn(4)) {
      const std::string& text = Any(kAwkward);
      if (ir::IsStorageOnly(dtype) && (text.find("38") != std::string::npos || text.find("300") != std::string::npos)) return "2048";
      return dtype != DType::kF64 && text == "1e300" ? "1e30" : text;
    }
    const uint32_t whole = Below(41), part = Below(1000);
    return (whole % 2 == 0 ? "" : "-") + std::to_string(whole / 2) + "." + std::to_string(part);
  }

  std::string Whole(DType dtype) {
    const bool is_signed = ir::IsSigned(dtype);
    const auto bits = static_cast<int>(ir::SizeOf(dtype) * 8);
    if (choices_.OneIn(6)) {
      const uint64_t most = is_signed ? (uint64_t{1} << (bits - 1)) - 1 : (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
      if (Below(2) == 0) return std::to_string(most);
      return is_signed ? "-" + std::to_string(most + 1) : "0";
    }
    const uint32_t small = Below(14);
    return is_signed && small > 9 ? "-" + std::to_string(small - 9) : std::to_string(small);
  }

  std::string TensorValue(const Type& type) {
    std::vector<int> extents;
    for (const std::string& dim : type.dims) extents.push_back(ExtentOf(dim));
    return Elements(type.dtype, extents);
  }
  std::string Elements(DType dtype, std::span<const int> extents) {
    if (extents.empty()) return Number(dtype);
    std::string text = "[";
    for (int i = 0; i < extents[0]; ++i) text += (i == 0 ? "" : ",") + Elements(dtype, extents.subspan(1));
    return text + "]";
  }

  Choices& choices_;
  const std::vector<std::string>& dims_;
  std::vector<int> extents_;
};

}  // namespace

Input MakeInput(Choices& choices, const std::vector<Name>& params, size_t n_defaults, const std::vector<std::string>& dims) {
  static const std::vector<std::string> kTexts = {"1", "true", "2.5", "-3", "x", "0", "none", "1e3"};
  InputWriter writer(choices, dims);
  Input made;
  made.json = "{";
  for (size_t i = 0; i < params.size(); ++i) {
    if (i + n_defaults >= params.size() && choices.OneIn(3)) continue;
    made.json += (made.json == "{" ? "\"" : ", \"") + params[i].text + "\": " + writer.Value(params[i].type);
  }
  made.json += "}";
  for (const std::string& key : MetaKeys())
    if (choices.Below(2) == 1) made.metadata.emplace_back(key, kTexts[choices.Below(static_cast<uint32_t>(kTexts.size()))]);
  return made;
}

}  // namespace wf::diff
