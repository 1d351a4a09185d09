// SPDX-License-Identifier: BSD-3-Clause
// Files of this folder, embedded by the build (cmake/embed.cmake).

#pragma once

#include <string_view>

namespace rocetrace::assets {

extern const std::string_view schema_sql;

}  // namespace rocetrace::assets
