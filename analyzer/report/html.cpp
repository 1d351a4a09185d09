// SPDX-License-Identifier: BSD-3-Clause
// The report as one page of HTML that needs nothing else: summary and findings as text, and a table
// and plots that its scripts make of data within it.
//
// The page forbids itself to load anything (its Content-Security-Policy), and whatever comes from a
// capture is escaped.

#include "report/assets.hpp"
#include "report/formats.hpp"
#include "report/html_data.hpp"
#include "report/html_sections.hpp"
#include "report/html_text.hpp"
#include "report/output.hpp"
#include "report/sink.hpp"

namespace rocetrace {
namespace {

class HtmlOutput : public Output {
 public:
  HtmlOutput(const Report& report, const std::string& path)
      : report_{report}, plots_{report}, out_{Sink::file(path)} {}

  void on_moment(const Moment& moment) override { plots_.add(moment); }

  void finish() override {
    // The template's places are comments: <!--@name-->.
    constexpr std::string_view kBegin = "<!--@", kEnd = "-->";
    std::string_view page = assets::page_html;
    for (std::size_t at; (at = page.find(kBegin)) != page.npos;) {
      out_.text(page.substr(0, at));
      page.remove_prefix(at + kBegin.size());
      const std::size_t end = page.find(kEnd);
      fill(page.substr(0, end));
      page.remove_prefix(end + kEnd.size());
    }
    out_.text(page);
    out_.commit();
  }

 private:
  void fill(std::string_view place) {
    if (place == "title") {
      if (!report_.captures.empty()) out_.text(": " + html_text(report_.captures.front().file));
    } else if (place == "styles") {
      for (const std::string_view part : {assets::dygraph_css, assets::page_css}) out_.text(part);
    } else if (place == "headline") {
      write_page_headline(report_, out_);
    } else if (place == "summary") {
      write_page_summary(report_, out_);
    } else if (place == "findings") {
      write_page_findings(report_, out_);
    } else if (place == "rest") {
      write_page_rest(report_, out_);
    } else if (place == "license") {
      out_.text(html_text(assets::dygraph_license));
    } else if (place == "data") {
      std::string json;
      Sink memory = Sink::memory(json);
      write_page_data(report_, plots_, memory);
      memory.commit();
      out_.text(json_in_html(json));
    } else if (place == "library") {
      out_.text(assets::dygraph_js);
    } else if (place == "scripts") {
      for (const std::string_view part :
           {assets::base_js, assets::table_js, assets::paper_js, assets::plots_js, assets::page_js})
        out_.text(part);
    }
  }

  const Report& report_;
  Plots plots_;
  Sink out_;
};

}  // namespace

std::unique_ptr<Output> make_html(const Report& report, const std::string& path) {
  return std::make_unique<HtmlOutput>(report, path);
}

}  // namespace rocetrace
