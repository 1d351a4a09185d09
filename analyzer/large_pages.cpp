// SPDX-License-Identifier: BSD-3-Clause
#include "large_pages.hpp"

#include <sys/mman.h>

namespace rocetrace {

void ask_for_large_pages(void* begin, std::size_t size) {
#ifdef MADV_HUGEPAGE
  ::madvise(begin, size, MADV_HUGEPAGE);
#else
  static_cast<void>(begin), static_cast<void>(size);
#endif
}

}  // namespace rocetrace
