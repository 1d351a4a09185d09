// SPDX-License-Identifier: BSD-3-Clause
// The plain difference of two PSNs is wrong near the wrap.

#include "roce/psn.hpp"

#ifdef WRONG
auto steps(roce::Psn a, roce::Psn b) {
  return b - a;
}
#else
auto steps(roce::Psn a, roce::Psn b) {
  return distance(a, b);
}
#endif
