// SPDX-License-Identifier: GPL-2.0-or-later
// Ubuntu 24.04's package of Wireshark 4.2 has a header that includes this one, but not this one.
#pragma once
#include <stddef.h>
typedef struct _dfilter_loc {
  long col_start;
  size_t col_len;
} df_loc_t;
