#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/base/dtype.h"
#include "tests/unit/support/source_path.h"

// Models with inputs and the outputs that ONNX Runtime computed; the layout is described in testdata/make_models.py.
namespace wf::testing {

inline std::string DataPath(const std::string& name) { return SourcePath("tests/unit/runtime/onnx/testdata/") + name; }

inline std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  WF_CHECK(file.good(), path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct CaseTensor {
  uint8_t dtype = 0;
  std::vector<int64_t> dim;
  std::vector<uint8_t> bytes;
};

struct Case {
  std::string name;
  std::vector<uint8_t> model;
  std::vector<CaseTensor> in, out;
};

class CaseReader {
 public:
  explicit CaseReader(const std::string& name) : bytes_(ReadFile(DataPath(name))) {}

  std::vector<Case> All() {
    std::vector<Case> cases;
    while (at_ < bytes_.size()) {
      Case each;
      const std::vector<uint8_t> text = Block();
      each.name.assign(text.begin(), text.end());
      each.model = Block();
      each.in = Tensors();
      each.out = Tensors();
      cases.push_back(std::move(each));
    }
    return cases;
  }

 private:
  template <typename T>
  T Take() {
    T value;
    WF_CHECK(at_ + sizeof(T) <= bytes_.size());
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::vector<uint8_t> Bytes(size_t count) {
    WF_CHECK(at_ + count <= bytes_.size());
    const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(at_);
    at_ += count;
    return {begin, begin + static_cast<ptrdiff_t>(count)};
  }
  std::vector<uint8_t> Block() { return Bytes(Take<uint32_t>()); }
  std::vector<CaseTensor> Tensors() {
    std::vector<CaseTensor> tensors(Take<uint32_t>());
    for (CaseTensor& tensor : tensors) {
      tensor.dtype = Take<uint8_t>();
      tensor.dim.resize(Take<uint8_t>());
      int64_t count = base::DTypeSize(tensor.dtype);
      for (int64_t& extent : tensor.dim) count *= extent = Take<int64_t>();
      tensor.bytes = Bytes(static_cast<size_t>(count));
    }
    return tensors;
  }

  const std::vector<uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace wf::testing
