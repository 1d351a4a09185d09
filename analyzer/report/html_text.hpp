// SPDX-License-Identifier: BSD-3-Clause
// Text as HTML. Whatever comes from a capture goes through here on its way into the page.

#pragma once

#include <string>
#include <string_view>

namespace rocetrace {

/// `text` as nothing but text, in an element or between quotes: markup is escaped, and what
/// printable() spells out is spelled out.
std::string html_text(std::string_view text);

/// JSON that can stand in a <script>: what could end the element is written as an escape.
std::string json_in_html(std::string_view json);

}  // namespace rocetrace
