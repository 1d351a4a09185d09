// SPDX-License-Identifier: BSD-3-Clause
// An integer becomes a PSN only where that is written.

#include "roce/psn.hpp"

#ifdef WRONG
roce::Psn first() {
  return 5u;
}
#else
roce::Psn first() {
  return roce::Psn(5u);
}
#endif
