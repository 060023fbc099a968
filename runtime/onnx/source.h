#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// A regular file, read with pread: a file that is cut short meanwhile is an error, not a SIGBUS.
// Errors: those of the system; kInvalidArgument for what is no regular file.
base::Result<std::shared_ptr<const ByteSource>> OpenFile(const std::string& path);

// A file of external data. `location` is what the model says: it must stay inside the model's folder, by plain names alone: no absolute
// path, no `..`, no symbolic link on the way, no second hard link to the file (through which it could be any file of the disk).
// Errors: kPermissionDenied for those.
base::Result<std::shared_ptr<const ByteSource>> OpenExternal(const std::string& model_path, const std::string& location);

// Bytes that outlive the source.
std::shared_ptr<const ByteSource> BytesOf(std::span<const uint8_t> bytes, std::string name);

}  // namespace wf::onnx
