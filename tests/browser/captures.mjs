// SPDX-License-Identifier: BSD-3-Clause
// Captures made for the pages: with ten thousand connections, and with markup wherever a file can hold text.

import { readFileSync, writeFileSync } from 'node:fs';

const kStart = 1_700_000_000n * 1_000_000_000n;  // nanoseconds since 1970

function concat(...parts) {
  return Buffer.concat(parts.map((part) => (Array.isArray(part) ? Buffer.from(part) : part)));
}

function number(value, size, little = false) {
  const out = Buffer.alloc(size);
  little ? out.writeUIntLE(value, 0, size) : out.writeUIntBE(value, 0, size);
  return out;
}

// An Ethernet frame with a RoCEv2 packet of `payload` bytes. The ICRC stays behind the end of what is captured.
function roce({source, destination, qp, psn, opcode, aeth, payload = 0, ecn = 2}) {
  const body = concat([opcode, 0x40], number(0xffff, 2), number(qp, 4), number(0x80000000 + psn, 4),
    aeth === undefined ? [] : number(aeth, 4), Buffer.alloc(payload));
  const size = body.length + 4;
  const udp = concat(number(0xc000 + (qp % 1000), 2), number(4791, 2), number(8 + size, 2), [0, 0]);
  const ip = concat([0x45, (26 << 2) | ecn], number(20 + 8 + size, 2), [0, 0, 0x40, 0, 64, 17, 0, 0], source, destination);
  return concat([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], ip, udp, body);
}

// The first `count` connections send two messages each, and every hundredth has to repeat the second.
export function writeConnections(path, count) {
  const parts = [concat(number(0xa1b23c4d, 4, true), [2, 0, 4, 0], Buffer.alloc(8), number(65535, 4, true), number(1, 4, true))];
  let time = kStart;
  const add = (packet) => {
    const frame = roce(packet);
    time += 5_000n;
    parts.push(number(Number(time / 1_000_000_000n), 4, true), number(Number(time % 1_000_000_000n), 4, true),
      number(frame.length, 4, true), number(frame.length + 4, 4, true), frame);
  };
  const ends = (i) => ({source: [10, 0, i >> 8, i & 255], destination: [10, 1, i & 255, i >> 8]});
  const send = (i, psn) => add({...ends(i), qp: 0x1000 + i, psn, opcode: 0x04, payload: 64});
  const answer = (i, psn, syndrome) => {
    const {source, destination} = ends(i);
    add({source: destination, destination: source, qp: 0x8000 + i, psn, opcode: 0x11, aeth: syndrome * 0x1000000 + 1});
  };
  for (let i = 0; i < count; ++i) {
    send(i, 7 * i);
    answer(i, 7 * i, 0x1f);
  }
  for (let i = 0; i < count; ++i) {
    send(i, 7 * i + 1);
    if (i % 100 === 0) {
      answer(i, 7 * i + 1, 0x60);  // NAK: PSN sequence error
      send(i, 7 * i + 1);
    }
    answer(i, 7 * i + 1, 0x1f);
  }
  writeFileSync(path, Buffer.concat(parts));
}

function frames(path) {
  const file = readFileSync(path);
  const out = [];
  for (let at = 24; at + 16 <= file.length;) {
    const size = file.readUInt32LE(at + 8);
    out.push(file.subarray(at + 16, at + 16 + size));
    at += 16 + size;
  }
  return out;
}

const padded = (bytes) => concat(bytes, Buffer.alloc(-bytes.length & 3));
const option = (code, text) => concat(number(code, 2, true), number(Buffer.byteLength(text), 2, true), padded(Buffer.from(text)));

function block(type, ...parts) {
  const body = concat(...parts);
  const size = number(body.length + 12, 4, true);
  return concat(number(type, 4, true), size, body, size);
}

// LLDP from a switch of that name, with a DCBX TLV that makes it worth a line of the report.
function lldp(name) {
  const tlv = (type, ...parts) => {
    const value = concat(...parts);
    return concat(number((type << 9) | value.length, 2), value);
  };
  return concat([1, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 9, 0x88, 0xcc], tlv(1, [4, 2, 0, 0, 0, 0, 9]),
    tlv(2, [5], Buffer.from(name)), tlv(3, [0, 120]), tlv(5, Buffer.from(name)),
    tlv(127, [0x00, 0x80, 0xc2, 11, 0x08, 0x08]), tlv(0, []));
}

// The frames of `sample` as pcapng, with `text` as every name and comment there is.
export function writeNamed(path, sample, text) {
  const kComment = 1, kName = 2, kDescription = 3, kHardware = 2, kUser = 4;
  const end = [0, 0, 0, 0];
  const parts = [
    block(0x0a0d0d0a, number(0x1a2b3c4d, 4, true), [1, 0, 0, 0], Buffer.alloc(8, 0xff), option(kComment, text),
      option(kHardware, text), option(kUser, text), end),
    block(1, [1, 0, 0, 0], number(65535, 4, true), option(kComment, text), option(kName, text), option(kDescription, text), end)];
  let time = Number(kStart / 1000n);
  for (const frame of [lldp(text), ...frames(sample)]) {
    time += 10;
    parts.push(block(6, number(0, 4, true), number(Math.floor(time / 2 ** 32), 4, true), number(time % 2 ** 32, 4, true),
      number(frame.length, 4, true), number(frame.length, 4, true), padded(frame), option(kComment, text), end));
  }
  writeFileSync(path, Buffer.concat(parts));
}
