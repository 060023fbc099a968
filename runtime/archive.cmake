# libwf_runtime.a: the objects of every library of this folder, one archive, so that wfc links a server with one name; and wf_link.txt beside it.
# With AddressSanitizer, whose servers only tests start, wfc links them with a shared library of the same objects, all but main: a million small sections are
# laid out once, and not again for each of hundreds of programs. `wfc doctor` looks at the archive there, too.
function(wf_static_libraries folder out)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(found)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    wf_static_libraries(${subfolder} below)
    list(APPEND found ${below})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

wf_static_libraries(${CMAKE_CURRENT_SOURCE_DIR} parts)
set(archive ${CMAKE_BINARY_DIR}/lib/libwf_runtime.a)
set(script "create ${archive}.new\n")
foreach(part ${parts})
  string(APPEND script "addlib $<TARGET_FILE:${part}>\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/lib/wf_runtime.mri CONTENT "${script}save\nend\n")
add_custom_command(
  OUTPUT ${archive}
  COMMAND ${CMAKE_AR} -M < ${CMAKE_BINARY_DIR}/lib/wf_runtime.mri
  COMMAND ${CMAKE_COMMAND} -E rename ${archive}.new ${archive}
  DEPENDS ${parts} ${CMAKE_BINARY_DIR}/lib/wf_runtime.mri
  VERBATIM)
set(linked @dir@/libwf_runtime.a)
set(made ${archive})
if(WF_SANITIZE MATCHES "address")
  set(shared ${CMAKE_BINARY_DIR}/lib/libwf_runtime.so)
  list(FILTER parts EXCLUDE REGEX "^wf_server_main$")
  list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  add_custom_command(
    OUTPUT ${shared}
    COMMAND ${CMAKE_CXX_COMPILER} -shared -fsanitize=${WF_SANITIZE} -fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR} -Wl,-Bsymbolic,-z,now,-z,pack-relative-relocs -o ${shared}
            -Wl,--whole-archive ${files} -Wl,--no-whole-archive
    DEPENDS ${parts}
    VERBATIM)
  list(APPEND made ${shared})
  set(linked --whole-archive @dir@/libwf_server_main.a --no-whole-archive @dir@/libwf_runtime.so -rpath @dir@)
endif()
add_custom_target(wf_runtime ALL DEPENDS ${made})

# Archives where Debian has them: a server runs where only the C library and libstdc++ are installed. oneDNN is opened when a model needs it.
# What libwebp allocates is asked of runtime/nodes/decode_webp.cc.
set(libraries --wrap=WebPSafeMalloc --wrap=WebPSafeCalloc --wrap=WebPSafeFree)
foreach(name uv_a nghttp2 ssl crypto yaml protobuf-lite png16 jpeg webp FLAC ogg re2 utf8proc z zstd)
  find_library(WF_ARCHIVE_${name} lib${name}.a REQUIRED)
  list(APPEND libraries ${WF_ARCHIVE_${name}})
endforeach()
include(${PROJECT_SOURCE_DIR}/compiler/link/link_pieces.cmake)
wf_write_link_pieces(${CMAKE_BINARY_DIR}/lib/wf_link.txt ${linked} ${libraries})
