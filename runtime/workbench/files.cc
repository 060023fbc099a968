#include "runtime/workbench/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "runtime/base/replace_file.h"
#include "runtime/base/system_error.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/source.h"
#include "runtime/onnx/tensor_file.h"
#include "runtime/workbench/json.h"
#include "runtime/workbench/npy.h"

namespace wf::workbench {
namespace {

using base::Result;
using base::Status;

constexpr uint64_t kMostFileBytes = static_cast<uint64_t>(onnx::kMostTensorBytes) + (uint64_t{1} << 20);

// The inputs while they are found.   Borrows: the signature.
class InputReader {
 public:
  explicit InputReader(const onnx::Signature& signature) : ports_(signature.inputs), found_(ports_.size()) {}

  Status Add(const std::string& given) {
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (given.starts_with(ports_[i].name + "=")) return AddFile(i, given.substr(ports_[i].name.size() + 1));
    }
    const size_t equals = given.find('=');
    if (std::error_code unknown; equals != std::string::npos && !std::filesystem::exists(given, unknown))
      return Status(base::kInvalidArgument, fmt::format("`{}`: no input is called `{}`", given, given.substr(0, equals)));
    if (given.ends_with(".json")) return AddMembers(given);
    return ports_.empty() ? Status(base::kInvalidArgument, fmt::format("`{}`: the model has no input", given)) : AddFile(kNext, given);
  }

  Result<std::vector<Tensor>> Finish() {
    WF_RETURN_IF_ERROR(PlaceRest());
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (!found_[i]) return Status(base::kInvalidArgument, fmt::format("no file is given for the input `{}`", ports_[i].ToString()));
      tensors.push_back(*std::move(found_[i]));
    }
    return tensors;
  }

 private:
  static constexpr size_t kNext = SIZE_MAX;

  Status AddFile(size_t i, const std::string& path) {
    if (path.ends_with(".json") && i != kNext) return AddJson(i, path);
    auto tensor = ReadTensor(path);
    if (!tensor.ok()) return tensor.status();
    if (i != kNext) return Place(i, path, *std::move(tensor));
    rest_.emplace_back(path, *std::move(tensor));
    return Status::Ok();
  }

  // Those without a name, once it is clear which inputs have one.
  Status PlaceRest() {
    size_t i = 0;
    for (auto& [path, tensor] : rest_) {
      while (i < ports_.size() && found_[i]) ++i;
      if (i == ports_.size()) return Status(base::kInvalidArgument, fmt::format("`{}`: every input has a file already", path));
      WF_RETURN_IF_ERROR(Place(i, path, std::move(tensor)));
    }
    return Status::Ok();
  }

  Status Place(size_t i, const std::string& path, Tensor tensor) {
    const auto fail = [&](const std::string& why) { return Status(base::kInvalidArgument, fmt::format("`{}`: {}", path, why)); };
    if (found_[i]) return fail(fmt::format("the input `{}` has a file already", ports_[i].name));
    if (tensor.dtype != ports_[i].dtype)
      return fail(fmt::format("it holds {}, and the input is `{}`", tensor.ToString(), ports_[i].ToString()));
    found_[i] = std::move(tensor);
    return Status::Ok();
  }

  static Result<Tensor> ReadTensor(const std::string& path) {
    if (path.ends_with(".pb")) {
      const auto value = onnx::ReadValueFile(path, false, false);
      return value.ok() ? TensorOf(value->tensors[0], value->texts) : value.status();
    }
    if (!path.ends_with(".npy"))
      return Status(base::kInvalidArgument, fmt::format("`{}`: inputs are read from files called .npy, .pb or .json", path));
    const auto bytes = ReadFile(path);
    return bytes.ok() ? ReadNpy(*bytes, path) : bytes.status();
  }

  Status AddJson(size_t i, const std::string& path) {
    const auto bytes = ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    const auto members = MembersOf({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (!members.ok()) return Status(members.status().code(), fmt::format("`{}`: {}", path, members.status().message()));
    const auto own = members->find(members->contains("") ? "" : ports_[i].name);
    if (own != members->end()) return PlaceJson(i, path, own->second);
    return Status(base::kInvalidArgument, fmt::format("`{}`: it has no member `{}`", path, ports_[i].name));
  }

  Status PlaceJson(size_t i, const std::string& path, std::string_view value) {
    auto tensor = TensorOfJson(value, ports_[i]);
    if (tensor.ok()) return Place(i, path, *std::move(tensor));
    return Status(tensor.status().code(), fmt::format("`{}`: input `{}`: {}", path, ports_[i].name, tensor.status().message()));
  }

  Status AddMembers(const std::string& path) {
    const auto bytes = ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    const auto members = MembersOf({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (!members.ok()) return Status(members.status().code(), fmt::format("`{}`: {}", path, members.status().message()));
    for (const auto& [name, value] : *members) {
      const bool is_only = name.empty() && ports_.size() == 1;
      const auto port = std::find_if(ports_.begin(), ports_.end(), [&](const onnx::Port& each) { return is_only || each.name == name; });
      if (port == ports_.end())
        return Status(base::kInvalidArgument, name.empty()
                                                  ? fmt::format("`{}`: it is no object, and the model has {} inputs", path, ports_.size())
                                                  : fmt::format("`{}`: no input is called `{}`", path, name));
      WF_RETURN_IF_ERROR(PlaceJson(static_cast<size_t>(port - ports_.begin()), path, value));
    }
    return Status::Ok();
  }

  const std::vector<onnx::Port>& ports_;
  std::vector<std::optional<Tensor>> found_;          // by input
  std::vector<std::pair<std::string, Tensor>> rest_;  // without a name
};

// A name of a model's output as a file's. Models are of strangers: no folder, nothing hidden.
std::string FileName(const std::string& name) {
  std::string file = name.substr(0, 100);
  for (char& c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  if (file.empty() || file[0] == '.') file = "_" + file;
  return file;
}

}  // namespace

Result<std::vector<uint8_t>> ReadFile(const std::string& path) {
  const auto source = onnx::OpenFile(path);
  if (!source.ok()) return source.status();
  if ((*source)->size() > kMostFileBytes)
    return Status(base::kOutOfRange, fmt::format("`{}`: {} bytes, {} are the most", path, (*source)->size(), kMostFileBytes));
  std::vector<uint8_t> bytes((*source)->size());
  WF_RETURN_IF_ERROR((*source)->Read(0, bytes));
  return bytes;
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  const Status done = base::ReplaceFile(path, bytes);
  return done.ok() ? done : Status(base::kUnavailable, fmt::format("cannot write `{}`: {}", path, done.message()));
}

Result<std::vector<Tensor>> ReadInputs(std::span<const std::string> given, const onnx::Signature& signature) {
  InputReader reader(signature);
  for (const std::string& each : given) WF_RETURN_IF_ERROR(reader.Add(each));
  return reader.Finish();
}

Status WriteOutputs(const std::string& folder, const onnx::Signature& signature, std::span<const Tensor> outputs) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error == std::errc::not_a_directory || error == std::errc::file_exists)
    return Status(base::kUnavailable, fmt::format("`{}` is no folder; each output is a file in one", folder));
  if (error)
    return Status(base::kUnavailable,
                  fmt::format("cannot make the folder `{}`: {}", folder, base::StatusOfCreation(error.value(), folder).message()));
  std::set<std::string> taken;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string name = FileName(signature.outputs[i].name);
    while (!taken.insert(name).second) name += '_';
    const auto npy = WriteNpy(outputs[i]);
    if (!npy.ok()) return Status(npy.status().code(), fmt::format("output `{}`: {}", signature.outputs[i].name, npy.status().message()));
    WF_RETURN_IF_ERROR(WriteFile(fmt::format("{}/{}.npy", folder, name), {reinterpret_cast<const char*>(npy->data()), npy->size()}));
  }
  return Status::Ok();
}

}  // namespace wf::workbench
