// What all pictures share: figures as text, colours, axes, legends. pictures/*.js draw static SVG from the data of the
// page, without asking for a layout. A picture is tracedb.pictures[kind](svg, picture, context):
//   svg      d3 selection of an empty <svg>; the function sets its viewBox
//   context  width: of the drawing, in pixels; sides: those of the page; ink(name): a colour; state: what the reader
//            chose in this picture (zoom, view), {} at first; tip(marks, text): what a mark tells of itself
'use strict';
const tracedb = {draw: {}, pictures: {}, page: {}};

(({draw}) => {
  // Classes of one colour are told apart by their place and text; the palette is that of Okabe and Ito. Nothing else has
  // these colours: changes are violet and red, idle time is brown, sides are grey and black.
  const COLOURS = [
    [/^attention/, 'green'],
    [/^(moe_gemm|experts)/, 'sky'],
    [/gemm|convolution|^ssm/, 'blue'],
    [/^comm|exposed comm/, 'vermilion'],
    [/^(norm|softmax|reduce|sort)/, 'yellow'],
    [/^(elementwise|activation|rotary|optimizer|triton_fused)/, 'purple'],
    [/^(quantise|kv_cache|moe_|sampling|embedding)/, 'amber'],
    [/idle|^gap/, 'idle']
  ];
  draw.classColour = (name) => (COLOURS.find(([pattern]) => pattern.test(name)) || [null, 'grey'])[1];

  // Three significant ones.
  function digits(value) {
    const size = Math.abs(value);
    return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
  }

  const TIMES = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'us'],
    [1, 'ns']
  ];
  // What no clock makes a time, of AI Engines.
  draw.countCycles = () =>
    ['G cycles', 'M cycles', 'k cycles', 'cycles'].forEach((unit, i) => {
      TIMES[i][1] = unit;
    });
  draw.time = (ns) => {
    if (ns === null || ns === undefined) {
      return 'unknown';
    }
    // 999.6 us are "1000 us" in three digits, hence 1.00 ms.
    const [size, unit] = TIMES.find(([size]) => Math.abs(ns) / size >= 0.9995) || TIMES[3];
    return (size > 1 ? digits(ns / size) : Math.round(ns)) + ' ' + unit;
  };
  draw.change = (ns) => (ns > 0 ? '+' : '') + draw.time(ns);
  draw.percent = (part, whole) => (whole ? digits((100 * part) / whole) + ' %' : 'unknown');
  // 1.5 T, and without a prefix "12 ": the unit follows.
  draw.number = (value) => {
    const power = [5, 4, 3, 2, 1].find((power) => Math.abs(value) >= 1000 ** power * 0.9995) || 0;
    return Number((value / 1000 ** power).toPrecision(3)) + ' ' + ['', 'k', 'M', 'G', 'T', 'P'][power];
  };
  draw.count = (value, thing) =>
    (value === Math.round(value) ? value : digits(value)) + ' ' + thing + (value === 1 ? '' : 's');

  // Widths at 12 px, rather too large than too small: fonts differ, and none can be asked here.
  const WIDTHS = [
    [/[iljI.,:;'|!]/, 3.9],
    [/[ frt()[\]/-]/, 4.9],
    [/[mMwW@%]/, 11.6],
    [/[A-Z_&<>=+]/, 8.8],
    [/[\0-\u024f]/, 7.6]
  ];
  const widths = {};
  function widthOf(letter) {
    widths[letter] = widths[letter] || (WIDTHS.find(([pattern]) => pattern.test(letter)) || [null, 12])[1];
    return widths[letter];
  }
  draw.width = (text) => d3.sum(text.split(''), widthOf);

  // A text that fits into so many pixels, cut in the middle: the ends of kernel names differ. '' where nothing would be left.
  draw.fit = (text, pixels) => {
    if (text.length * 3.9 <= pixels && draw.width(text) <= pixels) {
      return text;
    }
    const room = pixels - 12;
    let head = 0,
      tail = text.length,
      used = 0;
    while (tail > 0 && used + widthOf(text[tail - 1]) <= room / 3) {
      used += widthOf(text[--tail]);
    }
    while (head < tail && used + widthOf(text[head]) <= room) {
      used += widthOf(text[head++]);
    }
    return head + text.length - tail < 3 ? '' : text.slice(0, head) + '…' + text.slice(tail);
  };

  // Kernel names without return type, namespaces and argument lists; the tooltip has the whole.
  draw.shortName = (name) => {
    const text = name
      .slice(0, 4096)
      .replace(/^void /, '')
      .replace(/\(anonymous namespace\)::/g, '');
    const [path, more] = text.split(/[<(]/);
    return (more !== undefined && !/[\s/]/.test(path) && path.split('::').pop()) || text;
  };

  draw.sideName = (context, index) => {
    const side = context.sides[index] || {};
    return side.short || side.label || 'AB'.charAt(index);
  };

  // "H100: 16 kernels"; of one trace without its name. Bold letters are wider than others.
  draw.sideTitle = (context, index, text) => {
    const name = context.sides.length > 1 ? `${draw.sideName(context, index)}: ` : '';
    return draw.fit(name + text, context.width * 0.9);
  };

  // A child, or children, with these attributes.
  draw.set = (elements, attributes) => {
    for (const [name, value] of Object.entries(attributes)) {
      elements.attr(name, value);
    }
    return elements;
  };
  draw.add = (parent, tag, attributes) => draw.set(parent.append(tag), attributes);

  draw.canvas = (svg, {width}, high) => {
    const height = Math.ceil(high);
    draw.set(svg, {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      'font-family': 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif',
      'font-size': 12
    });
  };

  draw.text = (parent, x, y, text, fill, anchor) =>
    draw.add(parent, 'text', {x, y, fill, 'text-anchor': anchor || 'start'}).text(text);

  draw.line = (parent, x1, y1, x2, y2, stroke) => draw.add(parent, 'line', {x1, y1, x2, y2, stroke});

  draw.scale = (domain, range) => d3.scaleLinear().domain(domain).range(range);

  // Ticks of a linear scale with grid lines from top to bottom and texts below. All labels in the unit of the largest.
  draw.axis = (parent, scale, top, bottom, context) => {
    const [from, to] = scale.range();
    const wanted = Math.max(2, Math.floor((to - from) / 90));
    const format = draw.tickTime(scale.domain());
    let end = -Infinity; // of the text before
    scale.ticks(wanted).forEach((tick) => {
      const text = format(tick);
      const half = draw.width(text) / 2;
      const x = Math.max(half, Math.min(context.width - half, scale(tick)));
      draw.line(parent, scale(tick), top, scale(tick), bottom, context.ink('line')).attr('stroke-opacity', 0.6);
      if (x - half > end + 4) {
        draw.text(parent, x, bottom + 15, text, context.ink('muted'), 'middle');
        end = x + half;
      }
    });
  };

  // Times on an axis: short, and all in one unit.
  draw.tickTime = (domain) => {
    const most = Math.max(...domain.map(Math.abs));
    const [size, unit] = TIMES.find(([size]) => most >= size) || TIMES[3];
    return (ns) => Number((ns / size).toPrecision(6)) + ' ' + unit;
  };

  // Squares with names, in lines as wide as the drawing; entries: [text, colour, opacity]. Returns the height.
  draw.legend = (parent, top, entries, context) => {
    let x = 0,
      y = top;
    entries.forEach(([name, fill, opacity = 1]) => {
      const text = draw.fit(name, context.width - 30),
        width = draw.width(text) + 28;
      if (x > 0 && x + width > context.width) {
        x = 0;
        y += 18;
      }
      draw.add(parent, 'rect', {x, y, width: 11, height: 11, rx: 2, fill, 'fill-opacity': opacity});
      draw.text(parent, x + 16, y + 10, text, context.ink('muted'));
      x += width;
    });
    return entries.length ? y - top + 22 : 0;
  };

  // Entries of a legend: one for each colour of classes, with the classes that have it, the longest first.
  draw.classEntries = (times, context) => {
    const byColour = new Map();
    draw.longestFirst(times).forEach((name) => {
      const colour = draw.classColour(name);
      byColour.set(colour, [...(byColour.get(colour) || []), name]);
    });
    return [...byColour].map(([colour, names]) => [
      names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : ''),
      context.ink(colour)
    ]);
  };
  // {name: sum} of the items that have the name.
  draw.sums = (items, nameOf, value) => {
    const sums = {};
    items.forEach((item) => {
      sums[nameOf(item)] = (sums[nameOf(item)] || 0) + value(item);
    });
    return sums;
  };
  // Names of sums, that of the largest first.
  draw.longestFirst = (times) => Object.keys(times).sort((p, q) => times[q] - times[p] || (p < q ? -1 : 1));

  // A group of marks: one element per item of data, with what it tells; attributes are values or functions of the item.
  draw.marks = (parent, tag, data, attributes, context, tell) => {
    const group = parent.append('g').attr('class', 'marks');
    const marks = draw.set(group.selectAll(tag).data(data).enter().append(tag), attributes);
    context.tip(marks, tell);
    return marks;
  };

  // 0 for an empty list.
  draw.max = (list, value) => list.reduce((most, item, i) => Math.max(most, value(item, i)), 0);

  // 0 .. 1 by viridis, which reads the same for the colour-blind and in grey.
  draw.heat = (share) => d3.interpolateViridis(0.05 + 0.93 * Math.max(0, Math.min(1, share)));
  // Returns the height. A note that is too long to stand beside it stands below, in lines.
  draw.heatKey = (parent, x, y, most, context, note = '') => {
    for (let i = 0; i < 40; i++) {
      draw.add(parent, 'rect', {x: x + i * 3, y, width: 3.2, height: 10, fill: draw.heat(i / 39)});
    }
    draw.text(parent, x, y + 23, '0', context.ink('muted'));
    draw.text(parent, x + 120, y + 23, draw.time(most), context.ink('muted'), 'middle');
    if (draw.width(note) <= context.width - x - 128) {
      draw.text(parent, x + 128, y + 10, note, context.ink('muted'));
      return 34;
    }
    const lines = [''];
    note.split(' ').forEach((word) => {
      if (draw.width(`${lines.at(-1)} ${word}`) > context.width) {
        lines.push('');
      }
      lines.push(`${lines.pop()} ${word}`.trim());
    });
    lines.forEach((line, i) => draw.text(parent, 0, y + 40 + 15 * i, line, context.ink('muted')));
    return 34 + 15 * lines.length;
  };
})(tracedb);
