// What all pictures share: figures as text, colours, axes, legends. The files of this folder draw static SVG from the
// data of the page, without asking for a layout. A picture
// is tracedb.pictures[kind](svg, picture, context):
//   svg      d3 selection of an empty <svg>; the function sets its viewBox
//   context  width: of the drawing, in pixels; sides: those of the page; ink(name): a colour; state: what the reader
//            chose in this picture (zoom, view), {} at first; tip(marks, text): what a mark tells of itself
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});

  // Classes of one colour are told apart by their place and text; the palette is that of Okabe and Ito. Nothing else has
  // these colours: changes are violet and red, idle time is brown, sides are grey and black.
  var COLOURS = [
    [/^attention/, 'green'],
    [/^(moe_gemm|experts)/, 'sky'],
    [/gemm|convolution|^ssm/, 'blue'],
    [/^comm|exposed comm/, 'vermilion'],
    [/^(norm|softmax|reduce|sort)/, 'yellow'],
    [/^(elementwise|activation|rotary|optimizer|triton_fused)/, 'purple'],
    [/^(quantise|kv_cache|moe_|sampling|embedding)/, 'amber'],
    [/idle|^gap/, 'idle']
  ];
  draw.classColour = function (name) {
    for (var i = 0; i < COLOURS.length; i++) {
      if (COLOURS[i][0].test(name)) {
        return COLOURS[i][1];
      }
    }
    return 'grey';
  };

  // Colours of a file that stands alone; on the page the style sheet has one of each name for light and for dark.
  draw.LIGHT = {
    text: '#1b1f24',
    muted: '#59636e',
    line: '#c9d1d9',
    faint: '#eef1f4',
    paper: '#ffffff',
    a: '#6e7781',
    b: '#1b1f24',
    faster: '#5b2a9d',
    slower: '#a6192e',
    green: '#009e73',
    sky: '#56b4e9',
    blue: '#0072b2',
    vermilion: '#d55e00',
    yellow: '#d9cb1a',
    purple: '#cc79a7',
    amber: '#e69f00',
    grey: '#8b949e',
    idle: '#e0d2bd',
    hostwait: '#5c3a1e',
    kernelwait: '#8c6239',
    graphgap: '#b08d57',
    otherwait: '#cfb58a',
    onblue: '#ffffff',
    ondark: '#101418'
  };

  function digits(value) {
    // three significant ones
    var size = Math.abs(value);
    return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
  }

  function scaled(ns, steps) {
    for (var i = 0; i < steps.length - 1; i++) {
      // 999.6 us are "1000 us" in three digits, hence 1.00 ms.
      if (Math.abs(ns) / steps[i][0] >= 0.9995) {
        return digits(ns / steps[i][0]) + ' ' + steps[i][1];
      }
    }
    return Math.round(ns) + ' ' + steps[steps.length - 1][1];
  }

  var TIMES = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'us'],
    [1, 'ns']
  ];
  // What no clock makes a time, of AI Engines.
  draw.countCycles = function () {
    ['G cycles', 'M cycles', 'k cycles', 'cycles'].forEach(function (unit, i) {
      TIMES[i][1] = unit;
    });
  };
  draw.time = function (ns) {
    return ns === null || ns === undefined ? 'unknown' : ns === 0 ? '0 ' + TIMES[3][1] : scaled(ns, TIMES);
  };
  draw.change = function (ns) {
    return (ns > 0 ? '+' : '') + draw.time(ns);
  };
  draw.percent = function (part, whole) {
    return whole ? digits((100 * part) / whole) + ' %' : 'unknown';
  };
  // 1.5 T, and without a prefix "12 ": the unit follows.
  draw.number = function (value) {
    var prefixes = [
      [1e15, 'P'],
      [1e12, 'T'],
      [1e9, 'G'],
      [1e6, 'M'],
      [1e3, 'k'],
      [0, '']
    ];
    for (var i = 0; value < prefixes[i][0] * 0.9995; i++) {}
    return String(Number((value / (prefixes[i][0] || 1)).toPrecision(3))) + ' ' + prefixes[i][1];
  };
  draw.count = function (value, thing) {
    return (value === Math.round(value) ? String(value) : digits(value)) + ' ' + thing + (value === 1 ? '' : 's');
  };

  // Widths at 12 px, rather too large than too small: fonts differ, and none can be asked here.
  var WIDTHS = [];
  for (var code = 0; code < 0x250; code++) {
    var letter = String.fromCharCode(code);
    WIDTHS.push(
      /[iljI.,:;'|!]/.test(letter)
        ? 3.9
        : /[ frt()\[\]\/-]/.test(letter)
          ? 4.9
          : /[mMwW@%]/.test(letter)
            ? 11.6
            : /[A-Z_&<>=+]/.test(letter)
              ? 8.8
              : 7.6
    );
  }
  function widthAt(text, i) {
    return WIDTHS[text.charCodeAt(i)] || 12;
  }
  draw.width = function (text) {
    var width = 0;
    for (var i = 0; i < text.length; i++) {
      width += widthAt(text, i);
    }
    return width;
  };

  // A text that fits into so many pixels, cut in the middle: the ends of kernel names differ. '' where nothing would be left.
  draw.fit = function (text, pixels) {
    if (text.length * 3.9 <= pixels && draw.width(text) <= pixels) {
      return text;
    }
    var room = pixels - 12,
      head = 0,
      tail = text.length,
      used = 0;
    while (tail > 0 && used + widthAt(text, tail - 1) <= room / 3) {
      used += widthAt(text, --tail);
    }
    while (head < tail && used + widthAt(text, head) <= room) {
      used += widthAt(text, head++);
    }
    return head + text.length - tail < 3 ? '' : text.slice(0, head) + '…' + text.slice(tail);
  };

  // Kernel names without return type, namespaces and argument lists; the tooltip has the whole.
  draw.shortName = function (name) {
    if (name.length > 4096) {
      name = name.slice(0, 4096);
    }
    var text = name.replace(/^void /, '').replace(/\(anonymous namespace\)::/g, ''),
      last;
    if (/[<(]/.test(text) && !/[\s\/]/.test(text.split(/[<(]/)[0])) {
      last = text.split(/[<(]/)[0].split('::').pop();
      if (last) {
        return last;
      }
    }
    return text;
  };

  draw.sideName = function (context, index) {
    var side = context.sides[index] || {};
    return side.short || side.label || 'AB'.charAt(index);
  };

  // "H100: 16 kernels"; of one trace without its name. Bold letters are wider than others.
  draw.sideTitle = function (context, index, text) {
    var name = context.sides.length > 1 ? draw.sideName(context, index) + ': ' : '';
    return draw.fit(name + text, context.width * 0.9);
  };

  draw.canvas = function (svg, context, height) {
    return svg
      .attr('viewBox', '0 0 ' + context.width + ' ' + Math.ceil(height))
      .attr('width', context.width)
      .attr('height', Math.ceil(height))
      .attr('font-family', 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif')
      .attr('font-size', 12);
  };

  draw.text = function (parent, x, y, text, colour, anchor) {
    return parent
      .append('text')
      .attr('x', x)
      .attr('y', y)
      .attr('fill', colour)
      .attr('text-anchor', anchor || 'start')
      .text(text);
  };

  draw.line = function (parent, x1, y1, x2, y2, colour) {
    return parent.append('line').attr('x1', x1).attr('y1', y1).attr('x2', x2).attr('y2', y2).attr('stroke', colour);
  };

  // Ticks of a linear scale with grid lines from top to bottom and texts below. All labels in the unit of the largest.
  draw.axis = function (parent, scale, top, bottom, context) {
    var range = scale.range();
    var wanted = Math.max(2, Math.floor((range[1] - range[0]) / 90));
    var format = draw.tickTime(scale.domain());
    var end = -Infinity; // of the text before
    scale.ticks(wanted).forEach(function (tick) {
      var text = format(tick);
      var half = draw.width(text) / 2;
      var x = Math.max(half, Math.min(context.width - half, scale(tick)));
      draw.line(parent, scale(tick), top, scale(tick), bottom, context.ink('line')).attr('stroke-opacity', 0.6);
      if (x - half > end + 4) {
        draw.text(parent, x, bottom + 15, text, context.ink('muted'), 'middle');
        end = x + half;
      }
    });
  };

  // Times on an axis: short, and all in one unit.
  draw.tickTime = function (domain) {
    var most = Math.max(Math.abs(domain[0]), Math.abs(domain[1]));
    var unit = most >= 1e9 ? TIMES[0] : most >= 1e6 ? TIMES[1] : most >= 1e3 ? TIMES[2] : TIMES[3];
    return function (ns) {
      return String(Number((ns / unit[0]).toPrecision(6))) + ' ' + unit[1];
    };
  };

  // Squares with names, in lines as wide as the drawing; entries: [text, colour, opacity]. Returns the height.
  draw.legend = function (parent, y, entries, context) {
    var x = 0,
      line = 0;
    entries.forEach(function (entry) {
      var text = draw.fit(entry[0], context.width - 30),
        width = draw.width(text) + 28;
      if (x > 0 && x + width > context.width) {
        x = 0;
        line++;
      }
      parent
        .append('rect')
        .attr('x', x)
        .attr('y', y + line * 18)
        .attr('width', 11)
        .attr('height', 11)
        .attr('rx', 2)
        .attr('fill', entry[1])
        .attr('fill-opacity', entry[2] === undefined ? 1 : entry[2]);
      draw.text(parent, x + 16, y + line * 18 + 10, text, context.ink('muted'));
      x += width;
    });
    return entries.length ? (line + 1) * 18 + 4 : 0;
  };

  // A group of marks: one element per item of data, with what it tells. `place` sets its attributes.
  draw.marks = function (parent, tag, data, place, context, tell) {
    var marks = parent.append('g').attr('class', 'marks').selectAll(tag).data(data).enter().append(tag);
    place(marks);
    context.tip(marks, tell);
    return marks;
  };

  draw.sum = function (list, value) {
    var sum = 0;
    for (var i = 0; i < list.length; i++) {
      sum += value ? value(list[i], i) : list[i];
    }
    return sum;
  };
  draw.max = function (list, value) {
    var most = 0;
    for (var i = 0; i < list.length; i++) {
      most = Math.max(most, value ? value(list[i], i) : list[i]);
    }
    return most;
  };
})();
