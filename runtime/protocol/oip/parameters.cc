#include "runtime/protocol/oip/parameters.h"

#include "runtime/protocol/codes.h"

namespace wf::oip {
namespace {

wf_code NoSharedMemory(wf_json* in) {
  base::TextBuilder message;
  message << "tensors in shared memory (`shared_memory_region`) are not built; send and take them in the body";
  return json::Record(in->ctx, code::kNotImplemented, message);
}

}  // namespace

wf_code ReadInputParameter(wf_json* in, uint32_t index, GivenInput* input) {
  wf_bytes content_type{};
  if (index != 0) return NoSharedMemory(in);
  if (wf_json_string(in, &content_type) != 0) return WF_FAILED;
  input->base64 = json::View(content_type) == "base64";
  return 0;
}

wf_code ReadOutputParameter(wf_json* in, uint32_t index, AskedOutput* asked) {
  uint8_t binary = 0;
  switch (index) {
    case 0:
      return wf_json_scalar(in, WF_U32, &asked->classes);
    case 1:
      if (wf_json_scalar(in, WF_BOOL, &binary) != 0) return WF_FAILED;
      asked->binary = binary != 0 ? AskedOutput::Binary::kYes : AskedOutput::Binary::kNo;
      return 0;
    default:
      return NoSharedMemory(in);
  }
}

}  // namespace wf::oip
