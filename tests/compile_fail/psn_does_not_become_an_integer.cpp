// SPDX-License-Identifier: BSD-3-Clause
// A PSN becomes an integer only where that is written.

#include "roce/psn.hpp"

#ifdef WRONG
roce::u32 number(roce::Psn psn) {
  return psn;
}
#else
roce::u32 number(roce::Psn psn) {
  return psn.value();
}
#endif
