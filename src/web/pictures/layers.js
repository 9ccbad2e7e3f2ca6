// Time of each layer by operation class: a strip for each side, and one for the change between them.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});

  // 0 .. 1 by viridis, which reads the same for the colour-blind and in grey.
  draw.heat = function (share) {
    return d3.interpolateViridis(0.05 + 0.93 * Math.max(0, Math.min(1, share)));
  };
  draw.heatKey = function (parent, x, y, most, context, note) {
    for (var i = 0; i < 40; i++) {
      parent
        .append('rect')
        .attr('x', x + i * 3)
        .attr('y', y)
        .attr('width', 3.2)
        .attr('height', 10)
        .attr('fill', draw.heat(i / 39));
    }
    draw.text(parent, x, y + 23, '0', context.ink('muted'));
    draw.text(parent, x + 120, y + 23, draw.time(most), context.ink('muted'), 'middle');
    draw.text(parent, x + 128, y + 10, note || '', context.ink('muted'));
  };

  function strip(svg, top, title, grid, context) {
    var ink = context.ink,
      words = svg.append('g');
    draw.text(words, 0, top + 12, draw.fit(title, context.width * 0.9), ink('text')).attr('font-weight', 600);
    grid.classes.forEach(function (name, i) {
      draw.text(words, grid.left - 6, top + 20 + i * grid.row + 11, draw.fit(name, grid.left - 8), ink('muted'), 'end');
    });
    draw.marks(
      svg,
      'rect',
      grid.cells,
      function (marks) {
        marks
          .attr('x', function (cell) {
            return grid.left + cell.layer * grid.column;
          })
          .attr('y', function (cell) {
            return top + 20 + cell.row * grid.row;
          })
          .attr('width', Math.max(0.8, grid.column - (grid.column > 4 ? 1 : 0)))
          .attr('height', grid.row - 1)
          .attr('fill', grid.colour)
          .attr('fill-opacity', grid.opacity);
      },
      context,
      grid.tell
    );
    var apart = Math.ceil(48 / grid.column);
    grid.layers.forEach(function (name, j) {
      if (j % apart === 0) {
        var text = draw.fit(name.replace(/^\[(.*)\]$/, '$1'), Math.max(58, grid.column)),
          x = grid.left + j * grid.column,
          inside = x + draw.width(text) * 0.84 <= context.width; // at 10 px
        draw
          .text(
            words,
            inside ? x : context.width,
            top + 32 + grid.classes.length * grid.row,
            text,
            ink('muted'),
            inside ? 'start' : 'end'
          )
          .attr('font-size', 10);
      }
    });
    return top + 46 + grid.classes.length * grid.row;
  }

  // Head and tail, which may take many times what a layer takes, have no part in the scale.
  function isLayer(name) {
    return !/^\[/.test(name);
  }

  // The sum of all classes first, then those that ever take time.
  function classRows(picture) {
    var rows = [{name: 'all', of: null}];
    picture.classes.forEach(function (name, c) {
      var used = picture.sides.some(function (side) {
        return side.ns.some(function (layer) {
          return layer[c] > 0;
        });
      });
      if (used) {
        rows.push({name: name, of: c});
      }
    });
    return rows;
  }
  function value(side, layer, row) {
    return row.of === null ? draw.sum(side.ns[layer]) : side.ns[layer][row.of] || 0;
  }

  function common(picture, rows, context) {
    var left = context.width < 560 ? 84 : 130,
      most =
        draw.max(picture.sides, function (side) {
          return side.layers.length;
        }) || 1;
    return {
      left: left,
      row: 15,
      column: (context.width - left - 2) / most,
      classes: rows.map(function (row) {
        return row.name;
      })
    };
  }

  function sideGrid(picture, rows, index, context) {
    var side = picture.sides[index],
      grid = common(picture, rows, context),
      cells = [];
    side.layers.forEach(function (name, layer) {
      rows.forEach(function (row, i) {
        var ns = value(side, layer, row);
        if (ns > 0) {
          cells.push({layer: layer, row: i, ns: ns});
        }
      });
    });
    grid.cells = cells;
    grid.layers = side.layers;
    grid.most = draw.max(picture.sides, function (s) {
      return draw.max(s.layers, function (name, layer) {
        return isLayer(name) ? value(s, layer, rows[0]) : 0;
      });
    });
    // The square root keeps small classes visible beside the sum.
    grid.colour = function (cell) {
      return draw.heat(Math.sqrt(cell.ns / (grid.most || 1)));
    };
    grid.opacity = 1;
    grid.tell = function (cell) {
      return (
        draw.sideName(context, index) +
        ', layer ' +
        side.layers[cell.layer] +
        ', ' +
        rows[cell.row].name +
        '\n' +
        draw.time(cell.ns)
      );
    };
    return grid;
  }

  function changeGrid(picture, rows, context) {
    var grid = common(picture, rows, context),
      a = picture.sides[0],
      b = picture.sides[1],
      cells = [],
      at = {};
    b.layers.forEach(function (name, layer) {
      at[name] = layer;
    });
    a.layers.forEach(function (name, layer) {
      rows.forEach(function (row, i) {
        if (at[name] === undefined) {
          return;
        }
        var before = value(a, layer, row),
          after = value(b, at[name], row);
        if (before || after) {
          cells.push({layer: layer, row: i, before: before, after: after, ns: after - before});
        }
      });
    });
    var most =
      draw.max(cells, function (cell) {
        return isLayer(a.layers[cell.layer]) ? Math.abs(cell.ns) : 0;
      }) || 1;
    grid.cells = cells;
    grid.layers = a.layers;
    grid.most = most;
    grid.colour = function (cell) {
      return context.ink(cell.ns > 0 ? 'slower' : 'faster');
    };
    grid.opacity = function (cell) {
      return Math.min(1, 0.04 + 0.96 * Math.sqrt(Math.abs(cell.ns) / most));
    };
    grid.tell = function (cell) {
      return (
        'layer ' +
        a.layers[cell.layer] +
        ', ' +
        rows[cell.row].name +
        '\n' +
        draw.change(cell.ns) +
        ': ' +
        draw.time(cell.before) +
        ' → ' +
        draw.time(cell.after)
      );
    };
    return grid;
  }

  tracedb.pictures.layers = function (svg, picture, context) {
    var rows = classRows(picture),
      two = picture.sides.length > 1;
    var each = 46 + rows.length * 15,
      strips = two ? 3 : 1,
      y = 0;
    draw.canvas(svg, context, strips * each + 34);
    picture.sides.forEach(function (side, index) {
      y = strip(
        svg,
        y,
        draw.sideTitle(context, index, 'time of each layer'),
        sideGrid(picture, rows, index, context),
        context
      );
    });
    if (two) {
      var grid = changeGrid(picture, rows, context);
      y = strip(svg, y, 'Change, up to ' + draw.time(grid.most) + ' in a layer: violet faster, red slower', grid, context);
    }
    draw.heatKey(
      svg.append('g'),
      common(picture, rows, context).left,
      y,
      sideGrid(picture, rows, 0, context).most,
      context,
      'by the square root; the longest layer, head and tail may take more'
    );
  };
})();
