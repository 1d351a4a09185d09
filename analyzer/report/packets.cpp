// SPDX-License-Identifier: BSD-3-Clause
// The packet listing as text, NDJSON and CSV. One call a packet, so no format string is parsed.

#include <algorithm>
#include <charconv>

#include "report/csv_value.hpp"
#include "report/describe.hpp"
#include "report/json_value.hpp"
#include "report/packet_row.hpp"
#include "report/sink.hpp"

namespace rocetrace {
namespace {

constexpr Word kEcnWords[] = {"not_ect", "ect1", "ect0", "ce"};

// The listing's published fields, in order. What is not there has no key.
template <class Visit>
void describe_packet(const PacketRow& row, Visit&& visit) {
  visit("frame", row.frame);
  visit("time", row.time);
  visit("source", row.source);
  visit("destination", row.destination);
  visit("source_port", IfSet<u16>{row.source_port});
  visit("dest_qp", row.dest_qp);
  visit("opcode", row.opcode);
  visit("opcode_number", row.opcode_number);
  visit("psn", row.psn);
  visit("ack_req", row.ack_req);
  visit("payload_bytes", row.payload_bytes);
  visit("ecn", kEcnWords[row.ecn & 3]);
  visit("dscp", row.dscp);
  visit("half_flow", IfSet<u64>{row.half_flow});
  visit("class", row.packet_class);
  visit("cause", row.cause);
  visit("place", row.place);
  visit("syndrome", row.syndrome);
  visit("msn", IfSet<u32>{row.msn});
  visit("icrc", row.icrc);
}

class JsonFields {
 public:
  explicit JsonFields(Sink& out) : members_{out} {}
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], const T& value) {
    if constexpr (std::same_as<T, Word>) {
      if (value.empty()) return;
    }
    members_(name, value);
  }

 private:
  json::Members members_;
};

void ndjson_row(const PacketRow& row, Sink& out) {
  out.put('{');
  describe_packet(row, JsonFields{out});
  out.text("}\n");
}

class CsvFields {
 public:
  explicit CsvFields(Sink& out) : out_{out} {}
  template <class T>
  void operator()(std::string_view, const T& value) {
    comma();
    write(value);
  }
  template <class T>
  void operator()(std::string_view, const IfSet<T>& value) {
    comma();
    if (value.value) write(*value.value);
  }

 private:
  void comma() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  void write(std::integral auto value) { out_.number(value); }
  void write(bool value) { out_.text(value ? "true" : "false"); }
  void write(Time time) { out_.used(write_time(out_.reserve(kTimeSize), time.ns)); }
  // Addresses and words of the vocabulary hold nothing to quote.
  void write(std::string_view text) { out_.text(text); }

  Sink& out_;
  bool first_ = true;
};

void csv_begin(Sink& out) {
  bool first = true;
  describe_packet(PacketRow{}, [&](std::string_view name, const auto&) {
    if (!first) out.put(',');
    first = false;
    out.text(name);
  });
  out.text("\r\n");
}

void csv_row(const PacketRow& row, Sink& out) {
  describe_packet(row, CsvFields{out});
  out.text("\r\n");
}

void pad(Sink& out, std::size_t written, std::size_t width) {
  for (; written < width; ++written) out.put(' ');
}

void left(Sink& out, std::string_view text, std::size_t width) {
  out.text(text);
  pad(out, text.size(), width);
  out.put(' ');
}

void right(Sink& out, std::string_view text, std::size_t width) {
  pad(out, text.size(), width);
  out.text(text);
  out.put(' ');
}

void right(Sink& out, u64 value, std::size_t width) {
  const fmt::format_int digits{value};
  right(out, {digits.data(), digits.size()}, width);
}

void hex(Sink& out, u32 value, std::size_t width) {
  char digits[2 + 8] = {'0', 'x'};
  const auto end = std::to_chars(digits + 2, std::end(digits), value, 16);
  right(out, {digits, end.ptr}, width);
}

void text_begin(Sink& out) {
  left(out, "#  frame", 8);
  left(out, "time (UTC)", kTimeSize);
  left(out, "source", 15);
  left(out, "destination", 15);
  right(out, "QP", 8);
  right(out, "PSN", 8);
  left(out, "opcode", 26);
  right(out, "bytes", 5);
  left(out, "ECN", 7);
  out.text("what\n");
}

void text_row(const PacketRow& row, Sink& out) {
  right(out, row.frame, 8);
  out.used(write_time(out.reserve(kTimeSize), row.time.ns));
  out.put(' ');
  left(out, row.source, 15);
  left(out, row.destination, 15);
  hex(out, row.dest_qp, 8);
  right(out, row.psn, 8);
  if (row.opcode.empty()) {
    char name[] = "opcode 0x??";
    constexpr char kDigits[] = "0123456789abcdef";
    name[9] = kDigits[row.opcode_number >> 4];
    name[10] = kDigits[row.opcode_number & 15];
    left(out, {name, 11}, 26);
  } else {
    left(out, row.opcode, 26);
  }
  right(out, row.payload_bytes, 5);
  left(out, kEcnWords[row.ecn & 3], 7);
  bool first = true;
  const auto say = [&](std::string_view words) {
    if (words.empty()) return;
    if (!first) out.put(' ');
    first = false;
    out.text(words);
  };
  say(row.packet_class);
  say(row.cause);
  say(row.place);
  say(row.syndrome);
  if (row.ack_req) say("ack_req");
  if (row.msn) {
    say("msn");
    out.put(' ');
    out.number(*row.msn);
  }
  if (row.icrc == "bad") say("icrc_bad");
  out.put('\n');
}

constexpr PacketFormat kPacketFormats[] = {
    {"text", text_begin, text_row},
    {"ndjson", [](Sink&) {}, ndjson_row},
    {"csv", csv_begin, csv_row},
};

}  // namespace

const PacketFormat* packet_format(std::string_view name) {
  const auto* found = std::ranges::find(kPacketFormats, name, &PacketFormat::name);
  return found == std::end(kPacketFormats) ? nullptr : found;
}

}  // namespace rocetrace
