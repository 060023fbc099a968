#include "runtime/protocol/coding/compressor.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/protocol/coding/zlib.h"

namespace wf::coding {
namespace {

constexpr int kLevel = 1;        // of both libraries
constexpr int kMemoryLevel = 8;  // zlib's default

}  // namespace

struct Compressor::State {
  ~State() { Free(); }
  void Free() {
    for (int i = 0; i < 2; ++i)
      if (std::exchange(made[i], false)) deflateEnd(&zlib[i]);
    ZSTD_freeCCtx(std::exchange(zstd, nullptr));
  }
  Coding coding = Coding::kIdentity;
  bool made[2] = {};
  z_stream zlib[2]{};  // gzip, deflate
  ZSTD_CCtx* zstd = nullptr;

  z_stream& stream() { return zlib[coding == Coding::kGzip ? 0 : 1]; }
  bool BeginZlib() {
    bool& is_made = made[coding == Coding::kGzip ? 0 : 1];
    if (is_made) return deflateReset(&stream()) == Z_OK;
    const int bits = coding == Coding::kGzip ? kGzipBits : kZlibBits;
    is_made = deflateInit2(&stream(), kLevel, Z_DEFLATED, bits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
    return is_made;
  }
  bool BeginZstd() {
    if (zstd == nullptr) zstd = ZSTD_createCCtx();
    return zstd != nullptr && ZSTD_isError(ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only)) == 0 &&
           ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kLevel)) == 0;
  }
};

Compressor::Compressor() : state_(std::make_unique<State>()) {}
Compressor::~Compressor() = default;
void Compressor::DropKept() noexcept { state_->Free(); }

bool Compressor::Begin(Coding coding) {
  WF_CHECK(coding != Coding::kIdentity);
  state_->coding = coding;
  return coding == Coding::kZstd ? state_->BeginZstd() : state_->BeginZlib();
}

Step Compressor::Next(std::span<const uint8_t>* input, bool last, std::span<uint8_t>* output) {
  return state_->coding == Coding::kZstd ? Zstd(input, last, output) : Deflate(input, last, output);
}

Step Compressor::Deflate(std::span<const uint8_t>* input, bool last, std::span<uint8_t>* output) {
  z_stream& zlib = state_->stream();
  while (true) {
    const uInt in = Portion(input->size()), out = Portion(output->size());
    zlib.next_in = const_cast<Bytef*>(input->data());  // zlib reads only, but does not say so
    zlib.avail_in = in;
    zlib.next_out = output->data();
    zlib.avail_out = out;
    const int code = deflate(&zlib, last && in == input->size() ? Z_FINISH : Z_NO_FLUSH);
    *input = input->subspan(in - zlib.avail_in);
    *output = output->subspan(out - zlib.avail_out);
    if (code == Z_STREAM_END) return Step::kEnd;
    if (code != Z_OK && code != Z_BUF_ERROR) return Step::kBroken;
    if (output->empty()) return Step::kNeedOutput;
    if (input->empty() && !last) return Step::kNeedInput;
  }
}

Step Compressor::Zstd(std::span<const uint8_t>* input, bool last, std::span<uint8_t>* output) {
  ZSTD_inBuffer in{input->data(), input->size(), 0};
  ZSTD_outBuffer out{output->data(), output->size(), 0};
  size_t left = 0;
  do {
    left = ZSTD_compressStream2(state_->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
  } while (ZSTD_isError(left) == 0 && out.pos < out.size && (last ? left != 0 : in.pos < in.size));
  *input = input->subspan(in.pos);
  *output = output->subspan(out.pos);
  if (ZSTD_isError(left) != 0) return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? Step::kNoMemory : Step::kBroken;
  if (last && left == 0) return Step::kEnd;
  return output->empty() ? Step::kNeedOutput : Step::kNeedInput;
}

}  // namespace wf::coding
