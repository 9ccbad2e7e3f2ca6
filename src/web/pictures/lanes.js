// The kernels of one layer on both sides, to scale and one below the other; bands join those that do the same work, and
// brackets those that one side does in one kernel and the other in several.
(({draw, pictures}) => {
  const ROW = 26,
    KINDS = {same: 'the same kernel', replaced: 'another kernel for the same work', fused: 'fused'};

  // Streams of a side, in order of their first kernel.
  const streamsOf = (side) => [...new Set(side.kernels.map((kernel) => kernel.stream))];
  const end = (kernel) => kernel.start + kernel.dur;

  // A list of places as lists of neighbours: [0, 9, 10] is [[0], [9, 10]].
  function runsOf(list) {
    const runs = [];
    [...list]
      .sort((p, q) => p - q)
      .forEach((i) => {
        const last = runs[runs.length - 1];
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
    return picture.links
      .filter((link) => link.a.length && link.b.length)
      .flatMap((link) => {
        const a = runsOf(link.a),
          b = runsOf(link.b),
          apart = link.kind === 'fused' && a.length === b.length && a.length > 1;
        return apart ? a.map((run, i) => ({...link, a: run, b: b[i]})) : [{...link}];
      });
  }

  function reach(list, kernels) {
    return [d3.min(list, (i) => kernels[i].start), d3.max(list, (i) => end(kernels[i]))];
  }

  function tellBand(link, a, b) {
    const names = (list, kernels) => list.map((i) => draw.shortName(kernels[i].name)).join(' + '),
      time = (list, kernels) => d3.sum(list, (i) => kernels[i].dur),
      before = time(link.a, a),
      after = time(link.b, b),
      sure = link.confidence === undefined || link.confidence === null ? '' : Math.round(link.confidence);
    return [
      (KINDS[link.kind] || link.kind) + (sure === '' ? '' : `, confidence ${sure} %`),
      `${names(link.a, a)} → ${names(link.b, b)}`,
      `${draw.time(before)} → ${draw.time(after)}, ${draw.change(after - before)}`
    ].join('\n');
  }

  function drawBrackets(svg, links, x, ends, context) {
    const stroke = context.ink('text'),
      brackets = draw.add(svg, 'g', {class: 'brackets', fill: 'none', stroke, 'stroke-width': 1.5});
    const fused = links.filter((link) => link.kind === 'fused');
    fused.forEach((link) => {
      ends.forEach(({key, kernels, y, down}) => {
        runsOf(link[key]).forEach((run) => {
          const [from, to] = reach(run, kernels).map(x);
          draw.add(brackets, 'path', {d: `M${from} ${y}v${down}H${to}v${-down}`});
        });
      });
    });
  }

  function drawLinks(svg, picture, context, x, upper, lower) {
    const [a, b] = picture.sides.map((side) => side.kernels),
      middle = (upper + lower) / 2,
      links = bandsOf(picture);
    links.forEach((link) => {
      link.from = reach(link.a, a);
      link.to = reach(link.b, b);
    });
    const curve = (from, to, y) => `C${from} ${middle} ${to} ${middle} ${to} ${y}`;
    const place = {
      d: (link) => {
        const [p, q, r, s] = [...link.from, ...link.to].map(x);
        return `M${p} ${upper}${curve(p, r, lower)}H${s}${curve(s, q, upper)}Z`;
      },
      fill: ({kind, from, to}) => {
        const change = to[1] - to[0] - (from[1] - from[0]);
        return context.ink(kind === 'fused' ? 'text' : change > 0 ? 'slower' : 'faster');
      },
      'fill-opacity': ({kind}) => ({fused: 0.22, same: 0.2})[kind] || 0.34,
      stroke: context.ink('paper')
    };
    draw.marks(svg, 'path', links, place, context, (link) => tellBand(link, a, b));
    const ends = [
      {key: 'a', kernels: a, y: upper + 1, down: 5},
      {key: 'b', kernels: b, y: lower - 1, down: -5}
    ];
    drawBrackets(svg, links, x, ends, context);
  }

  function drawSide(svg, side, index, context, x, top) {
    const streams = streamsOf(side),
      width = (kernel) => x(end(kernel)) - x(kernel.start),
      y = (kernel) => top + streams.indexOf(kernel.stream) * ROW,
      colour = (kernel) => draw.classColour(kernel.class);
    const place = {
      x: (kernel) => x(kernel.start),
      y,
      width: (kernel) => Math.max(1, width(kernel) - 0.5),
      height: ROW - 4,
      fill: (kernel) => context.ink(colour(kernel))
    };
    draw.marks(svg, 'rect', side.kernels, place, context, (kernel) => {
      const what = kernel.class + (kernel.role ? ', ' + kernel.role : ''),
        when = `${draw.time(kernel.dur)}, at ${draw.time(kernel.start)}, stream ${kernel.stream}`;
      return `${draw.sideName(context, index)}: ${kernel.name}\n${what}, ${when}`;
    });
    const words = draw.add(svg, 'g', {'font-size': 11, class: 'names'});
    side.kernels.forEach((kernel) => {
      const text = draw.fit(kernel.role || kernel.class, width(kernel) - 5),
        ink = context.ink(colour(kernel) === 'blue' ? 'onblue' : 'ondark');
      if (text.length > 3) {
        draw.text(words, x(kernel.start) + 3, y(kernel) + ROW / 2 + 2, text, ink);
      }
    });
  }

  pictures.lanes = (svg, picture, context) => {
    const ink = context.ink,
      {sides} = picture,
      two = sides.length > 1,
      kernels = sides.flatMap((side) => side.kernels),
      full = [0, Math.max(1, draw.max(kernels, end))],
      classes = draw.sums(kernels, (kernel) => kernel.class, (kernel) => kernel.dur),
      x = draw.scale(context.state.zoom || full, [2, context.width - 4]);
    const heights = sides.map((side) => Math.max(1, streamsOf(side).length) * ROW),
      tops = [20, 20 + heights[0] + 64], // a title above the first side, the bands, and a title below the second
      bottom = two ? tops[1] + heights[1] + 20 : tops[1] - 64,
      grid = svg.append('g'),
      names = svg.append('g');
    sides.forEach((side, index) => {
      const busy = d3.sum(side.kernels, (kernel) => kernel.dur),
        words = `${draw.count(side.kernels.length, 'kernel')}, ${draw.time(busy)} of kernels`,
        title = draw.sideTitle(context, index, words);
      draw.text(names, 2, index ? bottom - 6 : tops[0] - 6, title, ink('text')).attr('font-weight', 600);
    });
    draw.axis(grid, x, 20, bottom, context);
    const body = draw.add(svg, 'g', {class: 'zoomable'});
    if (two) {
      drawLinks(body, picture, context, x, tops[0] + heights[0] - 3, tops[1] - 1);
    }
    sides.forEach((side, index) => drawSide(body, side, index, context, x, tops[index]));
    const entries = draw.classEntries(classes, context);
    if (two) {
      entries.push(
        ['band: faster', ink('faster'), 0.4],
        ['band: slower', ink('slower'), 0.4],
        ['bracket: fused', ink('text'), 0.3]
      );
    }
    const legend = draw.legend(svg.append('g'), bottom + 24, entries, context);
    draw.canvas(svg, context, bottom + 24 + legend);
    context.axes = {x, full};
  };
})(tracedb);
