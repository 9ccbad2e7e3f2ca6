// Kernel time by operation class: a bar for each side, cut where one kernel ends and the next begins.
(({draw, pictures}) => {
  // Classes with their kernels, those that take most time first.
  function groupsOf(picture, two) {
    const groups = picture.classes.map((name, index) => ({name, index, kernels: [], sums: [0, 0]}));
    picture.rows.forEach((row) => {
      const ns = [row[2] || 0, two ? row[3] || 0 : 0],
        {kernels, sums} = groups[row[0]];
      kernels.push({name: picture.names[row[1]], ns});
      sums[0] += ns[0];
      sums[1] += ns[1];
    });
    return groups
      .filter((group) => group.kernels.length)
      .sort((p, q) => Math.max(...q.sums) - Math.max(...p.sums) || p.index - q.index);
  }

  function tell(group, kernel, at, context) {
    const [a, b] = kernel.ns.map(draw.time),
      name = (side) => draw.sideName(context, side);
    const times = at.two
      ? `${name(0)} ${a}, ${name(1)} ${b}, change ${draw.change(kernel.ns[1] - kernel.ns[0])}`
      : `${a}, ${draw.percent(kernel.ns[0], at.total)} of the kernel time`;
    return `${group.name}: ${kernel.name}\n${times}`;
  }

  function drawSide(svg, group, side, y, at, context) {
    let end = 0;
    const parts = group.kernels.map((kernel) => ({kernel, from: end, to: (end += kernel.ns[side])}));
    const width = (part) => at.x(part.to) - at.x(part.from);
    const place = {
      x: (part) => at.x(part.from),
      y: y + side * (at.bar + 1),
      width: (part) => Math.max(0.5, width(part)),
      height: at.bar,
      fill: context.ink(draw.classColour(group.name)),
      'fill-opacity': at.two && !side ? 0.55 : 1,
      stroke: context.ink('paper'),
      'stroke-width': (part) => (width(part) > 3 ? 0.5 : 0)
    };
    const shown = parts.filter((part) => part.to > part.from);
    draw.marks(svg, 'rect', shown, place, context, (part) => tell(group, part.kernel, at, context));
  }

  const label = ({sums}, total) => draw.time(sums[0]) + ', ' + draw.percent(sums[0], total);

  function drawWords(words, group, y, at, context) {
    const {name, sums} = group,
      ink = context.ink,
      middle = y + (at.two ? 13 : 12),
      place = at.narrow ? [0, y - 4, context.width, 'start'] : [at.left - 8, middle, at.left - 10, 'end'],
      end = at.x(Math.max(...sums)) + 6;
    draw.text(words, place[0], place[1], draw.fit(name, place[2]), ink('text'), place[3]);
    if (!at.two) {
      draw.text(words, end, middle, label(group, at.total), ink('text'));
      return;
    }
    const change = sums[1] - sums[0],
      colour = ink(change > 0 ? 'slower' : change < 0 ? 'faster' : 'text'),
      figure = draw.text(words, end, middle, draw.change(change), colour);
    if (!at.narrow) {
      draw.add(figure, 'tspan', {fill: ink('muted'), dx: 8}).text(sums.map(draw.time).join(' → '));
    }
  }

  pictures.operations = (svg, picture, context) => {
    const narrow = context.width < 560,
      two = context.sides.length > 1,
      groups = groupsOf(picture, two),
      row = (two ? 27 : 24) + (narrow ? 14 : 0),
      top = two ? 24 : 4,
      bottom = top + groups.length * row,
      most = draw.max(groups, (group) => Math.max(...group.sums)) || 1,
      left = narrow ? 0 : 150,
      total = d3.sum(groups, (group) => group.sums[0]),
      beside = two ? (narrow ? 100 : 220) : 8 + draw.max(groups, (group) => draw.width(label(group, total))),
      right = context.width - beside,
      x = draw.scale([0, most], [left, right]),
      at = {two, narrow, left, bar: two ? 9 : 15, x, total};
    draw.canvas(svg, context, bottom + 24);
    if (two) {
      const grey = context.ink('grey');
      const entries = [
        [draw.sideName(context, 0) + ' (upper bar)', grey, 0.55],
        [draw.sideName(context, 1) + ' (lower bar)', grey]
      ];
      draw.legend(svg.append('g'), 2, entries, context);
    }
    draw.axis(svg.append('g'), x, top, bottom, context);
    const words = svg.append('g');
    groups.forEach((group, i) => {
      const y = top + i * row + (narrow ? 16 : 4);
      (two ? [0, 1] : [0]).forEach((side) => drawSide(svg, group, side, y, at, context));
      drawWords(words, group, y, at, context);
    });
  };
})(tracedb);
