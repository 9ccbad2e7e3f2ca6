// Flame graph from the root down: the width is kernel time. With two sides the width is the sum of both, so that what only
// one side has is seen too, and the colour says which side takes more.
(({draw, pictures}) => {
  const ROW = 18;

  // Nodes with the sums of what is below them: a, b, and size by the chosen view.
  function tree(picture, view) {
    const nodes = picture.nodes.map(([parent, name, a = 0, b = 0], index) => ({
      index,
      parent: index ? parent : -1,
      name: picture.names[name],
      a,
      b,
      children: []
    }));
    for (const node of nodes.slice(1).reverse()) {
      nodes[node.parent].a += node.a;
      nodes[node.parent].b += node.b;
    }
    nodes.forEach((node) => {
      node.size = view === 'both' ? node.a + node.b : node[view];
      if (node.parent >= 0) {
        nodes[node.parent].children.push(node);
      }
    });
    nodes.forEach((node) => node.children.sort((p, q) => q.size - p.size || p.index - q.index));
    return nodes;
  }

  // A node with all below it, each before its children, in times from the left end of the root.
  function placed(root) {
    root.x0 = root.depth = 0;
    const seen = [],
      stack = [root];
    while (stack.length) {
      const node = stack.pop();
      let x = node.x0;
      seen.push(node);
      node.children.forEach((child) => {
        child.x0 = x;
        child.depth = node.depth + 1;
        x += child.size;
      });
      stack.push(...node.children.slice().reverse());
    }
    return seen;
  }

  function colour({name, a, b}, two, context) {
    if (two) {
      const share = (b - a) / (a + b || 1),
        ink = share > 0.005 ? 'slower' : share < -0.005 ? 'faster' : 'grey';
      return [context.ink(ink), 0.12 + 0.5 * Math.min(1, Math.abs(share) * 1.6)];
    }
    // One side: greys by name, so that neighbours differ.
    let hash = 0;
    for (let i = 0; i < Math.min(200, name.length); i++) {
      hash = (hash * 31 + name.charCodeAt(i)) % 997;
    }
    return [context.ink('a'), 0.2 + (0.4 * hash) / 997];
  }

  function tell({name, a, b}, whole, two, context) {
    const shareOf = (time, all) => `${draw.time(time)} (${draw.percent(time, all)})`;
    if (!two) {
      return `${name}\n${draw.time(a)} of kernels, ${draw.percent(a, whole.a)}`;
    }
    const sides = [shareOf(a, whole.a), shareOf(b, whole.b)].map((text, i) => draw.sideName(context, i) + ' ' + text);
    return `${name}\n${sides.join(', ')}\nchange ${draw.change(b - a)}`;
  }

  pictures.flame = (svg, picture, context) => {
    const ink = context.ink,
      two = context.sides.length > 1 && picture.nodes.some((node) => node.length > 3),
      nodes = tree(picture, two ? context.state.view || 'both' : 'a'),
      chosen = nodes[context.state.focus || 0],
      root = chosen && chosen.size ? chosen : nodes[0],
      scale = context.width / (root.size || 1),
      below = placed(root).filter((node) => node.size * scale >= 0.7),
      above = [];
    for (let up = root; up.parent >= 0;) {
      up = nodes[up.parent];
      above.unshift(up);
    }
    below.forEach((node) => (node.depth += above.length));
    above.forEach((node, depth) => Object.assign(node, {depth, x0: 0, whole: true}));
    const shown = above.concat(below),
      top = two ? 22 : 0,
      y = (node) => top + node.depth * ROW,
      width = (node) => (node.whole ? context.width : node.size * scale);
    draw.canvas(svg, context, top + (draw.max(shown, (node) => node.depth) + 1) * ROW + 6);
    if (two) {
      const entries = [
        ['less on ' + draw.sideName(context, 1), ink('faster'), 0.62],
        ['more', ink('slower'), 0.62],
        ['the same', ink('grey'), 0.2]
      ];
      draw.legend(svg.append('g'), 2, entries, context);
    }
    const place = {
      x: (node) => node.x0 * scale,
      y,
      width: (node) => Math.max(0.6, width(node) - 0.6),
      height: ROW - 1,
      fill: (node) => colour(node, two, context)[0],
      'fill-opacity': (node) => (node.whole ? 0.5 : 1) * colour(node, two, context)[1]
    };
    draw.marks(svg, 'rect', shown, place, context, (node) => tell(node, nodes[0], two, context));
    const words = draw.add(svg, 'g', {class: 'names', 'font-size': 11});
    shown.forEach((node) => {
      const text = draw.fit(node.name, width(node) - 6);
      if (text) {
        draw.text(words, node.x0 * scale + 3, y(node) + 13, text, ink('text'));
      }
    });
  };
})(tracedb);
