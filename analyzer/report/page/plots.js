// SPDX-License-Identifier: BSD-3-Clause
// Plots over time that zoom and move together. Times are seconds since the trace began.

const kShapes = {
  up: (c, x, y, s) => { c.moveTo(x, y - s); c.lineTo(x + s, y + s); c.lineTo(x - s, y + s); c.closePath(); c.fill(); },
  down: (c, x, y, s) => { c.moveTo(x, y + s); c.lineTo(x + s, y - s); c.lineTo(x - s, y - s); c.closePath(); c.fill(); },
  diamond: (c, x, y, s) => { c.moveTo(x, y - s); c.lineTo(x + s, y); c.lineTo(x, y + s); c.lineTo(x - s, y); c.closePath(); c.fill(); },
  cross: (c, x, y, s) => { c.moveTo(x - s, y - s); c.lineTo(x + s, y + s); c.moveTo(x + s, y - s); c.lineTo(x - s, y + s); c.stroke(); },
  bar: (c, x, y, s) => { c.moveTo(x, y - 1.5 * s); c.lineTo(x, y + 1.5 * s); c.stroke(); },
  disc: (c, x, y, s) => { c.arc(x, y, 0.7 * s, 0, 7); c.fill(); },
  ring: (c, x, y, s) => { c.arc(x, y, s, 0, 7); c.stroke(); },
};

// How the marks of the PSN plot look: colour (a variable of the style sheet), shape, and its letter.
const kMarkLooks = {
  gap: ['--mark-gap', 'bar', '\u2503', 'gap'],
  retransmission: ['--mark-resent', 'up', '\u25b2', 'sent again'],
  nak: ['--mark-nak', 'cross', '\u2715', 'NAK'],
  rnr_nak: ['--mark-rnr', 'diamond', '\u25c6', 'RNR NAK'],
  cnp: ['--mark-cnp', 'down', '\u25bc', 'CNP'],
  ce: ['--mark-ce', 'disc', '\u25cf', 'CE mark'],
  reordered: ['--mark-reordered', 'ring', '\u25cb', 'reordered'],
};

const styleValue = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function drawShape(shape, size) {
  return (graph, series, context, x, y, colour) => {
    context.beginPath();
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 2;
    kShapes[shape](context, x, y, size);
  };
}

// Plots one below the other, over the same time.
class PlotGroup {
  constructor(box, begin, end) {
    this.box = box;
    const margin = Math.max((end - begin) / 100, 1e-6);
    this.whole = [begin - margin, end + margin];
    this.specs = [];
    this.plots = [];
    this.busy = false;
  }

  // spec: title, tall, series [{label, colour, shape, glyph, step, fill, thin}], rows [[seconds, value...]],
  // format(value), about(row, label) -> text.
  add(spec) {
    this.specs.push(spec);
  }

  draw(range) {
    this.clear();
    this.range = range || this.whole;
    for (const spec of this.specs) this.plots.push(this.make(spec));
  }

  clear() {
    for (const plot of this.plots) plot.graph.destroy();
    this.plots = [];
    this.box.replaceChildren();
  }

  zoom(range) {
    this.range = range;
    this.busy = true;
    for (const plot of this.plots) plot.graph.updateOptions({dateWindow: range});
    this.busy = false;
  }

  // Lays the plots out for paper, or for the screen again.
  print(printing) {
    this.busy = true;
    for (const plot of this.plots) {
      plot.graph.resize();
      if (plot.paper) plot.paper.remove();
      plot.paper = printing ? paperOf(plot) : null;
      if (printing) plot.canvas.append(plot.paper);
    }
    this.busy = false;
  }

  make(spec) {
    const card = element('div', 'plot' + (spec.tall ? ' tall' : ''));
    const title = element('div', 'title');
    const legend = element('span', 'legend');
    const readout = element('span', 'readout');
    title.append(element('b', '', spec.title), legend, readout);
    for (const series of spec.series) {
      const glyph = element('i', '', series.glyph || '\u25ac');
      glyph.style.color = `var(${series.colour})`;
      const item = element('span');
      item.append(glyph, ' ' + series.label);
      legend.append(item);
    }
    const canvas = element('div', 'canvas');
    card.append(title, canvas);
    this.box.append(card);
    const plot = {spec, canvas, readout, cursor: element('div', 'cursor')};
    plot.graph = new Dygraph(canvas, spec.rows, this.options(spec, plot));
    canvas.append(plot.cursor);
    return plot;
  }

  options(spec, plot) {
    const series = {};
    for (const each of spec.series) {
      series[each.label] = each.shape ? {
        strokeWidth: 0, drawPoints: true, pointSize: 5,
        drawPointCallback: drawShape(each.shape, 4), drawHighlightPointCallback: drawShape(each.shape, 6),
      } : {
        strokeWidth: each.thin ? 1 : 1.5, stepPlot: Boolean(each.step), fillGraph: Boolean(each.fill),
        drawPoints: each.dots || !each.step, pointSize: 1.5,
      };
    }
    const soft = styleValue('--soft'), line = styleValue('--line');
    return {
      labels: ['seconds', ...spec.series.map((each) => each.label)],
      colors: spec.series.map((each) => styleValue(each.colour)),
      series, legend: 'never', connectSeparatedPoints: true, dateWindow: this.range,
      gridLineColor: line, axisLineColor: soft, gridLineWidth: 0.5, fillAlpha: 0.12, rightGap: 12, yRangePad: 12,
      includeZero: !spec.floats, logscale: Boolean(spec.log), highlightCircleSize: 3,
      highlightSeriesOpts: {strokeWidth: undefined}, highlightSeriesBackgroundAlpha: 1,
      axes: {
        x: {
          pixelsPerLabel: 90, axisLabelWidth: 90,
          axisLabelFormatter: (value, granularity, options, graph) => {
            const [from, to] = graph.xAxisRange();
            return secondsText(value, to - from);
          },
        },
        y: {axisLabelWidth: 84, pixelsPerLabel: 34, axisLabelFormatter: (value) => spec.format(value)},
      },
      drawCallback: (graph, initial) => {
        if (initial || this.busy) return;
        this.zoom(graph.isZoomed('x') ? graph.xAxisRange() : this.whole);
      },
      highlightCallback: (event, x, points, row, label) => this.point(plot, x, points, row, label),
      unhighlightCallback: () => this.point(null),
    };
  }

  // Tells what is under the mouse, and where that is in the other plots.
  point(pointed, x, points, row, label) {
    for (const plot of this.plots) {
      plot.cursor.style.display = pointed ? 'block' : 'none';
      plot.readout.textContent = '';
      if (pointed) plot.cursor.style.left = plot.graph.toDomXCoord(x) + 'px';
    }
    if (!pointed) return;
    const [from, to] = pointed.graph.xAxisRange();
    const told = pointed.spec.about ? pointed.spec.about(row, label)
      : points.filter((each) => each.yval !== null && !Number.isNaN(each.yval))
        .map((each) => each.name + ' ' + pointed.spec.format(each.yval)).join(', ');
    pointed.readout.textContent = secondsText(x, (to - from) / 100) + ': ' + told;
  }
}

const hasAny = (bins) => bins.some((value) => value > 0);

// A plot of counts per bin. `lines`: [label, colour, bins, text of a value of 1 per second].
function addRates(group, axis, title, lines, format, scale) {
  const shown = lines.filter(([, , bins]) => hasAny(bins));
  if (shown.length === 0) return;
  const rows = [];
  for (let i = 0; i <= data.bins; ++i) {
    const at = Math.min(i, data.bins - 1);  // the last bin has a right edge, too
    rows.push([(axis.begin + i * axis.width) / 1e9,
      ...shown.map(([, , bins]) => ((bins[at] || 0) * scale * 1e9) / axis.width)]);
  }
  group.add({title, rows, format,
    series: shown.map(([label, colour]) => ({label, colour, step: true, fill: shown.length <= 2}))});
}

// A plot of values that bins may lack.
function addValues(group, axis, title, lines, format, log) {
  const shown = lines.filter(([, , bins]) => hasAny(bins));
  if (shown.length === 0) return;
  const rows = [];
  for (let i = 0; i < data.bins; ++i) {
    const values = shown.map(([, , bins]) => bins[i] || null);
    if (values.some((value) => value !== null)) rows.push([(axis.begin + (i + 0.5) * axis.width) / 1e9, ...values]);
  }
  group.add({title, rows, format, log, floats: log,
    series: shown.map(([label, colour, , thin]) => ({label, colour, thin}))});
}

// The PSNs that one side sent, what was answered, and what went wrong.
function addPsns(group, title, story) {
  if (story.sent.length === 0 && story.marks.length === 0) return;
  const series = [];
  const points = [];  // [time, series, PSN, text]
  const line = (label, colour, flat) => {
    if (flat.length === 0) return;
    const index = series.push({label, colour, thin: true, step: true, dots: true}) - 1;
    for (let i = 0; i < flat.length; i += 2) points.push([flat[i], index, flat[i + 1], label + ' PSN ' + psnText(flat[i + 1])]);
  };
  line('sent', '--series-1', story.sent.concat(story.close_up));
  line('answered', '--series-3', story.answered);
  data.marks.forEach((kind, number) => {
    const marks = story.marks.filter((mark) => mark[0] === number);
    if (marks.length === 0) return;
    const [colour, shape, glyph, label] = kMarkLooks[kind];
    const index = series.push({label, colour, shape, glyph}) - 1;
    for (const [, time, psn, frame, times, missing, note, place] of marks) {
      let text = label + ' at PSN ' + psnText(psn) + ', frame ' + frame;
      if (note) text += ', ' + note;
      if (place) text += ', ' + place;
      if (missing) text += ', ' + grouped(missing) + ' missing';
      if (times > 1) text += '; and ' + grouped(times - 1) + ' more close by';
      points.push([time, index, psn, text]);
    }
  });
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const rows = points.map(([time, index, psn]) => {
    const row = new Array(series.length + 1).fill(null);
    row[0] = time / 1e9;
    row[index + 1] = psn;
    return row;
  });
  group.add({title, rows, series, tall: true, floats: true, format: psnText, about: (row) => points[row][3]});
}

function addPauses(group) {
  const {begin, width, pauses} = data.trace;
  addRates(group, {begin, width}, 'Pause frames', [['pause frames', '--mark-gap', pauses]], perSecond, 1);
}

function overviewPlots(box) {
  const {begin, width, counts} = data.trace;
  const axis = {begin, width};
  const group = new PlotGroup(box, begin / 1e9, (begin + width * data.bins) / 1e9);
  addRates(group, axis, 'Throughput', [['on the wire', '--series-1', counts.wire_bytes],
    ['goodput', '--series-3', counts.good_bytes]], bitRate, 8);
  addRates(group, axis, 'Loss and recovery', [['sent again', '--mark-resent', counts.resent],
    ['NAK', '--mark-nak', counts.naks], ['RNR NAK', '--mark-rnr', counts.rnr_naks]], perSecond, 1);
  addRates(group, axis, 'Congestion', [['CE mark', '--mark-ce', counts.ce], ['CNP', '--mark-cnp', counts.cnps]], perSecond, 1);
  addPauses(group);
  return group;
}

function connectionPlots(box, plot) {
  const axis = {begin: plot.begin, width: plot.width};
  const group = new PlotGroup(box, plot.begin / 1e9, (plot.begin + plot.width * data.bins) / 1e9);
  const names = plot.half_flows.map((flow) => (flow ? 'to ' + flow.destination + ' ' + qpText(flow.dest_qp) : ''));
  // What each side of the connection adds to a plot; colours tell the sides apart.
  const sides = [0, 1].filter((side) => plot.half_flows[side]);
  const both = (lines) => sides.flatMap((side) => lines(side, sides.length > 1 ? ' ' + names[side] : ''));
  for (const side of sides) addPsns(group, 'PSN of requests ' + names[side], plot.stories[side]);
  addRates(group, axis, 'Throughput', both((side, name) => [
    ['on the wire' + name, side ? '--series-2' : '--series-1', plot.counts[side].wire_bytes],
    ['goodput' + name, side ? '--series-4' : '--series-3', plot.counts[side].good_bytes]]), bitRate, 8);
  addRates(group, axis, 'Loss and recovery', both((side, name) => [
    ['sent again' + name, side ? '--series-2' : '--mark-resent', plot.counts[side].resent],
    ['NAK' + name, side ? '--series-4' : '--mark-nak', plot.counts[side].naks],
    ['RNR NAK' + name, side ? '--series-1' : '--mark-rnr', plot.counts[side].rnr_naks]]), perSecond, 1);
  addRates(group, axis, 'Congestion', both((side, name) => [
    ['CE mark' + name, side ? '--series-2' : '--mark-ce', plot.counts[side].ce],
    ['CNP' + name, side ? '--series-4' : '--mark-cnp', plot.counts[side].cnps]]), perSecond, 1);
  for (const side of sides) {
    const story = plot.stories[side];
    addValues(group, axis, 'Time to the answer of requests ' + names[side], [['longest', '--series-2', story.latency_max, true],
      ['mean', '--series-1', story.latency_mean], ['shortest', '--series-3', story.latency_min, true]], duration, true);
  }
  addValues(group, axis, 'Outstanding PSNs', both((side, name) => [
    ['most' + name, side ? '--series-2' : '--series-1', plot.stories[side].outstanding]]), count, false);
  addPauses(group);
  return group;
}
