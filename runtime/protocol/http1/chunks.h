#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wf::http1 {

// Takes the framing off a chunked body. Trailers are checked as the fields of a head are, and dropped.
// Thread: loop-confined.   Bounds: kMaxLineBytes of a size line with its extensions, kMaxTrailerBytes, kMaxChunks.
class Chunks {
 public:
  static constexpr uint32_t kMaxLineBytes = 256, kMaxTrailerBytes = 8192, kMaxChunks = 65'536;
  enum class Step : uint8_t { kNeedMore, kChunk, kData, kEnd, kError };

  // Consumes from `input`; kChunk: left() bytes of data are announced; kData: `data` is a view of what was consumed.
  Step Next(std::span<const uint8_t>* input, std::span<const uint8_t>* data);
  uint64_t left() const { return left_; }              // of the current chunk
  std::string_view reason() const { return reason_; }  // of kError
  int status() const { return status_; }               // likewise: 400, or that of a limit

 private:
  enum class State : uint8_t { kSize, kExtension, kSizeLf, kData, kDataCr, kDataLf, kTrailer, kTrailerLf, kEnd };
  bool TakeFraming(uint8_t byte);
  bool TakeSize(uint8_t byte);
  bool TakeExtension(uint8_t byte);
  bool TakeTrailer(uint8_t byte);
  bool Fail(std::string_view reason, int status = 400);

  State state_ = State::kSize;
  uint32_t digits_ = 0, line_bytes_ = 0, trailer_line_ = 0, chunks_ = 0;
  bool named_ = false;  // the trailer line has come to its colon
  uint64_t left_ = 0;
  std::string_view reason_;
  int status_ = 0;
};

}  // namespace wf::http1
