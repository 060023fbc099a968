// Where the formats keep EXIF, and the one thing that is read of it. Nothing here fails: what cannot be read says nothing.

#include "runtime/nodes/picture.h"
#include "runtime/nodes/picture_file.h"

namespace wf::nodes {
namespace {

constexpr int kUpright = 1;
constexpr std::string_view kExif("Exif\0\0", 6);
constexpr uint32_t kOrientationTag = 0x0112, kShort = 3;

int AfterMark(std::string_view exif) { return Orientation(exif.substr(exif.starts_with(kExif) ? kExif.size() : 0)); }

}  // namespace

int Orientation(std::string_view tiff) {
  const bool is_big_endian = tiff.starts_with("MM");
  const Numbers numbers(tiff, is_big_endian);
  if ((!is_big_endian && !tiff.starts_with("II")) || numbers.At(2, 2) != 42) return kUpright;
  const uint64_t directory = numbers.At(4, 4);
  const uint32_t n_entries = numbers.At(directory, 2);
  for (uint32_t i = 0; i < n_entries; ++i) {
    const uint64_t entry = directory + 2 + 12ULL * i;
    if (numbers.At(entry, 2) != kOrientationTag || numbers.At(entry + 2, 2) != kShort) continue;
    const uint32_t value = numbers.At(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : kUpright;
  }
  return kUpright;
}

int OrientationOfJpeg(const wf_bytes& file) {
  JpegSegments segments(file);
  while (segments.Next()) {
    if (segments.marker() == 0xe1 && segments.bytes().starts_with(kExif)) return AfterMark(segments.bytes());
  }
  return kUpright;
}

int OrientationOfPng(const wf_bytes& file) {
  const std::string_view bytes = ViewOf(file);
  const Numbers numbers(bytes, true);
  for (uint64_t at = 8; at + 8 <= bytes.size(); at += 12ULL + numbers.At(at, 4)) {
    if (bytes.substr(at + 4, 4) == "eXIf") return AfterMark(bytes.substr(at + 8, numbers.At(at, 4)));
  }
  return kUpright;
}

int OrientationOfWebp(const wf_bytes& file) {
  const std::string_view bytes = ViewOf(file);
  const Numbers numbers(bytes, false);
  for (uint64_t at = 12; at + 8 <= bytes.size();) {
    const uint64_t length = numbers.At(at + 4, 4);
    if (bytes.substr(at, 4) == "EXIF") return AfterMark(bytes.substr(at + 8, length));
    at += 8 + length + length % 2;
  }
  return kUpright;
}

}  // namespace wf::nodes
