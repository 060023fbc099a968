#include "runtime/protocol/coding/expander.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/protocol/coding/zlib.h"

namespace wf::coding {
namespace {

constexpr int kMaxWindowLog = 23;  // of zstd over HTTP: RFC 9659

}  // namespace

struct Expander::State {
  ~State() { Free(); }
  void Free() {
    if (std::exchange(made, false)) inflateEnd(&zlib);
    ZSTD_freeDCtx(std::exchange(zstd, nullptr));
  }
  Coding coding = Coding::kIdentity;
  bool inside = false;  // a part: it has begun and is not whole
  bool made = false;    // zlib
  z_stream zlib{};
  ZSTD_DCtx* zstd = nullptr;

  bool BeginZlib() {
    const int bits = coding == Coding::kGzip ? kGzipBits : kZlibBits;
    const int code = made ? inflateReset2(&zlib, bits) : inflateInit2(&zlib, bits);
    made = made || code == Z_OK;
    return code == Z_OK;
  }
  bool BeginZstd() {
    if (zstd == nullptr) zstd = ZSTD_createDCtx();
    return zstd != nullptr && ZSTD_isError(ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only)) == 0 &&
           ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, kMaxWindowLog)) == 0;
  }
};

Expander::Expander() : state_(std::make_unique<State>()) {}
Expander::~Expander() = default;
void Expander::DropKept() noexcept { state_->Free(); }

bool Expander::Begin(Coding coding) {
  state_->coding = coding;
  state_->inside = false;
  switch (coding) {
    case Coding::kIdentity:
      return true;
    case Coding::kGzip:
    case Coding::kDeflate:
      return state_->BeginZlib();
    case Coding::kZstd:
      return state_->BeginZstd();
  }
  return false;
}

Step Expander::Next(std::span<const uint8_t>* input, std::span<uint8_t>* output) {
  switch (state_->coding) {
    case Coding::kIdentity: {
      const size_t count = std::min(input->size(), output->size());
      if (count != 0) std::memcpy(output->data(), input->data(), count);
      *input = input->subspan(count);
      *output = output->subspan(count);
      return input->empty() ? Step::kEnd : Step::kNeedOutput;
    }
    case Coding::kGzip:
    case Coding::kDeflate:
      return Inflate(input, output);
    case Coding::kZstd:
      return Unzstd(input, output);
  }
  return Step::kBroken;
}

Step Expander::Inflate(std::span<const uint8_t>* input, std::span<uint8_t>* output) {
  z_stream& zlib = state_->zlib;
  while (true) {
    const uInt in = Portion(input->size()), out = Portion(output->size());
    zlib.next_in = const_cast<Bytef*>(input->data());  // zlib reads only, but does not say so
    zlib.avail_in = in;
    zlib.next_out = output->data();
    zlib.avail_out = out;
    const int code = inflate(&zlib, Z_NO_FLUSH);
    *input = input->subspan(in - zlib.avail_in);
    *output = output->subspan(out - zlib.avail_out);
    if (in != zlib.avail_in) state_->inside = true;
    if (code == Z_MEM_ERROR) return Step::kNoMemory;
    if (code == Z_STREAM_END) {
      state_->inside = false;
      if (input->empty()) return Step::kEnd;
      if (state_->coding != Coding::kGzip || !state_->BeginZlib()) return Step::kBroken;
      continue;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) return Step::kBroken;
    if (output->empty()) return Step::kNeedOutput;
    if (input->empty()) return Step::kNeedInput;
  }
}

Step Expander::Unzstd(std::span<const uint8_t>* input, std::span<uint8_t>* output) {
  while (true) {
    ZSTD_inBuffer in{input->data(), input->size(), 0};
    ZSTD_outBuffer out{output->data(), output->size(), 0};
    const size_t left = ZSTD_decompressStream(state_->zstd, &out, &in);
    *input = input->subspan(in.pos);
    *output = output->subspan(out.pos);
    if (ZSTD_isError(left) != 0) return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? Step::kNoMemory : Step::kBroken;
    if (left == 0 && input->empty()) return Step::kEnd;
    if (output->empty()) return Step::kNeedOutput;
    if (input->empty()) return Step::kNeedInput;
  }
}

}  // namespace wf::coding
