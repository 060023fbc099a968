# cmake -DFOLDER=runtime/abi -DOUT=extern_texts.cc -P embed_externs.cmake: what externs are compiled with, as C++ strings.
include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
set(rows "")
foreach(file values extern_values extern extern_shim)
  embed_bytes(${FOLDER}/${file}.h text)
  string(APPEND rows "    {${text}},\n")
endforeach()
file(WRITE ${OUT} "#include \"compiler/driver/extern_header.h\"\n\nnamespace wf::driver {\nnamespace {\nconstexpr std::string_view kTexts[] = {\n${rows}};\n}  // namespace\nstd::span<const std::string_view> ExternTexts() { return kTexts; }\n}  // namespace wf::driver\n")
