// SPDX-License-Identifier: BSD-3-Clause
// A PSN equals another PSN, not an integer.

#include "roce/psn.hpp"

#ifdef WRONG
bool is_first(roce::Psn psn) {
  return psn == 0u;
}
#else
bool is_first(roce::Psn psn) {
  return psn == roce::Psn(0u);
}
#endif
