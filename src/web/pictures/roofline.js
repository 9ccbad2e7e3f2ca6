// Matrix products by their operations per byte and per second, on axes of powers, below the roofs of the device: for each
// type of operands what its memory can feed, up to what it can compute.
(({draw, pictures}) => {
  const TOP = 8,
    BOTTOM = 348,
    LEFT = 84;

  // Points that can be drawn on such axes, the large ones first: small ones come above them.
  function pointsOf(picture) {
    return picture.points
      .map(([name, kind, flops, bytes, ns, n]) => ({
        name: picture.names[name],
        class: picture.classes[kind],
        x: flops / bytes,
        y: (flops / ns) * 1e9,
        ns,
        n,
        total: ns * n
      }))
      .filter(({x, y}) => x > 0 && y > 0 && isFinite(x) && isFinite(y))
      .sort((p, q) => q.total - p.total);
  }

  function scaleOf(values, range) {
    const [least = 1, most = 10] = d3.extent(values);
    return d3
      .scaleLog()
      .domain([least / 1.6, most * 1.6])
      .range(range);
  }

  function powersOf(scale) {
    return scale.ticks(6).filter((value) => {
      const power = Math.log(value) / Math.LN10;
      return Math.abs(power - Math.round(power)) < 1e-6;
    });
  }

  function drawAxes(grid, x, y, context) {
    const right = context.width - 12,
      muted = context.ink('muted');
    powersOf(x).forEach((value) => {
      draw.line(grid, x(value), TOP, x(value), BOTTOM, context.ink('line'));
      draw.text(grid, x(value), BOTTOM + 15, draw.number(value).replace(/ $/, ''), muted, 'middle');
    });
    powersOf(y).forEach((value) => {
      draw.line(grid, LEFT, y(value), right, y(value), context.ink('line'));
      draw.text(grid, LEFT - 6, y(value) + 4, draw.number(value) + 'FLOP/s', muted, 'end').attr('font-size', 10);
    });
    draw.text(grid, right, BOTTOM + 32, 'arithmetic intensity, FLOP/byte', muted, 'end');
  }

  // From where its memory bounds it to the right edge; two roofs may share the first part.
  function drawRoofs(group, roofs, x, y, context) {
    const [left, right] = x.domain(),
      bottom = y.domain()[0];
    roofs.forEach(([type, flops, bytes]) => {
      const from = Math.max(left, bottom / bytes),
        ridge = Math.min(right, Math.max(from, flops / bytes));
      if (from * bytes < flops) {
        draw.line(group, x(from), y(from * bytes), x(ridge), y(ridge * bytes), context.ink('muted'));
      }
      if (ridge >= right) return;
      draw.line(group, x(ridge), y(flops), x(right), y(flops), context.ink('muted'));
      draw.text(group, x(right), y(flops) - 4, `${type}: ${draw.number(flops)}FLOP/s`, context.ink('muted'), 'end');
    });
  }

  function tell(point) {
    const launches = point.n + (point.n === 1 ? ' launch of ' : ' launches of '),
      speed = `${draw.number(point.y)}FLOP/s, ${draw.number(point.x)}FLOP/byte`;
    return `${point.name}\n${point.class}, ${launches}${draw.time(point.ns)}\n${speed}`;
  }

  pictures.roofline = (svg, picture, context) => {
    const points = pointsOf(picture),
      roofs = picture.roofs || [],
      edges = {x: roofs.map(([, flops, bytes]) => flops / bytes), y: roofs.map(([, flops]) => flops)},
      scale = (key, range) => scaleOf([...points.map((point) => point[key]), ...edges[key]], range),
      x = scale('x', [LEFT, context.width - 12]),
      y = scale('y', [BOTTOM, TOP]);
    drawAxes(svg.append('g'), x, y, context);
    drawRoofs(svg.append('g'), roofs, x, y, context);
    const classes = draw.sums(points, (point) => point.class, (point) => point.total);
    const place = {
      cx: (point) => x(point.x),
      cy: (point) => y(point.y),
      r: (point) => 2.5 + 11 * Math.sqrt(point.total / points[0].total),
      fill: (point) => context.ink(draw.classColour(point.class)),
      'fill-opacity': 0.7,
      stroke: context.ink('paper')
    };
    draw.marks(svg, 'circle', points, place, context, tell);
    const legend = draw.legend(svg.append('g'), BOTTOM + 44, draw.classEntries(classes, context), context);
    draw.canvas(svg, context, BOTTOM + 46 + legend);
  };
})(tracedb);
