// A heat map: a row for each rank, a column for each step; the brighter, the more. `most`: all waiting of the step
// that has most.
(({draw, pictures}) => {
  pictures.ranks = (svg, picture, context) => {
    const ink = context.ink,
      left = 84,
      top = 4,
      row = Math.max(6, Math.min(26, 420 / Math.max(1, picture.rows.length))),
      column = (context.width - left - 4) / Math.max(1, picture.columns.length),
      bottom = top + picture.rows.length * row,
      cells = picture.ns.flatMap((line, i) => line.map((ns, j) => ({i, j, ns}))).filter((cell) => cell.ns !== null),
      most = draw.max(cells, (cell) => cell.ns) || 1;
    const place = {
      x: (cell) => left + cell.j * column,
      y: (cell) => top + cell.i * row,
      width: Math.max(0.5, column - (column > 4 ? 1 : 0)),
      height: row - (row > 8 ? 1 : 0),
      fill: (cell) => draw.heat(cell.ns / most)
    };
    draw.marks(svg, 'rect', cells, place, context, ({i, j, ns}) => {
      return `${picture.rows[i]}, ${picture.columns[j]}\n${picture.measure}: ${draw.time(ns)}`;
    });
    const words = svg.append('g'),
      every = Math.ceil(15 / row),
      apart = Math.ceil(70 / column);
    picture.rows.forEach((name, i) => {
      if (i % every === 0) {
        draw.text(words, left - 6, top + i * row + row / 2 + 4, draw.fit(name, left - 8), ink('text'), 'end');
      }
    });
    picture.columns.forEach((name, j) => {
      const x = left + j * column,
        text = draw.fit(name, Math.max(68, column));
      if (j % apart === 0 && x + draw.width(text) <= context.width) {
        draw.text(words, x, bottom + 15, text, ink('muted'));
      }
    });
    const note = picture.most ? `of ${draw.time(picture.most)}, all waiting of a step` : '';
    draw.canvas(svg, context, bottom + 28 + draw.heatKey(words, left, bottom + 28, most, context, note));
  };
})(tracedb);
