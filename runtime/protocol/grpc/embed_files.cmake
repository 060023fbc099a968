# cmake -DSETS=a.set;.. -DOUT=files.cc -DEMBED=embed.cmake -P embed_files.cmake: a function per set of one file, called as the set is.
include(${EMBED})
set(functions "")
foreach(file ${SETS})
  get_filename_component(name ${file} NAME_WE)
  embed_bytes(${file} bytes)
  string(APPEND functions "std::string_view ${name}() { return OnlyFile({${bytes}}); }\n")
endforeach()
file(WRITE ${OUT} "#include \"runtime/protocol/grpc/files.h\"

#include \"runtime/protocol/protobuf/wire.h\"

namespace wf::grpc {
namespace {

std::string_view OnlyFile(std::string_view set) {
  protobuf::Reader reader({reinterpret_cast<const uint8_t*>(set.data()), set.size()});
  protobuf::Field field;
  reader.Next(&field);
  return field.text();
}

}  // namespace

${functions}
}  // namespace wf::grpc
")
