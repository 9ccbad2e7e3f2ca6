// Each kernel by its operations per byte and per second; the roof is drawn only where the peaks of the device are known.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});
  var TOP = 8;
  var BOTTOM = 348;
  var LEFT = 84;

  // Points that can be drawn on axes of powers, the large ones first: small ones come above them.
  function pointsOf(picture) {
    return picture.points
      .map(function (row) {
        return {
          name: picture.names[row[0]],
          class: picture.classes[row[1]],
          x: row[2] / row[3],
          y: (row[2] / row[4]) * 1e9,
          ns: row[4],
          n: row[5],
          total: row[4] * row[5]
        };
      })
      .filter(function (point) {
        return point.x > 0 && point.y > 0 && isFinite(point.x) && isFinite(point.y);
      })
      .sort(function (p, q) {
        return q.total - p.total;
      });
  }

  function scaleOf(values, range) {
    var least = values.length ? Math.min.apply(null, values) : 1;
    var most = values.length ? Math.max.apply(null, values) : 10;
    return d3
      .scaleLog()
      .domain([least / 1.6, most * 1.6])
      .range(range);
  }

  function powersOf(scale) {
    return scale.ticks(6).filter(function (value) {
      var power = Math.log(value) / Math.LN10;
      return Math.abs(power - Math.round(power)) < 1e-6;
    });
  }

  function drawAxes(grid, x, y, context) {
    var right = context.width - 12;
    powersOf(x).forEach(function (value) {
      draw.line(grid, x(value), TOP, x(value), BOTTOM, context.ink('line'));
      draw.text(grid, x(value), BOTTOM + 15, draw.number(value).replace(/ $/, ''), context.ink('muted'), 'middle');
    });
    powersOf(y).forEach(function (value) {
      draw.line(grid, LEFT, y(value), right, y(value), context.ink('line'));
      var text = draw.number(value) + 'FLOP/s';
      draw.text(grid, LEFT - 6, y(value) + 4, text, context.ink('muted'), 'end').attr('font-size', 10);
    });
    draw.text(grid, right, BOTTOM + 32, 'arithmetic intensity, FLOP/byte', context.ink('muted'), 'end');
  }

  function drawRoof(grid, x, y, peaks, context) {
    var knee = peaks.flops / peaks.bytes_per_s;
    var start = Math.max(x.domain()[0], y.domain()[0] / peaks.bytes_per_s);
    var path = [
      'M',
      x(start),
      ' ',
      y(start * peaks.bytes_per_s),
      'L',
      x(knee),
      ' ',
      y(peaks.flops),
      'H',
      x(x.domain()[1])
    ];
    grid.append('path').attr('fill', 'none').attr('stroke', context.ink('text')).attr('d', path.join(''));
  }

  function tell(point) {
    var text = point.name + '\n' + point.class + ', ' + point.n + (point.n === 1 ? ' launch of ' : ' launches of ');
    text += draw.time(point.ns) + '\n' + draw.number(point.y) + 'FLOP/s, ';
    return text + draw.number(point.x) + 'FLOP/byte';
  }

  tracedb.pictures.roofline = function (svg, picture, context) {
    var points = pointsOf(picture);
    var peaks = picture.peaks || {};
    var roof = peaks.flops && peaks.bytes_per_s;
    var valuesOf = function (key, more) {
      return points
        .map(function (point) {
          return point[key];
        })
        .concat(roof ? more : []);
    };
    var x = scaleOf(valuesOf('x', peaks.flops / peaks.bytes_per_s), [LEFT, context.width - 12]);
    var y = scaleOf(valuesOf('y', peaks.flops), [BOTTOM, TOP]);
    var grid = svg.append('g');
    drawAxes(grid, x, y, context);
    if (roof) {
      drawRoof(grid, x, y, peaks, context);
    }
    var classes = {};
    points.forEach(function (point) {
      classes[point.class] = (classes[point.class] || 0) + point.total;
    });
    var place = function (marks) {
      marks
        .attr('cx', function (point) {
          return x(point.x);
        })
        .attr('cy', function (point) {
          return y(point.y);
        })
        .attr('r', function (point) {
          return 2.5 + 11 * Math.sqrt(point.total / points[0].total);
        })
        .attr('fill', function (point) {
          return context.ink(draw.classColour(point.class));
        })
        .attr('fill-opacity', 0.7)
        .attr('stroke', context.ink('paper'));
    };
    draw.marks(svg, 'circle', points, place, context, tell);
    var legend = draw.legend(svg.append('g'), BOTTOM + 44, draw.classEntries(classes, context), context);
    draw.canvas(svg, context, BOTTOM + 46 + legend);
  };
})();
