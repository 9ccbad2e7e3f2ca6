// One step: where the host was, a lane for each stream, and idle times with their causes.
(({draw, pictures}) => {
  // A cause has one colour on both sides; those that are not known here share the last.
  const CAUSES = {host_wait: 'hostwait', kernel_wait: 'kernelwait', graph_gap: 'graphgap', other: 'otherwait'};

  // Lanes are drawn from above; `at.y` goes down with them.
  function heading(at, text, {ink, width}) {
    const y = at.y + (at.left ? 12 : 10);
    draw.text(at.words, 0, y, draw.fit(text, at.left ? at.left - 6 : width), ink('muted')).attr('font-size', 11);
    at.y += at.left ? 0 : 14;
  }

  function bars(at, list, height, fill, context, tell, least = 0.5) {
    const [from, to] = at.x.domain(),
      top = at.y,
      x = (item) => at.x(Math.max(item.at, from)),
      shown = list.filter((item) => item.at < to && item.at + item.dur > from);
    const place = {
      x,
      y: (item) => top + (item.row || 0) * (height + 2),
      width: (item) => Math.max(least, at.x(Math.min(item.at + item.dur, to)) - x(item)),
      height,
      fill
    };
    return draw.marks(at.body, 'rect', shown, place, context, (item) => {
      return `${tell(item)}${draw.time(item.dur)} from ${draw.time(item.at)}`;
    });
  }

  function drawHost(at, picture, context) {
    const frames = picture.frames.map(([row, at, dur, name]) => ({row, at, dur, name: picture.names[name]}));
    if (!frames.length) {
      return;
    }
    heading(at, 'host', context);
    const marks = bars(at, frames, 15, context.ink('faint'), context, (frame) => `host: ${frame.name}\n`);
    marks.attr('stroke', context.ink('line'));
    const names = draw.add(at.body, 'g', {class: 'names', 'font-size': 10});
    frames.forEach((frame) => {
      const from = Math.max(at.x(frame.at), at.left),
        to = Math.min(at.x(frame.at + frame.dur), context.width),
        text = to > from ? draw.fit(frame.name, to - from - 6) : '';
      if (text) {
        draw.text(names, from + 3, at.y + frame.row * 17 + 11, text, context.ink('text'));
      }
    });
    at.y += (draw.max(frames, (frame) => frame.row) + 1) * 17 + 8;
  }

  // Returns the time of each class.
  function drawLanes(at, picture, context) {
    const eventsOf = (list, nameOf) =>
      list.map(([lane, at, dur, number, kind]) => ({lane, at, dur, name: nameOf(number), class: picture.classes[kind]}));
    const events = eventsOf(picture.events, (name) => picture.names[name]),
      merged = eventsOf(picture.merged, (n) => draw.count(n, 'short event') + ', drawn as one'),
      all = events.concat(merged);
    picture.lanes.forEach(({label}, lane) => {
      heading(at, label, context);
      const own = all.filter((event) => event.lane === lane),
        colour = (event) => context.ink(draw.classColour(event.class));
      bars(at, own, 20, colour, context, (event) => `${event.name}\n${event.class}, ${label}, `);
      at.y += 24;
    });
    return draw.sums(all, (event) => event.class, (event) => event.dur);
  }

  // Returns entries of a legend.
  function drawIdle(at, picture, context) {
    const gaps = picture.idle.map(([at, dur, cause]) => ({at, dur, cause: picture.causes[cause]})),
      times = draw.sums(gaps, (gap) => gap.cause, (gap) => gap.dur);
    if (!gaps.length) {
      return [];
    }
    const shade = ({cause}) => context.ink(CAUSES[cause] || 'idle');
    heading(at, 'idle', context);
    // Thousands of gaps of some ns, each drawn wide enough to be seen, would look like an idle step: to scale they fade.
    bars(at, gaps, 10, shade, context, (gap) => `idle: ${gap.cause}\n`, 0.01);
    at.y += 18;
    return draw.longestFirst(times).map((cause) => [`idle: ${cause} ${draw.time(times[cause])}`, shade({cause})]);
  }

  pictures.timeline = (svg, picture, context) => {
    const left = context.width < 560 ? 0 : 100,
      full = [0, picture.span || 1],
      x = draw.scale(context.state.zoom || full, [left, context.width - 4]);
    const grid = svg.append('g'),
      at = {x, left, y: 2, body: svg.append('g'), words: svg.append('g')};
    drawHost(at, picture, context);
    const classes = drawLanes(at, picture, context),
      causes = drawIdle(at, picture, context);
    draw.axis(grid, x, 2, at.y, context);
    const legends = svg.append('g');
    let y = at.y + 26;
    y += draw.legend(legends, y, draw.classEntries(classes, context), context);
    y += draw.legend(legends, y, causes, context);
    draw.canvas(svg, context, y);
    context.axes = {x, full};
  };
})(tracedb);
