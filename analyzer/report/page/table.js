// SPDX-License-Identifier: BSD-3-Clause
// The table of connections. Only the rows in sight are in the page, so that ten thousand stay quick.

// What stands in each row of the data, in the order in which it is written.
const kFields = ['connection', 'one', 'other', 'trouble', 'source', 'sourceQp', 'destination', 'destQp', 'service',
  'packets', 'bytes', 'resent', 'missing', 'naks', 'fatal', 'rnr', 'cnps', 'ce', 'capable', 'begin', 'duration',
  'ackP50', 'ackP99', 'readP50', 'readP99', 'messageP50', 'messageP99'];

const cellClass = (column) => (column.left ? 'left' : '') + (column.screen ? ' screen' : '');

function rowOf(values) {
  const row = {};
  kFields.forEach((field, i) => { row[field] = values[i]; });
  row.source = data.addresses[row.source];
  row.destination = data.addresses[row.destination];
  row.rate = row.duration > 0 ? (row.bytes * 8e9) / row.duration : null;
  row.ceShare = row.capable > 0 ? row.ce / row.capable : null;
  row.resentShare = row.packets > 0 ? row.resent / row.packets : null;
  return row;
}

const endText = (address, qp) => address + (qp === null ? '' : ' ' + qpText(qp));
const orDash = (value, text) => (value ? text(value) : '-');

// key: for "key>number" in the filter. state: how bad a value that is not 0 is. screen: not on paper.
const kColumns = [
  {key: 'connection', title: '#', value: (r) => r.connection || null, text: (r) => (r.connection ? r.connection : '-')},
  {title: 'one end', left: true, value: (r) => endText(r.source, r.sourceQp)},
  {title: 'other end', left: true, value: (r) => endText(r.destination, r.destQp)},
  {title: 'type', left: true, value: (r) => r.service},
  {key: 'packets', title: 'packets', value: (r) => r.packets, text: (r) => grouped(r.packets)},
  {key: 'bytes', title: 'bytes', value: (r) => r.bytes, text: (r) => bytes(r.bytes)},
  {key: 'rate', title: 'mean rate', screen: true, value: (r) => r.rate, text: (r) => orDash(r.rate, bitRate)},
  {key: 'resent', title: 'resent', state: 'bad', value: (r) => r.resent, text: (r) => orDash(r.resent, grouped)},
  {key: 'share', title: 'share', state: 'bad', value: (r) => r.resentShare, text: (r) => (r.resent ? share(r.resent, r.packets) : '-')},
  {key: 'missing', title: 'missing', state: 'bad', value: (r) => r.missing, text: (r) => orDash(r.missing, grouped)},
  {key: 'nak', title: 'NAK', state: 'bad', value: (r) => r.naks, text: (r) => orDash(r.naks, grouped)},
  {key: 'fatal', title: 'fatal', state: 'bad', value: (r) => r.fatal, text: (r) => orDash(r.fatal, grouped)},
  {key: 'rnr', title: 'RNR', state: 'warn', value: (r) => r.rnr, text: (r) => orDash(r.rnr, grouped)},
  {key: 'cnp', title: 'CNP', state: 'warn', value: (r) => r.cnps, text: (r) => orDash(r.cnps, grouped)},
  {key: 'ce', title: 'CE', state: 'warn', value: (r) => r.ceShare, text: (r) => (r.ce ? share(r.ce, r.capable) : '-')},
  {key: 'ack', title: 'ACK p99', value: (r) => r.ackP99, text: (r) => orDash(r.ackP99, duration)},
  {key: 'read', title: 'READ p99', value: (r) => r.readP99, text: (r) => orDash(r.readP99, duration)},
  {key: 'message', title: 'message p99', value: (r) => r.messageP99, text: (r) => orDash(r.messageP99, duration)},
  {key: 'begin', title: 'begins', screen: true, value: (r) => r.begin, text: (r) => duration(r.begin)},
  {key: 'duration', title: 'lasts', screen: true, value: (r) => r.duration, text: (r) => duration(r.duration)},
];

const kOrder = new Intl.Collator('en', {numeric: true});

function compare(a, b) {
  if (a === b) return 0;
  if (a === null) return 1;  // what is not known comes last either way
  if (b === null) return -1;
  if (typeof a === 'string') return kOrder.compare(a, b);
  return a - b;
}

// Whether a row has what one word of the filter asks for.
function matcher(word) {
  const bound = /^([a-z]+)(>=|<=|>|<|=)([\d.]+)([kmg]?)$/.exec(word);
  const column = bound && kColumns.find((c) => c.key === bound[1]);
  if (column) {
    const limit = Number(bound[3]) * {'': 1, k: 1e3, m: 1e6, g: 1e9}[bound[4]];
    const holds = {'>': (v) => v > limit, '<': (v) => v < limit, '>=': (v) => v >= limit, '<=': (v) => v <= limit,
      '=': (v) => v === limit}[bound[2]];
    return (row) => column.value(row) !== null && holds(column.value(row));
  }
  const number = /^(0x)?[\da-f]+$/.test(word) ? Number(word) : NaN;
  return (row) => row.source.includes(word) || row.destination.includes(word) ||
    row.service.toLowerCase() === word || row.sourceQp === number || row.destQp === number ||
    (word.startsWith('0x') && [row.sourceQp, row.destQp].some((qp) => qp !== null && qpText(qp).startsWith(word)));
}

class ConnectionTable {
  constructor(box, open) {
    this.box = box;
    this.open = open;  // called with the row that was chosen
    this.rows = data.rows.map(rowOf);
    this.shown = this.rows;
    this.chosen = null;
    this.sort = null;
    this.printing = false;
    this.plotted = new Set(data.plots.flatMap((plot) => plot.half_flows).filter(Boolean).map((flow) => flow.id));
    this.addHeadings();
    box.addEventListener('scroll', () => this.draw());
    window.addEventListener('resize', () => this.draw());
    this.update();
  }

  hasPlots(row) {
    return this.plotted.has(row.one) || this.plotted.has(row.other);
  }

  rowOfHalfFlow(id) {
    return this.rows.find((row) => row.one === id || row.other === id);
  }

  addHeadings() {
    const line = element('tr');
    this.headings = kColumns.map((column) => {
      const heading = element('th', 'sorts ' + cellClass(column), column.title);
      heading.tabIndex = 0;
      const act = () => this.sortBy(column);
      heading.addEventListener('click', act);
      heading.addEventListener('keydown', (event) => { if (event.key === 'Enter') act(); });
      line.append(heading);
      return heading;
    });
    this.box.querySelector('thead').append(line);
  }

  // The first click shows the most of numbers, and the first of words.
  sortBy(column) {
    const falls = this.sort && this.sort.column === column ? !this.sort.falls : !column.left;
    this.sort = {column, falls};
    kColumns.forEach((each, i) => {
      if (each === column) this.headings[i].setAttribute('aria-sort', falls ? 'descending' : 'ascending');
      else this.headings[i].removeAttribute('aria-sort');
    });
    this.update();
  }

  filter(text, onlyTrouble) {
    const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(matcher);
    this.kept = (row) => (!onlyTrouble || row.trouble > 0) && tests.every((test) => test(row));
    this.update();
  }

  update() {
    this.shown = this.kept ? this.rows.filter(this.kept) : this.rows.slice();
    if (this.sort) {
      const {column, falls} = this.sort;
      this.shown.sort((a, b) => {
        const [x, y] = [column.value(a), column.value(b)];
        return x === null || y === null || !falls ? compare(x, y) : compare(y, x);
      });
    }
    this.box.scrollTop = 0;
    this.draw(true);
    let text = grouped(this.shown.length);
    if (this.shown.length !== this.rows.length) text += ' of ' + grouped(this.rows.length);
    if (data.all_rows > this.rows.length) text += ' (the worst of ' + grouped(data.all_rows) + ')';
    byId('row-count').textContent = text;
  }

  // A gap above and below stands for the rows that are not there.
  draw(anew) {
    const kHeight = 28, kMargin = 20, kPrinted = 40;
    let first = Math.max(0, Math.floor(this.box.scrollTop / kHeight) - kMargin);
    let last = Math.ceil((this.box.scrollTop + this.box.clientHeight) / kHeight) + kMargin;
    if (this.printing) [first, last] = [0, kPrinted];
    last = Math.min(this.shown.length, Math.max(last, kPrinted));
    if (!anew && this.first === first && this.last === last) return;
    [this.first, this.last] = [first, last];
    const lines = [];
    const gap = (rows) => {
      if (rows <= 0 || this.printing) return;
      const line = element('tr', 'space');
      const cell = element('td');
      cell.colSpan = kColumns.length;
      cell.style.height = rows * kHeight + 'px';
      line.append(cell);
      lines.push(line);
    };
    gap(first);
    for (let i = first; i < last; ++i) lines.push(this.line(this.shown[i]));
    gap(this.shown.length - last);
    this.box.querySelector('tbody').replaceChildren(...lines);
  }

  line(row) {
    const plotted = this.hasPlots(row);
    const line = element('tr', plotted ? 'plotted' : '');
    if (row === this.chosen) line.classList.add('chosen');
    kColumns.forEach((column, i) => {
      const text = column.text ? column.text(row) : column.value(row);
      const cell = element('td', cellClass(column));
      if (i === 0) cell.append(element('span', plotted ? 'dot' : 'dot off'));
      cell.append(String(text));
      if (text === '-') cell.classList.add('none');
      else if (column.state && column.value(row) > 0) cell.classList.add(column.state);
      line.append(cell);
    });
    if (plotted) {
      line.tabIndex = 0;
      line.addEventListener('click', () => this.open(row));
      line.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.open(row); });
    }
    return line;
  }

  choose(row) {
    this.chosen = row;
    this.draw(true);
  }

  print(printing) {
    this.printing = printing;
    this.draw(true);
  }
}
