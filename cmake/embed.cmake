# Turns text files into string literals.
# usage: cmake -D OUTPUT=FILE.cpp -D NAMES="a;b" -D FILES="a.txt;b.txt" -P embed.cmake
set(source "// Made by cmake/embed.cmake.\n#include <string_view>\n\nnamespace rocetrace::assets {\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ "${file}" text)
  if(text MATCHES "\\)asset\"")
    message(FATAL_ERROR "${file} holds the end of a literal")
  endif()
  string(APPEND source "extern const std::string_view ${name};\n"
         "const std::string_view ${name} = R\"asset(" "${text}" ")asset\";\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}" "}\n")
