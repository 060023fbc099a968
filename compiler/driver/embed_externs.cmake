# cmake -DRUNTIME=runtime -DOUT=extern_texts.cc -P embed_externs.cmake: what externs are compiled with, as C++ strings.
include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

# What extern.h takes from error_codes.h, its table written out.
set(codes "namespace wf::code {\n")
file(STRINGS ${RUNTIME}/base/error_codes.def table REGEX "^(CODE|PART)")
foreach(row ${table})
  string(REGEX REPLACE "^[A-Z]+.([0-9]+)[^k]*(k[A-Za-z0-9]+).*" "inline constexpr int32_t \\2 = \\1;\n" row "${row}")
  string(APPEND codes "${row}")
endforeach()
file(WRITE ${OUT}.codes "${codes}}  // namespace wf::code\n")

set(rows "")
foreach(file ${RUNTIME}/abi/values.h ${RUNTIME}/abi/extern_values.h ${OUT}.codes ${RUNTIME}/abi/extern.h ${RUNTIME}/abi/extern_shim.h)
  embed_bytes(${file} text)
  string(APPEND rows "    {${text}},\n")
endforeach()
file(WRITE ${OUT} "#include \"compiler/driver/extern_header.h\"\n\nnamespace wf::driver {\nnamespace {\nconstexpr std::string_view kTexts[] = {\n${rows}};\n}  // namespace\nstd::span<const std::string_view> ExternTexts() { return kTexts; }\n}  // namespace wf::driver\n")
