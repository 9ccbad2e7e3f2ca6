// How long steps take on each side: bars of steps that take about the same time, the mean, and its interval.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});

  // A few steps that take much longer must not press the others together: they are drawn at the edge.
  function scaleOf(picture, context) {
    var all = [];
    picture.sides.forEach(function (side) {
      all = all.concat(side.values, known(side.mean) ? [side.mean] : []);
    });
    all.sort(function (p, q) {
      return p - q;
    });
    var low = all.length ? all[0] : 0;
    var high = all.length ? all[all.length - 1] : 1;
    var usual = all.length ? all[Math.floor(0.98 * (all.length - 1))] : high;
    var cut = high > 2 * usual ? 1.3 * usual : high;
    var margin = (cut - low) * 0.04 || cut * 0.1 || 1;
    var x = d3
      .scaleLinear()
      .domain([Math.max(0, low - margin), cut + margin])
      .clamp(true);
    return {x: x.range([8, context.width - 16]), beyond: cut < high ? high : null};
  }

  function known(value) {
    return value !== null && value !== undefined;
  }

  function binsOf(values, x, size) {
    var bins = {};
    values.forEach(function (value) {
      var bin = Math.round(x(value) / size);
      bins[bin] = bins[bin] || {at: bin * size, least: value, most: value, n: 0};
      bins[bin].n++;
      bins[bin].least = Math.min(bins[bin].least, value);
      bins[bin].most = Math.max(bins[bin].most, value);
    });
    return Object.keys(bins)
      .map(function (key) {
        return bins[key];
      })
      .sort(function (p, q) {
        return p.at - q.at;
      });
  }

  function drawBins(group, side, index, base, x, context) {
    var size = Math.max(3, (x.range()[1] - x.range()[0]) / 160);
    var bins = binsOf(side.values, x, size);
    var most = draw.max(bins, function (bin) {
      return bin.n;
    });
    var unit = Math.min(size, 44 / (most || 1));
    var share = side.values.length ? side.count / side.values.length : 1; // of many steps, some are in the data
    var place = function (marks) {
      marks
        .attr('x', function (bin) {
          return bin.at - size / 2;
        })
        .attr('y', function (bin) {
          return base - bin.n * unit;
        })
        .attr('width', size - 0.5)
        .attr('height', function (bin) {
          return bin.n * unit;
        })
        .attr('fill', context.ink(index ? 'b' : 'a'))
        .attr('fill-opacity', 0.75);
    };
    draw.marks(group, 'rect', bins, place, context, function (bin) {
      var steps = (share > 1 ? 'about ' : '') + draw.count(Math.round(bin.n * share), 'step');
      var times = draw.time(bin.least) + (bin.most > bin.least ? ' to ' + draw.time(bin.most) : '');
      return draw.sideName(context, index) + ': ' + steps + '\n' + times;
    });
  }

  function drawWords(group, side, index, top, context) {
    var narrow = context.width < 560;
    var name = context.sides.length > 1 ? draw.sideName(context, index) + ': ' : '';
    var words = name + 'mean ' + draw.time(side.mean) + ' of ' + draw.count(side.count, 'step');
    var interval = known(side.low)
      ? '95 % interval ' + draw.time(side.low) + ' to ' + draw.time(side.high)
      : 'too few steps for an interval';
    var first = narrow ? words : words + ', ' + interval;
    draw.text(group, 8, top + 14, draw.fit(first, context.width - 16), context.ink('text'));
    if (narrow) {
      draw.text(group, 8, top + 30, draw.fit(interval, context.width - 16), context.ink('muted'));
    }
  }

  function drawSide(group, side, index, top, lane, x, context) {
    var ink = context.ink;
    var base = top + lane - 26;
    drawWords(group, side, index, top, context);
    draw.line(group, x.range()[0], base, x.range()[1], base, ink('line'));
    drawBins(group, side, index, base, x, context);
    if (known(side.low)) {
      group
        .append('rect')
        .attr('x', x(side.low))
        .attr('y', base + 4)
        .attr('width', Math.max(2, x(side.high) - x(side.low)))
        .attr('height', 6)
        .attr('fill', ink('text'))
        .attr('fill-opacity', 0.35);
    }
    if (known(side.mean)) {
      draw.line(group, x(side.mean), base - 48, x(side.mean), base + 12, ink('text')).attr('stroke-width', 2);
    }
  }

  tracedb.pictures.distribution = function (svg, picture, context) {
    var lane = context.width < 560 ? 108 : 92;
    var scale = scaleOf(picture, context);
    var bottom = 4 + picture.sides.length * lane;
    draw.canvas(svg, context, bottom + 24);
    draw.axis(svg.append('g'), scale.x, 4, bottom, context);
    picture.sides.forEach(function (side, index) {
      drawSide(svg.append('g'), side, index, 4 + index * lane, lane, scale.x, context);
    });
    if (scale.beyond !== null) {
      var text = 'beyond the edge: up to ' + draw.time(scale.beyond);
      draw.text(svg, context.width - 16, bottom - 2, text, context.ink('muted'), 'end');
    }
  };
})();
