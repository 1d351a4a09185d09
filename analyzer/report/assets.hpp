// SPDX-License-Identifier: BSD-3-Clause
// Files of this folder, and the plot library, embedded by the build (cmake/embed.cmake).

#pragma once

#include <string_view>

namespace rocetrace::assets {

extern const std::string_view schema_sql;
extern const std::string_view page_html, page_css;
extern const std::string_view base_js, table_js, paper_js, plots_js, page_js;
extern const std::string_view dygraph_js, dygraph_css, dygraph_license;

}  // namespace rocetrace::assets
