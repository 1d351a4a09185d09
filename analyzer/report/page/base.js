// SPDX-License-Identifier: BSD-3-Clause
// The report's data, and numbers as people read them. Text only ever becomes text nodes.
'use strict';

const data = JSON.parse(document.getElementById('report').textContent);

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// A space that does not break keeps a number and its unit together.
const unitsOf = (...units) => units.map((unit) => '\u00a0' + unit);

// Three digits that matter.
function digits(value) {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

function scaled(value, units, step) {
  let unit = 0;
  while (Math.abs(value) >= step * 0.9995 && unit < units.length - 1) {
    value /= step;
    ++unit;
  }
  return digits(value) + units[unit];
}

const grouped = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const count = (value) => scaled(value, ['', 'k', 'M', 'G', 'T'], 1000);
const bytes = (value) => scaled(value, unitsOf('B', 'kB', 'MB', 'GB', 'TB'), 1000);
const bitRate = (value) => scaled(value, unitsOf('bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'), 1000);
const perSecond = (value) => (value > 0 && value < 0.01 ? '<0.01' : count(value)) + '/s';
const qpText = (qp) => '0x' + qp.toString(16);

function duration(ns) {
  if (ns < 60e9) return scaled(ns, unitsOf('ns', 'us', 'ms', 's'), 1000);
  const minutes = Math.floor(ns / 60e9);
  if (minutes < 60) return minutes + '\u00a0min\u00a0' + Math.floor((ns % 60e9) / 1e9) + '\u00a0s';
  return Math.floor(minutes / 60) + '\u00a0h\u00a0' + (minutes % 60) + '\u00a0min';
}

function share(part, whole) {
  if (!whole) return '-';
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.01) return '<0.01 %';
  return digits(percent) + '\u00a0%';
}

// A PSN that was unwrapped, as it stands in the packet.
const psnText = (psn) => String(((Math.round(psn) % 16777216) + 16777216) % 16777216);

// Seconds since the trace began, with as many decimals as tell apart `span` seconds.
function secondsText(seconds, span) {
  const decimals = Math.min(9, Math.max(0, Math.ceil(2 - Math.log10(Math.max(span, 1e-9)))));
  return seconds.toFixed(decimals) + ' s';
}

// The time of day, UTC, of `ns` since the trace began.
function clockText(ns) {
  const [whole, fraction] = data.origin.replace('Z', '').split('.');
  const second = Date.parse(whole + 'Z') / 1000;
  const total = Number(fraction) + ns;
  const carried = Math.floor(total / 1e9);
  const rest = String(Math.round(total - carried * 1e9)).padStart(9, '0');
  return new Date((second + carried) * 1000).toISOString().slice(0, 19).replace('T', ' ') + '.' + rest;
}
