#include "runtime/kernels/kernel.h"

namespace wf::kernels {
namespace {

class FunctionCall final : public Call {
 public:
  FunctionCall(const Body& body, Buffers buffers) : body_(body), buffers_(std::move(buffers)) {}
  const char* Run() override { return body_(buffers_); }
  void SetIn(size_t i, const void* data) override { buffers_.in[i] = data; }

 private:
  const Body& body_;  // of the kernel, which outlives its calls
  Buffers buffers_;
};

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(Body body) : body_(std::move(body)) {}
  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    return std::unique_ptr<Call>(new FunctionCall(body_, buffers));
  }

 private:
  const Body body_;
};

}  // namespace

bool SameFormat(const FormatRef& a, const FormatRef& b) { return a == b || (a != nullptr && b != nullptr && a->Same(*b)); }

int64_t TensorInfo::count() const {
  int64_t count = 1;
  for (const int64_t extent : dim) count *= extent;
  return count;
}

int64_t TensorInfo::size_bytes() const { return format != nullptr ? format->size_bytes() : count() * base::DTypeSize(dtype); }

std::unique_ptr<Kernel> MakeFunction(size_t inputs, Body body, bool in_place) {
  auto kernel = std::make_unique<FunctionKernel>(std::move(body));
  kernel->in_format.resize(inputs);
  kernel->packed_in.resize(inputs, false);
  kernel->in_place = in_place;
  return kernel;
}

}  // namespace wf::kernels
