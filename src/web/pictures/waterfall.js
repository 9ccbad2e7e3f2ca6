// From the time of a step on one side to that of the other: each cause pushes the bar to the left (faster) or to the
// right. Of one trace: from nothing to the time of a step.
(({draw, pictures}) => {
  const HEIGHT = 16;

  function barsOf({start, rows, end}, compares) {
    let at = start.value;
    const bars = rows.map((item) => ({label: item.label, from: at, to: (at += item.value), change: item.value, item}));
    const total = ({label, value}) => ({label, from: 0, to: value, total: true});
    return [...(compares ? [total(start)] : []), ...bars, total(end)];
  }

  // A change of some percent would be invisible on an axis from zero: then the axis begins later, and says so.
  function domainOf(bars) {
    const low = d3.min(bars, (bar) =>
        Math.min(bar.to, bar.total ? bar.to : bar.from + Math.min(0, bar.item.low || 0))
      ),
      to = draw.max(bars, (bar) => Math.max(bar.from, bar.to, bar.from + ((bar.item && bar.item.high) || 0))),
      broken = low < to && low > 0.8 * to;
    return {from: broken ? Math.max(0, low - 0.35 * (to - low)) : Math.min(0, low), to, broken};
  }

  function colour(bar, compares) {
    if (bar.total) {
      return 'grey';
    }
    if (compares) {
      return bar.change > 0 ? 'slower' : 'faster';
    }
    return bar.item.class === 'idle' ? 'idle' : draw.classColour(bar.label);
  }

  function figure(bar, compares) {
    return bar.total ? draw.time(bar.to) : compares ? draw.change(bar.change) : draw.time(bar.change);
  }

  function tell(bar, compares, whole) {
    const text = bar.label + ': ' + figure(bar, compares);
    if (bar.total) {
      return text;
    }
    const way = bar.change > 0 ? 'slower' : 'faster',
      more = compares ? way : `${draw.percent(bar.change, whole.to)} of the ${whole.label}`;
    return `${text}, ${more}` + (bar.item.detail ? '\n' + bar.item.detail : '');
  }

  function drawBars(svg, bars, at, context) {
    const compares = context.sides.length > 1,
      whole = bars[bars.length - 1];
    const place = {
      x: (bar) => at.x(Math.min(bar.from, bar.to)),
      y: (bar, i) => at.y(i),
      width: (bar) => Math.max(1.5, Math.abs(at.x(bar.to) - at.x(bar.from))),
      height: HEIGHT,
      fill: (bar) => context.ink(colour(bar, compares)),
      'fill-opacity': (bar) => (bar.item && bar.item.class === 'rest' ? 0.5 : 1)
    };
    draw.marks(svg, 'rect', bars, place, context, (bar) => tell(bar, compares, whole));
  }

  // Of what the change may be, where it is known.
  function drawWhisker(words, bar, i, at, context) {
    if (!bar.item || bar.item.low === undefined) {
      return;
    }
    const y = at.y(i) + HEIGHT / 2,
      ends = [at.x(bar.from + bar.item.low), at.x(bar.from + bar.item.high)];
    draw.line(words, ends[0], y, ends[1], y, context.ink('text'));
    ends.forEach((end) => draw.line(words, end, y - 4, end, y + 4, context.ink('text')));
  }

  function drawWords(words, bar, i, at, context) {
    const y = at.y(i),
      ink = context.ink,
      weight = bar.total ? 600 : 400,
      high = bar.item && bar.item.high !== undefined ? bar.from + bar.item.high : bar.to,
      end = Math.max(at.x(bar.from), at.x(bar.to), at.x(high)),
      side = at.narrow ? [0, y - 4, context.width, 'start'] : [at.left - 8, y + 12, at.left - 8, 'end'],
      label = draw.fit(bar.label, side[2] * (bar.total ? 0.9 : 1));
    draw.text(words, side[0], side[1], label, ink('text'), side[3]).attr('font-weight', weight);
    draw.text(words, end + 5, y + 12, figure(bar, context.sides.length > 1), ink('text')).attr('font-weight', weight);
    if (i > 0) {
      const x = at.x(bar.total ? bar.to : bar.from);
      draw.line(words, x, at.y(i - 1) + HEIGHT, x, y, ink('muted'));
    }
    if (bar.total && at.broken) {
      const teeth = `M${at.left + 6} ${y - 1}l4 6l-4 6l4 6`; // where the bar is cut
      draw.add(words, 'path', {d: teeth, fill: 'none', stroke: ink('paper'), 'stroke-width': 3});
    }
  }

  pictures.waterfall = (svg, picture, context) => {
    const narrow = context.width < 480,
      row = narrow ? 38 : 24,
      left = narrow ? 0 : Math.min(250, Math.max(178, context.width * 0.26)),
      bars = barsOf(picture, context.sides.length > 1),
      {from, to, broken} = domainOf(bars),
      bottom = 6 + bars.length * row;
    const scale = draw.scale([from, to], [left, Math.max(left + 40, context.width - 92)]);
    const x = (time) => scale(Math.max(from, time)),
      y = (i) => 6 + i * row + (narrow ? 17 : 4),
      at = {left, narrow, broken, x, y};
    draw.canvas(svg, context, bottom + 26 + (broken ? 18 : 0));
    draw.axis(svg.append('g'), scale, 6, bottom, context);
    drawBars(svg, bars, at, context);
    const words = svg.append('g');
    bars.forEach((bar, i) => drawWords(words, bar, i, at, context));
    bars.forEach((bar, i) => drawWhisker(words, bar, i, at, context));
    if (broken) {
      const text = `The axis begins at ${draw.time(from)}, not at zero.`;
      draw.text(words, left, bottom + 34, draw.fit(text, context.width - left), context.ink('muted'));
    }
  };
})(tracedb);
