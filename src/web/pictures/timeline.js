// One step: where the host was, a lane for each stream, and idle times with their causes.
var tracedb = tracedb || {pictures: {}};

(function () {
  'use strict';
  var draw = (tracedb.draw = tracedb.draw || {});
  // A cause has one colour on both sides; those that are not known here share the last.
  var CAUSES = {host_wait: 'hostwait', kernel_wait: 'kernelwait', graph_gap: 'graphgap', other: 'otherwait'};

  // Lanes are drawn from above; `at.y` goes down with them.
  function heading(at, text, context) {
    var y = at.y + (at.left ? 12 : 10);
    draw
      .text(at.words, 0, y, draw.fit(text, at.left ? at.left - 6 : context.width), context.ink('muted'))
      .attr('font-size', 11);
    at.y += at.left ? 0 : 14;
  }

  function bars(at, list, height, colour, context, tell, least) {
    var range = at.x.domain();
    var top = at.y;
    var shown = list.filter(function (item) {
      return item.at < range[1] && item.at + item.dur > range[0];
    });
    return draw.marks(
      at.body,
      'rect',
      shown,
      function (marks) {
        marks
          .attr('x', function (item) {
            return at.x(Math.max(item.at, range[0]));
          })
          .attr('y', function (item) {
            return top + (item.row || 0) * (height + 2);
          })
          .attr('width', function (item) {
            return Math.max(
              least || 0.5,
              at.x(Math.min(item.at + item.dur, range[1])) - at.x(Math.max(item.at, range[0]))
            );
          })
          .attr('height', height)
          .attr('fill', colour);
      },
      context,
      function (item) {
        return tell(item) + draw.time(item.dur) + ' from ' + draw.time(item.at);
      }
    );
  }

  function drawHost(at, picture, context) {
    var frames = picture.frames.map(function (frame) {
      return {row: frame[0], at: frame[1], dur: frame[2], name: picture.names[frame[3]]};
    });
    if (!frames.length) {
      return;
    }
    heading(at, 'host', context);
    var tell = function (frame) {
      return 'host: ' + frame.name + '\n';
    };
    bars(at, frames, 15, context.ink('faint'), context, tell).attr('stroke', context.ink('line'));
    var names = at.body.append('g').attr('class', 'names').attr('font-size', 10);
    frames.forEach(function (frame) {
      var from = Math.max(at.x(frame.at), at.left);
      var to = Math.min(at.x(frame.at + frame.dur), context.width);
      var text = to > from ? draw.fit(frame.name, to - from - 6) : '';
      if (text) {
        draw.text(names, from + 3, at.y + frame.row * 17 + 11, text, context.ink('text'));
      }
    });
    var deepest = draw.max(frames, function (frame) {
      return frame.row;
    });
    at.y += (deepest + 1) * 17 + 8;
  }

  // Returns the time of each class.
  function drawLanes(at, picture, context) {
    var classes = {};
    var lanes = picture.lanes.map(function () {
      return [];
    });
    var add = function (lane, start, dur, name, index) {
      var kind = picture.classes[index];
      lanes[lane].push({at: start, dur: dur, name: name, class: kind});
      classes[kind] = (classes[kind] || 0) + dur;
    };
    picture.events.forEach(function (event) {
      add(event[0], event[1], event[2], picture.names[event[3]], event[4]);
    });
    (picture.merged || []).forEach(function (mark) {
      add(mark[0], mark[1], mark[2], draw.count(mark[3], 'short event') + ', drawn as one', mark[4]);
    });
    lanes.forEach(function (list, lane) {
      var label = picture.lanes[lane].label;
      heading(at, label, context);
      var colour = function (event) {
        return context.ink(draw.classColour(event.class));
      };
      bars(at, list, 20, colour, context, function (event) {
        return event.name + '\n' + event.class + ', ' + label + ', ';
      });
      at.y += 24;
    });
    return classes;
  }

  // Returns entries of a legend.
  function drawIdle(at, picture, context) {
    var times = {};
    var gaps = picture.idle.map(function (gap) {
      var cause = picture.causes[gap[2]];
      times[cause] = (times[cause] || 0) + gap[1];
      return {at: gap[0], dur: gap[1], cause: cause};
    });
    if (!gaps.length) {
      return [];
    }
    var order = Object.keys(times).sort(function (p, q) {
      return times[q] - times[p] || (p < q ? -1 : 1);
    });
    var shade = function (gap) {
      return context.ink(CAUSES[gap.cause] || 'idle');
    };
    heading(at, 'idle', context);
    // Thousands of gaps of some ns, each drawn wide enough to be seen, would look like an idle step: to scale they fade.
    bars(
      at,
      gaps,
      10,
      shade,
      context,
      function (gap) {
        return 'idle: ' + gap.cause + '\n';
      },
      0.01
    );
    at.y += 18;
    return order.map(function (cause) {
      return ['idle: ' + cause + ' ' + draw.time(times[cause]), shade({cause: cause})];
    });
  }

  tracedb.pictures.timeline = function (svg, picture, context) {
    var left = context.width < 560 ? 0 : 100;
    var full = [0, picture.span || 1];
    var x = d3
      .scaleLinear()
      .domain(context.state.zoom || full)
      .range([left, context.width - 4]);
    var grid = svg.append('g');
    var at = {x: x, left: left, y: 2, body: svg.append('g'), words: svg.append('g')};
    drawHost(at, picture, context);
    var classes = drawLanes(at, picture, context);
    var causes = drawIdle(at, picture, context);
    draw.axis(grid, x, 2, at.y, context);
    var legends = svg.append('g');
    var y = at.y + 26;
    y += draw.legend(legends, y, draw.classEntries(classes, context), context);
    y += draw.legend(legends, y, causes, context);
    draw.canvas(svg, context, y);
    context.axes = {x: x, full: full};
  };
})();
