// The kernels of one layer on both sides, to scale and one below the other; bands join those that do the same work, and
// brackets those that one side does in one kernel and the other in several.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});

  // Streams of a side as rows, in order of their first kernel.
  function rowsOf(kernels) {
    var rows = [],
      at = {};
    kernels.forEach(function (kernel) {
      if (at[kernel.stream] === undefined) {
        at[kernel.stream] = rows.length;
        rows.push(kernel.stream);
      }
    });
    return {streams: rows, of: at};
  }

  // A list of places as lists of neighbours: [0, 9, 10] is [[0], [9, 10]].
  function runsOf(list) {
    var runs = [];
    list
      .slice()
      .sort(function (p, q) {
        return p - q;
      })
      .forEach(function (i) {
        var last = runs[runs.length - 1];
        if (last && last[last.length - 1] === i - 1) {
          last.push(i);
        } else {
          runs.push([i]);
        }
      });
    return runs;
  }

  // A fusion at several places of the layer has a band at each of them.
  function bandsOf(picture) {
    var bands = [];
    picture.links.forEach(function (link) {
      if (!link.a.length || !link.b.length) {
        return;
      }
      var a = runsOf(link.a),
        b = runsOf(link.b),
        apart = link.kind === 'fused' && a.length === b.length && a.length > 1;
      (apart ? a : [link.a]).forEach(function (run, i) {
        bands.push({a: run, b: apart ? b[i] : link.b, kind: link.kind, confidence: link.confidence});
      });
    });
    return bands;
  }

  function reach(list, kernels) {
    var from = Infinity,
      to = -Infinity;
    list.forEach(function (i) {
      from = Math.min(from, kernels[i].start);
      to = Math.max(to, kernels[i].start + kernels[i].dur);
    });
    return [from, to];
  }

  function drawLinks(svg, picture, context, x, upper, lower) {
    var a = picture.sides[0].kernels,
      b = picture.sides[1].kernels,
      middle = (upper + lower) / 2;
    var links = bandsOf(picture);
    links.forEach(function (link) {
      link.from = reach(link.a, a);
      link.to = reach(link.b, b);
    });
    draw.marks(
      svg,
      'path',
      links,
      function (marks) {
        marks
          .attr('d', function (link) {
            var p = [x(link.from[0]), x(link.from[1]), x(link.to[0]), x(link.to[1])];
            return (
              'M' +
              p[0] +
              ' ' +
              upper +
              'C' +
              p[0] +
              ' ' +
              middle +
              ' ' +
              p[2] +
              ' ' +
              middle +
              ' ' +
              p[2] +
              ' ' +
              lower +
              'H' +
              p[3] +
              'C' +
              p[3] +
              ' ' +
              middle +
              ' ' +
              p[1] +
              ' ' +
              middle +
              ' ' +
              p[1] +
              ' ' +
              upper +
              'Z'
            );
          })
          .attr('fill', function (link) {
            var change = link.to[1] - link.to[0] - (link.from[1] - link.from[0]);
            return context.ink(link.kind === 'fused' ? 'text' : change > 0 ? 'slower' : 'faster');
          })
          .attr('fill-opacity', function (link) {
            return link.kind === 'fused' ? 0.22 : link.kind === 'same' ? 0.2 : 0.34;
          })
          .attr('stroke', context.ink('paper'));
      },
      context,
      function (link) {
        var names = function (list, kernels) {
          return list
            .map(function (i) {
              return draw.shortName(kernels[i].name);
            })
            .join(' + ');
        };
        var time = function (list, kernels) {
          return draw.sum(list, function (i) {
            return kernels[i].dur;
          });
        };
        var before = time(link.a, a),
          after = time(link.b, b);
        return (
          ({same: 'the same kernel', replaced: 'another kernel for the same work', fused: 'fused'}[link.kind] ||
            link.kind) +
          (link.confidence === undefined || link.confidence === null
            ? ''
            : ', confidence ' + Math.round(link.confidence) + ' %') +
          '\n' +
          names(link.a, a) +
          ' → ' +
          names(link.b, b) +
          '\n' +
          draw.time(before) +
          ' → ' +
          draw.time(after) +
          ', ' +
          draw.change(after - before)
        );
      }
    );
    var brackets = svg
      .append('g')
      .attr('class', 'brackets')
      .attr('fill', 'none')
      .attr('stroke', context.ink('text'))
      .attr('stroke-width', 1.5);
    links.forEach(function (link) {
      if (link.kind !== 'fused') {
        return;
      }
      [
        [link.a, a, upper + 1, 5],
        [link.b, b, lower - 1, -5]
      ].forEach(function (one) {
        runsOf(one[0]).forEach(function (run) {
          var span = reach(run, one[1]);
          brackets
            .append('path')
            .attr('d', 'M' + x(span[0]) + ' ' + one[2] + 'v' + one[3] + 'H' + x(span[1]) + 'v' + -one[3]);
        });
      });
    });
  }

  function drawSide(svg, picture, index, context, x, top, row) {
    var kernels = picture.sides[index].kernels,
      rows = rowsOf(kernels);
    var y = function (kernel) {
      return top + rows.of[kernel.stream] * row;
    };
    draw.marks(
      svg,
      'rect',
      kernels,
      function (marks) {
        marks
          .attr('x', function (kernel) {
            return x(kernel.start);
          })
          .attr('y', y)
          .attr('width', function (kernel) {
            return Math.max(1, x(kernel.start + kernel.dur) - x(kernel.start) - 0.5);
          })
          .attr('height', row - 4)
          .attr('fill', function (kernel) {
            return context.ink(draw.classColour(kernel.class));
          });
      },
      context,
      function (kernel) {
        return (
          draw.sideName(context, index) +
          ': ' +
          kernel.name +
          '\n' +
          kernel.class +
          (kernel.role ? ', ' + kernel.role : '') +
          ', ' +
          draw.time(kernel.dur) +
          ', at ' +
          draw.time(kernel.start) +
          ', stream ' +
          kernel.stream
        );
      }
    );
    var words = svg.append('g').attr('font-size', 11).attr('class', 'names');
    kernels.forEach(function (kernel) {
      var text = draw.fit(kernel.role || kernel.class, x(kernel.start + kernel.dur) - x(kernel.start) - 5);
      var ink = draw.classColour(kernel.class) === 'blue' ? 'onblue' : 'ondark';
      if (text.length > 3) {
        draw.text(words, x(kernel.start) + 3, y(kernel) + row / 2 + 2, text, context.ink(ink));
      }
    });
  }

  tracedb.pictures.lanes = function (svg, picture, context) {
    var ink = context.ink,
      two = picture.sides.length > 1,
      row = 26,
      legendAt,
      classes = {},
      most = 1,
      heights;
    picture.sides.forEach(function (side) {
      side.kernels.forEach(function (kernel) {
        most = Math.max(most, kernel.start + kernel.dur);
        classes[kernel.class] = (classes[kernel.class] || 0) + kernel.dur;
      });
    });
    heights = picture.sides.map(function (side) {
      return Math.max(1, rowsOf(side.kernels).streams.length) * row;
    });
    var zoom = context.state.zoom || [0, most],
      x = d3
        .scaleLinear()
        .domain(zoom)
        .range([2, context.width - 4]);
    var y = 0,
      tops = [],
      grid = svg.append('g'),
      names = svg.append('g');
    picture.sides.forEach(function (side, index) {
      var busy = draw.sum(side.kernels, function (kernel) {
        return kernel.dur;
      });
      if (index === 1) {
        y += 64;
      }
      tops.push(y + (index === 1 ? 0 : 20));
      y = tops[index] + heights[index] + (index === 1 ? 20 : 0);
      draw
        .text(
          names,
          2,
          index === 1 ? y - 6 : tops[index] - 6,
          draw.sideTitle(
            context,
            index,
            draw.count(side.kernels.length, 'kernel') + ', ' + draw.time(busy) + ' of kernels'
          ),
          ink('text')
        )
        .attr('font-weight', 600);
    });
    draw.axis(grid, x, 20, y, context);
    legendAt = y + 24;
    var body = svg.append('g').attr('class', 'zoomable');
    if (two) {
      drawLinks(body, picture, context, x, tops[0] + heights[0] - 3, tops[1] - 1);
    }
    picture.sides.forEach(function (side, index) {
      drawSide(body, picture, index, context, x, tops[index], row);
    });
    var entries = draw.classEntries(classes, context);
    if (two) {
      entries = entries.concat([
        ['band: faster', ink('faster'), 0.4],
        ['band: slower', ink('slower'), 0.4],
        ['bracket: fused', ink('text'), 0.3]
      ]);
    }
    draw.canvas(svg, context, legendAt + draw.legend(svg.append('g'), legendAt, entries, context));
    context.axes = {x: x, full: [0, most]};
  };

  // Legend of classes: one entry a colour, with the classes that have it, the longest first.
  draw.classEntries = function (times, context) {
    var colours = {},
      order = [];
    Object.keys(times)
      .sort(function (p, q) {
        return times[q] - times[p] || (p < q ? -1 : 1);
      })
      .forEach(function (name) {
        var colour = draw.classColour(name);
        if (!colours[colour]) {
          colours[colour] = [];
          order.push(colour);
        }
        colours[colour].push(name);
      });
    return order.map(function (colour) {
      var list = colours[colour];
      return [list.slice(0, 3).join(', ') + (list.length > 3 ? ' …' : ''), context.ink(colour)];
    });
  };
})();
