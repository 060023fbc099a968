#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/model/walk.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {

// From a file to its results, without a plan: as constants of a model are computed.

template <typename T>
Elements ElementsOf(uint8_t dtype, std::vector<int64_t> dim, const std::vector<T>& values) {
  const auto memory = kernels::Allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  if (!values.empty()) std::memcpy(memory.get(), values.data(), values.size() * sizeof(T));
  return {{dtype, std::move(dim), nullptr, nullptr}, memory};
}
inline Elements FloatsIn(std::vector<int64_t> dim, const std::vector<float>& values) { return ElementsOf(WF_F32, std::move(dim), values); }

template <typename T>
std::vector<T> ValuesOf(const Elements& elements) {
  const auto* data = reinterpret_cast<const T*>(elements.data.get());
  return {data, data + elements.info.count()};
}

// What `use` makes of the outputs of the built model.
template <typename Use>
auto RunFile(testing::Builder& builder, const std::vector<Elements>& inputs, Use&& use) {
  kernels::UseOneThread();
  auto read = builder.Read();
  WF_CHECK(read.ok(), read.status().message());
  const auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
  WF_CHECK(made.ok(), made.status().message());
  Budget budget;
  Walk walk(*made, PartLimits{int64_t{1} << 20, &budget});
  const base::Status ran = walk.Run(inputs);
  WF_CHECK(ran.ok(), ran.message());
  return use(walk.outputs());
}

// All outputs, which are f32.
inline std::vector<std::vector<float>> Results(testing::Builder& builder, const std::vector<Elements>& inputs) {
  return RunFile(builder, inputs, [](const auto& outputs) {
    std::vector<std::vector<float>> results;
    for (const Elements& each : outputs) results.push_back(ValuesOf<float>(each));
    return results;
  });
}

}  // namespace wf::model
