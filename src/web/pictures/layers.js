// Time of each layer by operation class: a strip for each side, and one for the change between them.
(({draw, pictures}) => {
  const ROW = 15;

  function strip(svg, top, title, grid, context) {
    const {left, column, rows, layers} = grid,
      muted = context.ink('muted'),
      words = svg.append('g'),
      bottom = top + 20 + rows.length * ROW;
    draw.text(words, 0, top + 12, draw.fit(title, context.width * 0.9), context.ink('text')).attr('font-weight', 600);
    rows.forEach(({name}, i) => {
      draw.text(words, left - 6, top + 20 + i * ROW + 11, draw.fit(name, left - 8), muted, 'end');
    });
    const place = {
      x: (cell) => left + cell.layer * column,
      y: (cell) => top + 20 + cell.row * ROW,
      width: Math.max(0.8, column - (column > 4 ? 1 : 0)),
      height: ROW - 1,
      fill: grid.colour,
      'fill-opacity': grid.opacity
    };
    draw.marks(svg, 'rect', grid.cells, place, context, grid.tell);
    const apart = Math.ceil(48 / column);
    layers.forEach((name, j) => {
      if (j % apart === 0) {
        const text = draw.fit(name.replace(/^\[(.*)\]$/, '$1'), Math.max(58, column)),
          x = left + j * column,
          inside = x + draw.width(text) * 0.84 <= context.width, // at 10 px
          [at, anchor] = inside ? [x, 'start'] : [context.width, 'end'];
        draw.text(words, at, bottom + 12, text, muted, anchor).attr('font-size', 10);
      }
    });
    return bottom + 26;
  }

  // Head and tail, which may take many times what a layer takes, have no part in the scale.
  const isLayer = (name) => !/^\[/.test(name);

  // The sum of all classes first, then those that ever take time.
  function classRows(picture) {
    const rows = picture.classes.map((name, c) => ({name, of: (ns) => ns[c] || 0}));
    const used = rows.filter((row) => picture.sides.some((side) => side.ns.some((ns) => row.of(ns) > 0)));
    return [{name: 'all', of: (ns) => d3.sum(ns)}, ...used];
  }

  // What both kinds of strips have; `value(layer, row)` is a cell, or null.
  function gridOf(picture, rows, layers, context, value) {
    const left = context.width < 560 ? 84 : 130,
      most = draw.max(picture.sides, (side) => side.layers.length) || 1,
      cells = layers.flatMap((name, layer) => rows.map((row, i) => ({layer, row: i, ...value(layer, row)})));
    return {left, column: (context.width - left - 2) / most, rows, layers, cells: cells.filter((cell) => 'ns' in cell)};
  }

  function sideGrid(picture, rows, index, context) {
    const {layers, ns} = picture.sides[index];
    const grid = gridOf(picture, rows, layers, context, (layer, row) => {
      const time = row.of(ns[layer]);
      return time > 0 ? {ns: time} : null;
    });
    const most = draw.max(picture.sides, (side) =>
      draw.max(side.layers, (name, layer) => (isLayer(name) ? rows[0].of(side.ns[layer]) : 0))
    );
    return Object.assign(grid, {
      most,
      // The square root keeps small classes visible beside the sum.
      colour: (cell) => draw.heat(Math.sqrt(cell.ns / (most || 1))),
      opacity: 1,
      tell: (cell) => {
        const where = `${draw.sideName(context, index)}, layer ${layers[cell.layer]}, ${rows[cell.row].name}`;
        return `${where}\n${draw.time(cell.ns)}`;
      }
    });
  }

  function changeGrid(picture, rows, context) {
    const [a, b] = picture.sides,
      at = new Map(b.layers.map((name, layer) => [name, layer]));
    const grid = gridOf(picture, rows, a.layers, context, (layer, row) => {
      const other = at.get(a.layers[layer]);
      if (other === undefined) {
        return null;
      }
      const before = row.of(a.ns[layer]),
        after = row.of(b.ns[other]);
      return before || after ? {before, after, ns: after - before} : null;
    });
    const most = draw.max(grid.cells, (cell) => (isLayer(a.layers[cell.layer]) ? Math.abs(cell.ns) : 0)) || 1;
    return Object.assign(grid, {
      most,
      colour: (cell) => context.ink(cell.ns > 0 ? 'slower' : 'faster'),
      opacity: (cell) => Math.min(1, 0.04 + 0.96 * Math.sqrt(Math.abs(cell.ns) / most)),
      tell: (cell) => {
        const times = `${draw.time(cell.before)} → ${draw.time(cell.after)}`;
        return `layer ${a.layers[cell.layer]}, ${rows[cell.row].name}\n${draw.change(cell.ns)}: ${times}`;
      }
    });
  }

  pictures.layers = (svg, picture, context) => {
    const rows = classRows(picture),
      grids = picture.sides.map((side, index) => sideGrid(picture, rows, index, context)),
      titles = grids.map((grid, index) => draw.sideTitle(context, index, 'time of each layer')),
      [{left, most}] = grids;
    if (grids.length > 1) {
      const change = changeGrid(picture, rows, context);
      grids.push(change);
      titles.push(`Change, up to ${draw.time(change.most)} in a layer: violet faster, red slower`);
    }
    const bottom = grids.reduce((y, grid, i) => strip(svg, y, titles[i], grid, context), 0),
      note = 'by the square root; the longest layer, head and tail may take more';
    draw.canvas(svg, context, bottom + draw.heatKey(svg.append('g'), left, bottom, most, context, note));
  };
})(tracedb);
