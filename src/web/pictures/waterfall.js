// From the time of a step on one side to that of the other: each cause pushes the bar to the left (faster) or to the
// right. Of one trace: from nothing to the time of a step.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});
  var HEIGHT = 16;

  function barsOf(picture, compares) {
    var start = picture.start.value;
    var at = start;
    var bars = compares ? [{label: picture.start.label, from: 0, to: start, total: true}] : [];
    picture.rows.forEach(function (item) {
      bars.push({label: item.label, from: at, to: at + item.value, change: item.value, item: item});
      at += item.value;
    });
    bars.push({label: picture.end.label, from: 0, to: picture.end.value, total: true});
    return bars;
  }

  // A change of some percent would be invisible on an axis from zero: then the axis begins later, and says so.
  function domainOf(bars) {
    var low = Infinity;
    var high = 0;
    bars.forEach(function (bar) {
      high = Math.max(high, bar.from, bar.to);
      low = Math.min(low, bar.to, bar.total ? bar.to : bar.from);
    });
    var broken = low < high && low > 0.8 * high;
    return {
      from: broken ? Math.max(0, low - 0.35 * (high - low || high * 0.1)) : Math.min(0, low),
      to: high,
      broken: broken
    };
  }

  function colour(bar, compares) {
    if (bar.total) {
      return 'grey';
    }
    if (compares) {
      return bar.change > 0 ? 'slower' : 'faster';
    }
    return bar.item.class === 'idle' ? 'idle' : draw.classColour(bar.label);
  }

  function figure(bar, compares) {
    return bar.total || !compares ? draw.time(bar.total ? bar.to : bar.change) : draw.change(bar.change);
  }

  function tell(bar, compares, whole) {
    var text = bar.label + ': ' + figure(bar, compares);
    if (bar.total) {
      return text;
    }
    text += compares ? (bar.change > 0 ? ', slower' : ', faster') : ', ' + draw.percent(bar.change, whole.to) + ' of the ' + whole.label;
    return text + (bar.item.detail ? '\n' + bar.item.detail : '');
  }

  function drawBars(svg, bars, at, context) {
    var compares = context.sides.length > 1;
    var whole = bars[bars.length - 1];
    draw.marks(
      svg,
      'rect',
      bars,
      function (marks) {
        marks
          .attr('x', function (bar) {
            return at.x(Math.min(bar.from, bar.to));
          })
          .attr('y', function (bar, i) {
            return at.y(i);
          })
          .attr('width', function (bar) {
            return Math.max(1.5, Math.abs(at.x(bar.to) - at.x(bar.from)));
          })
          .attr('height', HEIGHT)
          .attr('fill', function (bar) {
            return context.ink(colour(bar, compares));
          })
          .attr('fill-opacity', function (bar) {
            return bar.item && bar.item.class === 'rest' ? 0.5 : 1;
          });
      },
      context,
      function (bar) {
        return tell(bar, compares, whole);
      }
    );
  }

  function drawWords(words, bar, i, at, context) {
    var y = at.y(i);
    var ink = context.ink;
    var weight = bar.total ? 600 : 400;
    var end = Math.max(at.x(bar.from), at.x(bar.to));
    var side = at.narrow ? [0, y - 4, context.width, 'start'] : [at.left - 8, y + 12, at.left - 8, 'end'];
    draw.text(words, side[0], side[1], draw.fit(bar.label, side[2] * (bar.total ? 0.9 : 1)), ink('text'), side[3]).attr('font-weight', weight);
    draw.text(words, end + 5, y + 12, figure(bar, context.sides.length > 1), ink('text')).attr('font-weight', weight);
    if (i > 0) {
      var x = at.x(bar.total ? bar.to : bar.from);
      draw.line(words, x, at.y(i - 1) + HEIGHT, x, y, ink('muted'));
    }
    if (bar.total && at.broken) {
      words // teeth where the bar is cut
        .append('path')
        .attr('d', 'M' + (at.left + 6) + ' ' + (y - 1) + 'l4 6l-4 6l4 6')
        .attr('fill', 'none')
        .attr('stroke', ink('paper'))
        .attr('stroke-width', 3);
    }
  }

  tracedb.pictures.waterfall = function (svg, picture, context) {
    var narrow = context.width < 480;
    var row = narrow ? 38 : 24;
    var left = narrow ? 0 : Math.min(250, Math.max(178, context.width * 0.26));
    var bars = barsOf(picture, context.sides.length > 1);
    var domain = domainOf(bars);
    var bottom = 6 + bars.length * row;
    var scale = d3
      .scaleLinear()
      .domain([domain.from, domain.to])
      .range([left, Math.max(left + 40, context.width - 92)]);
    var at = {
      left: left,
      narrow: narrow,
      broken: domain.broken,
      x: function (time) {
        return scale(Math.max(domain.from, time));
      },
      y: function (i) {
        return 6 + i * row + (narrow ? 17 : 4);
      }
    };
    draw.canvas(svg, context, bottom + 26 + (domain.broken ? 18 : 0));
    draw.axis(svg.append('g'), scale, 6, bottom, context);
    drawBars(svg, bars, at, context);
    var words = svg.append('g');
    bars.forEach(function (bar, i) {
      drawWords(words, bar, i, at, context);
    });
    if (domain.broken) {
      var text = 'The axis begins at ' + draw.time(domain.from) + ', not at zero.';
      draw.text(words, left, bottom + 34, draw.fit(text, context.width - left), context.ink('muted'));
    }
  };
})();
