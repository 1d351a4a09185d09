// SPDX-License-Identifier: BSD-3-Clause
// Plots for paper. Browsers print what a canvas held before they began to print, so each plot gets an
// SVG in its place that follows the paper's width.

const kSvg = 'http://www.w3.org/2000/svg';

function svgElement(name, attributes) {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The lines of a series; values that are not there are passed over, as on the screen.
function pathOf(rows, column, step, place) {
  let path = '';
  for (const row of rows) {
    if (row[column] === null) continue;
    const [x, y] = place(row[0], row[column]);
    if (path === '') path = `M${x} ${y}`;
    else path += step ? `H${x}V${y}` : `L${x} ${y}`;
  }
  return path && path + 'h0';  // so that a lone point is a dot
}

function paperOf(plot) {
  const graph = plot.graph, area = graph.getArea();
  const place = (seconds, value) => [(graph.toDomXCoord(seconds) - area.x).toFixed(1), (graph.toDomYCoord(value) - area.y).toFixed(1)];
  const paper = svgElement('svg', {width: area.w, height: area.h});
  paper.style.left = area.x + 'px';
  paper.style.top = area.y + 'px';
  plot.spec.series.forEach((series, i) => {
    const colour = `var(${series.colour})`;
    if (!series.shape) {
      const line = svgElement('path', {d: pathOf(plot.spec.rows, i + 1, series.step, place), fill: 'none', 'stroke-width': 1, 'stroke-linecap': 'round'});
      line.style.stroke = colour;
      return paper.append(line);
    }
    for (const row of plot.spec.rows) {
      if (row[i + 1] === null) continue;
      const [x, y] = place(row[0], row[i + 1]);
      const mark = svgElement('text', {x, y, 'text-anchor': 'middle', 'dominant-baseline': 'central', 'font-size': 8});
      mark.style.fill = colour;
      mark.textContent = series.glyph;
      paper.append(mark);
    }
  });
  return paper;
}
