// How long steps take on each side: bars of steps that take about the same time, the mean, and its interval.
(({draw, pictures}) => {
  const known = (value) => value !== null && value !== undefined;

  // A few steps that take much longer must not press the others together: they are drawn at the edge.
  function scaleOf(picture, context) {
    const all = picture.sides.flatMap((side) => [...side.values, side.mean]).filter(known);
    all.sort((p, q) => p - q);
    const low = all.length ? all[0] : 0,
      high = all.length ? all[all.length - 1] : 1,
      usual = all.length ? all[Math.floor(0.98 * (all.length - 1))] : high,
      cut = high > 2 * usual ? 1.3 * usual : high,
      margin = (cut - low) * 0.04 || cut * 0.1 || 1;
    const x = draw.scale([Math.max(0, low - margin), cut + margin], [8, context.width - 16]);
    return {x: x.clamp(true), beyond: cut < high ? high : null};
  }

  function binsOf(values, x, size) {
    const bins = new Map();
    values.forEach((value) => {
      const place = Math.round(x(value) / size);
      const bin = bins.get(place) || {at: place * size, least: value, most: value, n: 0};
      bins.set(place, bin);
      bin.n++;
      bin.least = Math.min(bin.least, value);
      bin.most = Math.max(bin.most, value);
    });
    return [...bins.values()].sort((p, q) => p.at - q.at);
  }

  function drawBins(group, side, index, base, x, context) {
    const size = Math.max(3, (x.range()[1] - x.range()[0]) / 160),
      bins = binsOf(side.values, x, size),
      unit = Math.min(size, 44 / (draw.max(bins, (bin) => bin.n) || 1)),
      share = side.values.length ? side.count / side.values.length : 1; // of many steps, some are in the data
    const place = {
      x: (bin) => bin.at - size / 2,
      y: (bin) => base - bin.n * unit,
      width: size - 0.5,
      height: (bin) => bin.n * unit,
      fill: context.ink(index ? 'b' : 'a'),
      'fill-opacity': 0.75
    };
    draw.marks(group, 'rect', bins, place, context, (bin) => {
      const steps = (share > 1 ? 'about ' : '') + draw.count(Math.round(bin.n * share), 'step'),
        times = draw.time(bin.least) + (bin.most > bin.least ? ' to ' + draw.time(bin.most) : '');
      return `${draw.sideName(context, index)}: ${steps}\n${times}`;
    });
  }

  function drawWords(group, side, index, top, context) {
    const narrow = context.width < 560,
      name = context.sides.length > 1 ? draw.sideName(context, index) + ': ' : '',
      words = `${name}mean ${draw.time(side.mean)} of ${draw.count(side.count, 'step')}`;
    const interval = known(side.low)
      ? `95 % interval ${draw.time(side.low)} to ${draw.time(side.high)}`
      : 'too few steps for an interval';
    const first = narrow ? words : words + ', ' + interval;
    draw.text(group, 8, top + 14, draw.fit(first, context.width - 16), context.ink('text'));
    if (narrow) {
      draw.text(group, 8, top + 30, draw.fit(interval, context.width - 16), context.ink('muted'));
    }
  }

  function drawSide(group, side, index, top, lane, x, context) {
    const base = top + lane - 26,
      [from, to] = x.range(),
      fill = context.ink('text');
    drawWords(group, side, index, top, context);
    draw.line(group, from, base, to, base, context.ink('line'));
    drawBins(group, side, index, base, x, context);
    if (known(side.low)) {
      const width = Math.max(2, x(side.high) - x(side.low));
      draw.add(group, 'rect', {x: x(side.low), y: base + 4, width, height: 6, fill, 'fill-opacity': 0.35});
    }
    if (known(side.mean)) {
      draw.line(group, x(side.mean), base - 48, x(side.mean), base + 12, fill).attr('stroke-width', 2);
    }
  }

  pictures.distribution = (svg, picture, context) => {
    const lane = context.width < 560 ? 108 : 92,
      {x, beyond} = scaleOf(picture, context),
      bottom = 4 + picture.sides.length * lane;
    draw.canvas(svg, context, bottom + 24);
    draw.axis(svg.append('g'), x, 4, bottom, context);
    picture.sides.forEach((side, index) => {
      drawSide(svg.append('g'), side, index, 4 + index * lane, lane, x, context);
    });
    if (beyond !== null) {
      const text = 'beyond the edge: up to ' + draw.time(beyond);
      draw.text(svg, context.width - 16, bottom - 2, text, context.ink('muted'), 'end');
    }
  };
})(tracedb);
