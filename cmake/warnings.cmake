# Warnings for the project's own targets: link to roce_warnings.
add_library(roce_warnings INTERFACE)
target_compile_options(roce_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wpedantic
  $<$<BOOL:${ROCETRACE_WERROR}>:-Werror>)
