// Runs of either side as marks on an axis, a row for each measure: rings of the baseline above, squares of the candidate
// below, their means, and the interval of the change from the baseline's mean.
(({draw, pictures}) => {
  const ROW = 92,
    LANE = 16;

  function scaleOf(row, context) {
    const mean = row.means[0],
      ends = row.low === undefined ? [] : [mean + row.low, mean + row.high],
      all = [...row.a, ...row.b, ...row.means, ...ends],
      low = d3.min(all),
      high = d3.max(all),
      margin = 0.06 * (high - low) || 1;
    return draw.scale([low - margin, high + margin], [10, context.width - 14]);
  }

  function drawLane(svg, row, index, y, x, context) {
    const names = index ? row.b_names : row.a_names,
      runs = (index ? row.b : row.a).map((value, i) => ({value, name: names[i]})),
      tell = (run) => `${draw.sideName(context, index)}, ${run.name}: ${draw.time(run.value)}`,
      ink = context.ink(index ? 'b' : 'a'),
      mean = x(row.means[index]);
    if (index) {
      const place = {x: (run) => x(run.value) - 4, y: y - 4, width: 8, height: 8, fill: ink, 'fill-opacity': 0.75};
      draw.marks(svg, 'rect', runs, place, context, tell);
    } else {
      const place = {cx: (run) => x(run.value), cy: y, r: 4.5, fill: 'none', stroke: ink, 'stroke-width': 2};
      draw.marks(svg, 'circle', runs, {...place, 'pointer-events': 'all'}, context, tell);
    }
    draw.line(svg, mean, y - 8, mean, y + 8, context.ink('text')).attr('stroke-width', 2);
  }

  function drawInterval(svg, row, y, x, context) {
    if (row.low === undefined) {
      return '';
    }
    const [mean] = row.means,
      ink = context.ink('text'),
      from = x(mean + row.low),
      to = x(mean + row.high);
    draw.line(svg, from, y, to, y, ink).attr('stroke-width', 2);
    [from, to].forEach((end) => draw.line(svg, end, y - 4, end, y + 4, ink).attr('stroke-width', 2));
    return `, 95 %: ${draw.change(row.low)} to ${draw.change(row.high)}`;
  }

  pictures.dots = (svg, {rows}, context) => {
    const key = draw.legend(
      svg.append('g'),
      0,
      [0, 1].map((index) => [draw.sideName(context, index) + (index ? ' (squares)' : ' (rings)'), context.ink('ab'[index])]),
      context
    );
    draw.canvas(svg, context, key + rows.length * ROW + 4);
    rows.forEach((row, i) => {
      const top = key + i * ROW,
        x = scaleOf(row, context),
        group = svg.append('g');
      draw.axis(group, x, top + 20, top + 68, context);
      drawLane(group, row, 0, top + 20 + LANE * 0.6, x, context);
      drawLane(group, row, 1, top + 20 + LANE * 1.6, x, context);
      const interval = drawInterval(group, row, top + 20 + LANE * 2.6, x, context),
        text = `${row.label}: ${draw.change(row.means[1] - row.means[0])}${interval}`;
      draw.text(group, 0, top + 14, draw.fit(text, context.width), context.ink('text'));
    });
  };
})(tracedb);
