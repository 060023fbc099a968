#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/dtype.h"
#include "runtime/base/check.h"
#include "tests/bench/kernels/peers.h"
#include "tests/bench/loop/recorder.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kBatchSeconds = 0.002;

const wf_workflow& Find(const wf_plan& plan, std::string_view name) {
  for (uint32_t i = 0; i < plan.n_workflows; ++i) {
    const wf_bytes& own = plan.workflows[i].name;
    if (std::string_view(reinterpret_cast<const char*>(own.ptr), own.len).ends_with(name)) return plan.workflows[i];
  }
  WF_CHECK(false, "no such workflow", std::string(name));
  return plan.workflows[0];
}

wf_tensor Dense(uint8_t dtype, const std::vector<int64_t>& dims) {
  wf_tensor tensor{};
  tensor.dtype = dtype;
  tensor.rank = static_cast<uint8_t>(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) tensor.dim[axis] = dims[axis], tensor.stride[axis] = stride;
  const uint64_t bytes = wf::abi::DenseBytes(dtype, tensor.rank, tensor.dim);
  tensor.data = std::aligned_alloc(WF_ALIGN, (bytes + WF_ALIGN) / WF_ALIGN * WF_ALIGN);  // until the program ends
  return tensor;
}

// For each tensor: its dtype, its rank and its extents, i64 each, then its elements.
std::vector<wf_tensor> ReadTensors(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  const auto number = [&] {
    int64_t value = 0;
    stream.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  };
  std::vector<wf_tensor> tensors;
  for (int64_t dtype = number(); stream; dtype = number()) {
    std::vector<int64_t> dims(static_cast<size_t>(number()));
    for (int64_t& dim : dims) dim = number();
    tensors.push_back(Dense(static_cast<uint8_t>(dtype), dims));
    const wf_tensor& tensor = tensors.back();
    stream.read(static_cast<char*>(tensor.data), static_cast<std::streamsize>(wf::abi::DenseBytes(tensor.dtype, tensor.rank, tensor.dim)));
  }
  return tensors;
}

void WriteElements(const std::string& path, const std::vector<wf_tensor>& tensors) {
  std::ofstream stream(path, std::ios::binary);
  for (const wf_tensor& tensor : tensors) {
    stream.write(static_cast<const char*>(tensor.data),
                 static_cast<std::streamsize>(wf::abi::DenseBytes(tensor.dtype, tensor.rank, tensor.dim)));
  }
}

// Of the processor, so that what else runs on the machine does not count.
double SecondsSpent() {
  timespec spent;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

// Nanoseconds a call: the median of batches of about 2 ms.
double Measure(const std::function<void()>& call, double seconds) {
  const auto time = [&](int64_t calls) {
    const double started = SecondsSpent();
    for (int64_t i = 0; i < calls; ++i) call();
    return SecondsSpent() - started;
  };
  int64_t calls = 1;
  while (calls < 1 << 20 && time(calls) < kBatchSeconds) calls *= 2;
  std::vector<double> batches;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    batches.push_back(time(calls) / static_cast<double>(calls));
  } while (Clock::now() < until);
  std::nth_element(batches.begin(), batches.begin() + static_cast<ptrdiff_t>(batches.size() / 2), batches.end());
  return batches[batches.size() / 2] * 1e9;
}

}  // namespace

// kernels WORKFLOW INPUTS OUTPUTS: writes the elements of both results to OUTPUTS.wf and OUTPUTS.cpp, then answers each line `wf SECONDS`
// or `cpp SECONDS` with nanoseconds per call.
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s WORKFLOW INPUTS OUTPUTS\n", argv[0]);
    return 2;
  }
  const std::vector<wf_tensor> inputs = ReadTensors(argv[2]);
  const wf_workflow& workflow = Find(wf_plan_main, argv[1]);
  wf::bench::Recorder recorder(wf_plan_main, {});
  const std::string failed = recorder.Record(workflow, inputs);
  const wf::bench::Peer peer = wf::bench::PeerOf(argv[1]);
  if (!failed.empty() || peer == nullptr) {
    std::fprintf(stderr, "%s\n", peer == nullptr ? "no C++ of this name" : failed.c_str());
    return 1;
  }
  std::vector<wf_tensor> ours, theirs;
  for (uint16_t i = 0; i < workflow.n_out; ++i) {
    ours.push_back(recorder.Result(workflow, i));
    theirs.push_back(Dense(ours.back().dtype, {ours.back().dim, ours.back().dim + ours.back().rank}));
  }
  peer(inputs, theirs);
  WriteElements(std::string(argv[3]) + ".wf", ours);
  WriteElements(std::string(argv[3]) + ".cpp", theirs);
  std::cout << "ready" << std::endl;
  std::string who;
  for (double seconds = 0; std::cin >> who >> seconds;) {
    const std::function<void()> call = who == "wf" ? std::function<void()>([&] { recorder.Repeat(); }) : [&] { peer(inputs, theirs); };
    std::cout << Measure(call, seconds) << std::endl;
  }
  return 0;
}
