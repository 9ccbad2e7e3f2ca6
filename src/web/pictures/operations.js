// Kernel time by operation class: a bar for each side, cut where one kernel ends and the next begins.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});

  // Classes with their kernels, those that take most time first.
  function groupsOf(picture, two) {
    var groups = picture.classes.map(function (name, index) {
      return {name: name, index: index, kernels: [], sums: [0, 0]};
    });
    picture.rows.forEach(function (row) {
      var ns = [row[2] || 0, two ? row[3] || 0 : 0];
      groups[row[0]].kernels.push({name: picture.names[row[1]], ns: ns});
      groups[row[0]].sums[0] += ns[0];
      groups[row[0]].sums[1] += ns[1];
    });
    return groups
      .filter(function (group) {
        return group.kernels.length;
      })
      .sort(function (p, q) {
        return Math.max(q.sums[0], q.sums[1]) - Math.max(p.sums[0], p.sums[1]) || p.index - q.index;
      });
  }

  function tell(group, kernel, at, context) {
    var text = group.name + ': ' + kernel.name + '\n';
    if (!at.two) {
      return text + draw.time(kernel.ns[0]) + ', ' + draw.percent(kernel.ns[0], at.total) + ' of the kernel time';
    }
    text += draw.sideName(context, 0) + ' ' + draw.time(kernel.ns[0]) + ', ';
    text += draw.sideName(context, 1) + ' ' + draw.time(kernel.ns[1]);
    return text + ', change ' + draw.change(kernel.ns[1] - kernel.ns[0]);
  }

  function drawSide(svg, group, side, y, at, context) {
    var end = 0;
    var parts = group.kernels
      .map(function (kernel) {
        end += kernel.ns[side];
        return {kernel: kernel, from: end - kernel.ns[side], to: end};
      })
      .filter(function (part) {
        return part.to > part.from;
      });
    draw.marks(
      svg,
      'rect',
      parts,
      function (marks) {
        marks
          .attr('x', function (part) {
            return at.x(part.from);
          })
          .attr('y', y + side * (at.bar + 1))
          .attr('width', function (part) {
            return Math.max(0.5, at.x(part.to) - at.x(part.from));
          })
          .attr('height', at.bar)
          .attr('fill', context.ink(draw.classColour(group.name)))
          .attr('fill-opacity', at.two && !side ? 0.55 : 1)
          .attr('stroke', context.ink('paper'))
          .attr('stroke-width', function (part) {
            return at.x(part.to) - at.x(part.from) > 3 ? 0.5 : 0;
          });
      },
      context,
      function (part) {
        return tell(group, part.kernel, at, context);
      }
    );
  }

  function drawWords(words, group, y, at, context) {
    var ink = context.ink;
    var middle = y + (at.two ? 13 : 12);
    var place = at.narrow ? [0, y - 4, context.width, 'start'] : [at.left - 8, middle, at.left - 10, 'end'];
    draw.text(words, place[0], place[1], draw.fit(group.name, place[2]), ink('text'), place[3]);
    var end = at.x(Math.max(group.sums[0], group.sums[1])) + 6;
    if (!at.two) {
      draw.text(
        words,
        end,
        middle,
        draw.time(group.sums[0]) + ', ' + draw.percent(group.sums[0], at.total),
        ink('text')
      );
      return;
    }
    var change = group.sums[1] - group.sums[0];
    var colour = ink(change > 0 ? 'slower' : change < 0 ? 'faster' : 'text');
    var figure = draw.text(words, end, middle, draw.change(change), colour);
    if (!at.narrow) {
      var both = draw.time(group.sums[0]) + ' → ' + draw.time(group.sums[1]);
      figure.append('tspan').attr('fill', ink('muted')).attr('dx', 8).text(both);
    }
  }

  tracedb.pictures.operations = function (svg, picture, context) {
    var narrow = context.width < 560;
    var two = context.sides.length > 1;
    var groups = groupsOf(picture, two);
    var row = (two ? 27 : 24) + (narrow ? 14 : 0);
    var top = two ? 24 : 4;
    var bottom = top + groups.length * row;
    var most = draw.max(groups, function (group) {
      return Math.max(group.sums[0], group.sums[1]);
    });
    var at = {two: two, narrow: narrow, left: narrow ? 0 : 150, bar: two ? 9 : 15};
    var right = context.width - (narrow ? 100 : two ? 220 : 130);
    at.x = d3
      .scaleLinear()
      .domain([0, most || 1])
      .range([at.left, right]);
    at.total = draw.sum(groups, function (group) {
      return group.sums[0];
    });
    draw.canvas(svg, context, bottom + 24);
    if (two) {
      var grey = context.ink('grey');
      var entries = [
        [draw.sideName(context, 0) + ' (upper bar)', grey, 0.55],
        [draw.sideName(context, 1) + ' (lower bar)', grey]
      ];
      draw.legend(svg.append('g'), 2, entries, context);
    }
    draw.axis(svg.append('g'), at.x, top, bottom, context);
    var words = svg.append('g');
    groups.forEach(function (group, i) {
      var y = top + i * row + (narrow ? 16 : 4);
      drawSide(svg, group, 0, y, at, context);
      if (two) {
        drawSide(svg, group, 1, y, at, context);
      }
      drawWords(words, group, y, at, context);
    });
  };
})();
