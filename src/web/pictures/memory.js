// Memory over time: what is allocated as an area, of each piece of the time the most; what is reserved as a line above it.
(({draw, pictures}) => {
  const TOP = 8,
    BOTTOM = 208,
    LEFT = 84;

  // Between two pieces stays what the first of them left.
  function areasOf(points) {
    return points.flatMap(([first, last, most, left], i) => {
      const next = i + 1 < points.length ? points[i + 1][0] : last;
      return [
        {from: first, to: last, bytes: most},
        {from: last, to: next, bytes: left}
      ];
    });
  }

  pictures.memory = (svg, picture, context) => {
    const right = context.width - 12,
      areas = areasOf(picture.points),
      reserved = picture.points.filter((point) => point[4] > 0),
      most = Math.max(draw.max(areas, (area) => area.bytes) || 1, draw.max(reserved, (point) => point[4]) || 1),
      x = draw.scale([areas[0].from, Math.max(areas[areas.length - 1].to, areas[0].from + 1)], [LEFT, right]),
      y = draw.scale([Math.min(0, d3.min(areas, (area) => area.bytes)), most * 1.05], [BOTTOM, TOP]),
      grid = svg.append('g');
    draw.axis(grid, x, TOP, BOTTOM, context);
    y.ticks(5).forEach((bytes) => {
      draw.line(grid, LEFT, y(bytes), right, y(bytes), context.ink('line'));
      draw.text(grid, LEFT - 6, y(bytes) + 4, draw.number(bytes) + 'B', context.ink('muted'), 'end');
    });
    const place = {
      x: (area) => x(area.from),
      y: (area) => y(Math.max(0, area.bytes)),
      width: (area) => Math.max(1, x(area.to) - x(area.from)),
      height: (area) => Math.abs(y(area.bytes) - y(0)),
      fill: context.ink('a'),
      'fill-opacity': 1 // neighbours overlap where they are narrow
    };
    draw.marks(svg, 'rect', areas, place, context, (area) => {
      return `${draw.number(area.bytes)}B allocated\n${draw.time(area.from)} to ${draw.time(area.to)}`;
    });
    reserved.forEach((point, i) => {
      const to = i + 1 < reserved.length ? reserved[i + 1][1] : point[1]; // of the last event of each piece
      draw.line(grid, x(point[1]), y(point[4]), Math.max(x(to), x(point[1]) + 1), y(point[4]), context.ink('text'));
    });
    const entries = [['allocated', context.ink('a')], ...(reserved.length ? [['reserved', context.ink('text')]] : [])],
      legend = draw.legend(svg.append('g'), BOTTOM + 32, entries, context);
    draw.canvas(svg, context, BOTTOM + 34 + legend);
  };
})(tracedb);
