// Zooming: into a part of a time axis (buttons, keys, dragging, Ctrl and wheel), or into a frame of a flame graph.
(({page, pictures}) => {
  const TIMES = {timeline: true, lanes: true};

  page.setZoom = (figure, from, to) => {
    const full = figure.axes.full,
      least = Math.max(1, (full[1] - full[0]) / 1e6);
    if (to - from < least) {
      to = from + least;
    }
    from = Math.max(full[0], from);
    to = Math.min(full[1], to);
    figure.state.zoom = from <= full[0] && to >= full[1] ? undefined : [from, to];
    page.redraw(figure);
  };
  page.zoomBy = (figure, factor, at) => {
    const [from, to] = figure.axes.x.domain(),
      middle = at === null ? (from + to) / 2 : at;
    page.setZoom(figure, middle - (middle - from) * factor, middle + (to - middle) * factor);
  };
  page.reset = (figure) => {
    figure.state.zoom = undefined;
    figure.state.focus = undefined;
    page.redraw(figure);
  };

  // A chosen mark: a frame of a flame graph becomes the whole width; a mark on a time axis gets its surroundings.
  page.choose = (figure, item) => {
    if (figure.picture.kind === 'flame') {
      figure.state.focus = item.index === (figure.state.focus || 0) && item.parent >= 0 ? item.parent : item.index;
      page.redraw(figure);
    } else if (figure.axes) {
      const at = item.at === undefined ? item.start : item.at;
      if (at !== undefined) {
        page.setZoom(figure, at - item.dur, at + 2 * item.dur);
      }
    }
  };

  page.addControls = (figure) => {
    const {kind, title} = figure.picture,
      add = (...all) => figure.controls.append(page.button(...all));
    if (TIMES[kind]) {
      add('+', 'Zoom in: ' + title, () => page.zoomBy(figure, 0.5, null));
      add('−', 'Zoom out: ' + title, () => page.zoomBy(figure, 2, null));
    }
    if (kind === 'flame' && (page.data.sides || []).length > 1) {
      const texts = {both: 'Both', a: 'Only A', b: 'Only B'};
      const views = Object.entries(texts).map(([view, text]) => {
        const button = page.button(text, undefined, () => {
          figure.state.view = view;
          views.forEach((one) => one.setAttribute('aria-pressed', String(one === button)));
          page.redraw(figure);
        });
        button.setAttribute('aria-pressed', String(view === 'both'));
        figure.controls.append(button);
        return button;
      });
    }
    if (TIMES[kind] || kind === 'flame') {
      add('Reset', 'Reset: ' + title, () => page.reset(figure));
    }
    add('Save SVG', 'Save SVG: ' + title, () => page.saveSvg(figure));
  };

  // The picture as a file of its own: drawn once more, with the light colours of the style sheet written out.
  page.saveSvg = (figure) => {
    const style = getComputedStyle(document.documentElement);
    const context = {
      width: 960,
      sides: page.data.sides || [],
      state: figure.state,
      ink: (name) => style.getPropertyValue('--' + name).match(/#\w+/)[0],
      tip: (marks, text) => marks.append('title').text(text)
    };
    const svg = d3.create('svg').attr('xmlns', 'http://www.w3.org/2000/svg');
    pictures[figure.picture.kind](svg, figure.picture, context);
    const text = new XMLSerializer().serializeToString(svg.node()),
      url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
    page.element('a', {href: url, download: figure.picture.id + '.svg'}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  page.bindZoom = (figure) => {
    if (!figure.axes) {
      return;
    }
    const svg = figure.svg,
      at = (event) => {
        const box = svg.getBoundingClientRect();
        return figure.axes.x.invert(((event.clientX - box.left) * figure.width) / box.width);
      };
    let from = null;
    svg.addEventListener(
      'wheel',
      (event) => {
        // the wheel alone scrolls the page
        if (event.ctrlKey) {
          event.preventDefault();
          page.zoomBy(figure, event.deltaY < 0 ? 0.7 : 1.4, at(event));
        }
      },
      {passive: false}
    );
    svg.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'mouse' && !event.button) {
        from = {x: event.clientX, time: at(event)};
      }
    });
    svg.addEventListener('pointerup', (event) => {
      if (from && Math.abs(event.clientX - from.x) > 8) {
        const to = at(event);
        page.setZoom(figure, Math.min(from.time, to), Math.max(from.time, to));
      }
      from = null;
    });
    svg.addEventListener('dblclick', () => page.reset(figure));
  };
})(tracedb);
