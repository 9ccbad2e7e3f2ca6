// Flame graph from the root down: the width is kernel time. With two sides the width is the sum of both, so that what only
// one side has is seen too, and the colour says which side takes more.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {}),
    ROW = 18;

  // Nodes with the sums of what is below them: a, b, width by the chosen view, x0..x1 in shares of the root.
  function tree(picture, view) {
    var nodes = picture.nodes.map(function (node, i) {
      return {
        index: i,
        parent: i ? node[0] : -1,
        name: picture.names[node[1]],
        a: node[2] || 0,
        b: node[3] || 0,
        children: []
      };
    });
    for (var i = nodes.length - 1; i > 0; i--) {
      nodes[nodes[i].parent].a += nodes[i].a;
      nodes[nodes[i].parent].b += nodes[i].b;
    }
    nodes.forEach(function (node) {
      node.size = view === 'a' ? node.a : view === 'b' ? node.b : node.a + node.b;
      if (node.parent >= 0) {
        nodes[node.parent].children.push(node);
      }
    });
    nodes.forEach(function (node) {
      node.children.sort(function (p, q) {
        return q.size - p.size || p.index - q.index;
      });
    });
    return nodes;
  }

  function place(node, from, depth, seen) {
    var stack = [[node, from, depth]],
      at;
    while (stack.length) {
      at = stack.pop();
      at[0].x0 = at[1];
      at[0].depth = at[2];
      seen.push(at[0]);
      var x = at[1],
        next = [];
      at[0].children.forEach(function (child) {
        next.push([child, x, at[2] + 1]);
        x += child.size;
      });
      while (next.length) {
        stack.push(next.pop());
      }
    }
  }

  function colour(node, two, context) {
    var share = (node.b - node.a) / (node.a + node.b || 1);
    if (two) {
      return [
        context.ink(share > 0.005 ? 'slower' : share < -0.005 ? 'faster' : 'grey'),
        0.12 + 0.5 * Math.min(1, Math.abs(share) * 1.6)
      ];
    }
    // One side: greys by name, so that neighbours differ.
    var hash = 0;
    for (var i = 0; i < Math.min(200, node.name.length); i++) {
      hash = (hash * 31 + node.name.charCodeAt(i)) % 997;
    }
    return [context.ink('a'), 0.2 + (0.4 * hash) / 997];
  }

  tracedb.pictures.flame = function (svg, picture, context) {
    var ink = context.ink,
      two =
        context.sides.length > 1 &&
        picture.nodes.some(function (node) {
          return node.length > 3;
        });
    var nodes = tree(picture, two ? context.state.view || 'both' : 'a'),
      root = nodes[context.state.focus || 0] || nodes[0],
      seen = [];
    if (!root || !root.size) {
      root = nodes[0];
    }
    place(root, 0, 0, seen);
    var scale = context.width / (root.size || 1),
      shown = seen.filter(function (node) {
        return node.size * scale >= 0.7;
      });
    var depth = draw.max(shown, function (node) {
        return node.depth;
      }),
      above = [];
    for (var up = root; up.parent >= 0;) {
      up = nodes[up.parent];
      above.unshift(up);
    }
    above.forEach(function (node, i) {
      node.depth = i;
      node.x0 = 0;
      node.whole = true;
    });
    shown.forEach(function (node) {
      node.depth += above.length;
    });
    shown = above.concat(shown);
    var top = two ? 22 : 0,
      y = function (node) {
        return top + node.depth * ROW;
      };
    var bottom = top + (depth + 1 + above.length) * ROW;
    draw.canvas(svg, context, bottom + 6);
    if (two) {
      draw.legend(
        svg.append('g'),
        2,
        [
          ['less on ' + draw.sideName(context, 1), ink('faster'), 0.62],
          ['more', ink('slower'), 0.62],
          ['the same', ink('grey'), 0.2]
        ],
        context
      );
    }
    var width = function (node) {
      return node.whole ? context.width : node.size * scale;
    };
    var total = [nodes[0].a, nodes[0].b];
    draw.marks(
      svg,
      'rect',
      shown,
      function (marks) {
        marks
          .attr('x', function (node) {
            return node.x0 * scale;
          })
          .attr('y', y)
          .attr('width', function (node) {
            return Math.max(0.6, width(node) - 0.6);
          })
          .attr('height', ROW - 1)
          .attr('fill', function (node) {
            return colour(node, two, context)[0];
          })
          .attr('fill-opacity', function (node) {
            return (node.whole ? 0.5 : 1) * colour(node, two, context)[1];
          });
      },
      context,
      function (node) {
        return (
          node.name +
          '\n' +
          (two
            ? draw.sideName(context, 0) +
              ' ' +
              draw.time(node.a) +
              ' (' +
              draw.percent(node.a, total[0]) +
              '), ' +
              draw.sideName(context, 1) +
              ' ' +
              draw.time(node.b) +
              ' (' +
              draw.percent(node.b, total[1]) +
              ')\nchange ' +
              draw.change(node.b - node.a)
            : draw.time(node.a) + ' of kernels, ' + draw.percent(node.a, total[0]))
        );
      }
    );
    var words = svg.append('g').attr('class', 'names').attr('font-size', 11);
    shown.forEach(function (node) {
      var text = draw.fit(node.name, width(node) - 6);
      if (text) {
        draw.text(words, node.x0 * scale + 3, y(node) + 13, text, ink('text'));
      }
    });
  };
})();
