# embed_bytes(FILE VARIABLE): VARIABLE becomes `"..", size`, a C++ string literal and how long it is.
function(embed_bytes file variable)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  set(${variable} "\"${bytes}\", ${size}" PARENT_SCOPE)
endfunction()
