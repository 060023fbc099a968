#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace wf::diff {

// Parts of which more than one asks something: a list is made from its first to its last, operands of `+` in the order that pleases the
// compiler, and with another one the same seed would be another program.
inline std::string InOrder(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// Keys of maps and of metadata: programs ask for them, and calls bring some.
inline const std::vector<std::string>& MapKeys() {
  static const std::vector<std::string> keys = {"a", "", "12", "b c"};
  return keys;
}
inline const std::vector<std::string>& MetaKeys() {
  static const std::vector<std::string> keys = {"m0", "m1", "m2"};
  return keys;
}

// Constants that a file has where one of its programs names them, and the files that they are read from.
struct Blob {
  std::string name, path, bytes;
  std::string Declaration() const { return "const " + name + ": bytes = file(\"" + path + "\");\n"; }
};
inline const std::vector<Blob>& Blobs() {
  static const std::vector<Blob> blobs = {
      {"Words", "models/words.bin", "w\xc3\xa9"}, {"Empty", "models/empty.bin", ""}, {"Noise", "models/noise.bin", "\xff\x80\x01"}};
  return blobs;
}

}  // namespace wf::diff
