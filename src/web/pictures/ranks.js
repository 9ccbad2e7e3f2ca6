// A heat map: a row for each rank, a column for each step; the brighter, the more. `most`: all waiting of the step
// that has most.
var tracedb = tracedb || {pictures: {}};

tracedb.pictures.ranks = function (svg, picture, context) {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {}),
    ink = context.ink,
    left = 84,
    top = 4;
  var row = Math.max(6, Math.min(26, 420 / Math.max(1, picture.rows.length))),
    cells = [];
  var column = (context.width - left - 4) / Math.max(1, picture.columns.length);
  picture.ns.forEach(function (line, i) {
    line.forEach(function (ns, j) {
      if (ns !== null) {
        cells.push({i: i, j: j, ns: ns});
      }
    });
  });
  var most =
      draw.max(cells, function (cell) {
        return cell.ns;
      }) ||
      1,
    bottom = top + picture.rows.length * row;
  draw.canvas(svg, context, bottom + 58);
  draw.marks(
    svg,
    'rect',
    cells,
    function (marks) {
      marks
        .attr('x', function (cell) {
          return left + cell.j * column;
        })
        .attr('y', function (cell) {
          return top + cell.i * row;
        })
        .attr('width', Math.max(0.5, column - (column > 4 ? 1 : 0)))
        .attr('height', row - (row > 8 ? 1 : 0))
        .attr('fill', function (cell) {
          return draw.heat(cell.ns / most);
        });
    },
    context,
    function (cell) {
      return picture.rows[cell.i] + ', ' + picture.columns[cell.j] + '\n' + picture.measure + ': ' + draw.time(cell.ns);
    }
  );
  var words = svg.append('g'),
    every = Math.ceil(15 / row),
    apart = Math.ceil(70 / column);
  picture.rows.forEach(function (name, i) {
    if (i % every === 0) {
      draw.text(words, left - 6, top + i * row + row / 2 + 4, draw.fit(name, left - 8), ink('text'), 'end');
    }
  });
  picture.columns.forEach(function (name, j) {
    if (j % apart === 0) {
      draw.text(words, left + j * column, bottom + 15, draw.fit(name, Math.max(68, column)), ink('muted'));
    }
  });
  draw.heatKey(words, left, bottom + 28, most, context, picture.most ? 'of ' + draw.time(picture.most) + ', all waiting of a step' : '');
};
