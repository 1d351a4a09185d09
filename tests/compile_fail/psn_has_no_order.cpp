// SPDX-License-Identifier: BSD-3-Clause
// PSNs wrap: which of two is later is a question of distance.

#include "roce/psn.hpp"

#ifdef WRONG
bool later(roce::Psn a, roce::Psn b) {
  return a < b;
}
#else
bool later(roce::Psn a, roce::Psn b) {
  return distance(b, a) > 0;
}
#endif
