// SPDX-License-Identifier: BSD-3-Clause
#include "findings/counter_dump.hpp"

#include <fmt/format.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace rocetrace {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kMostCounters = 65'536;
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kDeepest = 64;  // of JSON

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/@[]+").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, fits);
}

std::optional<u64> number_of(std::string_view text) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Collector {
 public:
  void add(const std::string& device, std::string_view name, u64 value) {
    if (!is_name(name)) return;
    if (++count_ > kMostCounters)
      throw std::runtime_error{fmt::format("more than {} counters", kMostCounters)};
    dump_[device][std::string(name)] = value;
  }
  CounterDump take() {
    if (count_ == 0)
      throw std::runtime_error{
          "no counters in it: lines with a name and a number are expected, as of 'rdma statistic "
          "show', 'ethtool -S' or 'grep . /sys/class/infiniband/*/ports/*/hw_counters/*'"};
    return std::move(dump_);
  }

 private:
  CounterDump dump_;
  std::size_t count_ = 0;
};

// `rdma -j statistic show`: an array of objects, one for each port, with its names in it. Objects
// within them give names of their own.
class JsonCounters : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonCounters> {
 public:
  explicit JsonCounters(Collector& out) : out_(out) {}

  bool StartObject() {
    if (depth_++ == 0) device_.clear(), port_.reset(), waiting_.clear();
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    if (--depth_ > 0) return true;
    if (port_ && !device_.empty()) device_ += fmt::format("/{}", *port_);
    for (const auto& [name, value] : waiting_) out_.add(device_, name, value);
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view value(text, size);
    if (key_ == "ifname" && is_name(value)) device_ = value;
    return true;
  }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Uint64(u64 value) {
    if (key_ == "port") {
      port_ = value;
    } else if (depth_ > 0 && waiting_.size() < kMostCounters + 1) {
      waiting_.emplace_back(key_, value);
    }
    return true;
  }

 private:
  Collector& out_;
  std::size_t depth_ = 0;
  std::string key_, device_;
  std::optional<u64> port_;
  std::vector<std::pair<std::string, u64>> waiting_;
};

// How deep arrays and objects lie in each other; brackets within strings do not count.
std::size_t depth_of(std::string_view text) {
  std::size_t depth = 0, most = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') i++;
    if (quoted) continue;
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if ((c == ']' || c == '}') && depth > 0) depth--;
  }
  return most;
}

// In place, and by recursion: the reader's own stack does arithmetic on a null pointer.
void read_json(std::string text, Collector& out) {
  if (depth_of(text) > kDeepest)
    throw std::runtime_error{fmt::format("JSON that is nested more than {} deep", kDeepest)};
  JsonCounters counters(out);
  rapidjson::Reader reader;
  rapidjson::InsituStringStream stream(text.data());
  const auto result = reader.Parse<rapidjson::kParseInsituFlag>(stream, counters);
  if (result.IsError())
    throw std::runtime_error{fmt::format("no JSON at byte {}", result.Offset())};
}

// ".../infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence" -> "mlx5_0/1", and the name's begin.
std::string device_in(std::string_view path) {
  constexpr std::string_view kClass = "infiniband/", kPorts = "/ports/";
  const std::size_t begin = path.rfind(kClass);
  const std::size_t ports = path.find(kPorts, begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || ports == std::string_view::npos) return {};
  const std::string_view device = path.substr(begin + kClass.size(), ports - begin - kClass.size());
  const std::string_view rest = path.substr(ports + kPorts.size());
  return fmt::format("{}/{}", device, rest.substr(0, rest.find('/')));
}

// "name value", "name: value", "name=value", "PATH/name:value".
void read_pair(const std::string& device, std::string_view name, std::string_view value,
               Collector& out) {
  const auto number = number_of(value);
  if (!number || !is_name(name)) return;
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return out.add(device, name, *number);
  const std::string in_path = device_in(name);
  out.add(in_path.empty() ? device : in_path, name.substr(slash + 1), *number);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r,";
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; words.size() < kMostCounters;) {
    begin = line.find_first_not_of(kBlank, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

void read_line(std::string_view line, std::string& device, Collector& out) {
  const std::vector<std::string_view> words = words_of(line);
  std::size_t at = 0;
  if (words.size() >= 2 && words[0] == "link" && is_name(words[1])) {
    device = words[1];
    at = 2;
  }
  for (; at < words.size(); at++) {
    std::string_view word = words[at];
    if (const std::size_t mark = word.find_last_of(":="); mark != std::string_view::npos) {
      if (mark + 1 < word.size()) {
        read_pair(device, word.substr(0, mark), word.substr(mark + 1), out);
        continue;
      }
      word.remove_suffix(1);
    }
    if (at + 1 < words.size() && number_of(words[at + 1]) && !number_of(word))
      read_pair(device, word, words[++at], out);
  }
}

}  // namespace

CounterDump parse_counters(std::string_view text) {
  Collector out;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '[' || text[first] == '{')) {
    read_json(std::string(text), out);
    return out.take();
  }
  std::string device;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(text.substr(0, end), device, out);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out.take();
}

CounterDump read_counters(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error{file + ": " + std::strerror(errno)};
  std::string text(kMostBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.fail() && !in.eof())) throw std::runtime_error{file + ": cannot be read"};
  if (!in.eof()) throw std::runtime_error{file + ": no dump of counters: it is too large"};
  text.resize(static_cast<std::size_t>(in.gcount()));
  try {
    return parse_counters(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error{file + ": " + error.what()};
  }
}

std::vector<NicCounts> counted_between(const CounterDump& before, const CounterDump& after) {
  std::vector<NicCounts> all;
  for (const auto& [device, counters] : after) {
    const auto old = before.find(device);
    if (old == before.end()) continue;
    NicCounts one{device, {}, {}};
    for (const auto& [name, value] : counters) {
      const auto earlier = old->second.find(name);
      if (earlier == old->second.end()) continue;
      if (value < earlier->second) {
        one.backward.push_back(name);
      } else {
        one.counts[name] = value - earlier->second;
      }
    }
    if (!one.counts.empty() || !one.backward.empty()) all.push_back(std::move(one));
  }
  if (all.empty())
    throw std::runtime_error{"the two dumps of counters have no counter of one device in common"};
  return all;
}

}  // namespace rocetrace
