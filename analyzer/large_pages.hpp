// SPDX-License-Identifier: BSD-3-Clause
// Large pages for the tables of the tracker, where the system gives them to those who ask.

#pragma once

#include <cstddef>

namespace rocetrace {

/// A roce::flow::MemoryNotice. Asks only: without them everything works, more slowly.
void ask_for_large_pages(void* begin, std::size_t size);

}  // namespace rocetrace
