#pragma once

#include <string>
#include <string_view>

#include "runtime/protocol/json/reader.h"
#include "tests/unit/runtime/protocol/fake_job.h"

namespace wf::json {

struct Read {
  std::string value;  // or what the failure says
  bool ok;
};

// A body that is one string or one value of bytes; `take`: wf_json_string or wf_json_bytes.
template <typename Take>
Read ReadText(std::string_view text, Take take) {
  fake::Job job;
  const fake::Body body(text);
  wf_json in;
  wf_bytes out{};
  const bool ok = wf_json_open(&in, job.ctx(), body.view()) == 0 && take(&in, &out) == 0 && wf_json_close(&in) == 0;
  return {ok ? std::string(fake::View(out)) : job.message, ok};
}

}  // namespace wf::json
