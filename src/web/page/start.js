// Starts the page: theme, contents, and the pictures one after the other, so that no task is long.
var tracedb = tracedb || {pictures: {}};

document.addEventListener('DOMContentLoaded', function () {
  'use strict';
  const PAPER = 670; // pixels between the margins of A4, the narrowest in use, less those of the page
  const root = document.documentElement,
    contents = document.getElementById('contents'),
    host = document.getElementById('pictures');
  const data = JSON.parse(document.getElementById('data').textContent || '{}');
  const page = tracedb.page;
  page.data = data;
  if (data.cycles) tracedb.draw.countCycles();
  page.figures = [];

  function draw(figure) {
    const context = {
      width: Math.max(280, Math.round(figure.drawing.clientWidth || 720)),
      sides: data.sides || [],
      state: figure.state,
      ink: (name) => 'var(--' + name + ')',
      tip: (marks, text) =>
        marks.each(function () {
          this.tell = text;
        })
    };
    const svg = d3
      .create('svg')
      .attr('role', 'img')
      .attr('tabindex', 0)
      .attr(
        'aria-label',
        figure.picture.title + '. ' + (figure.picture.note || '') + ' Arrow keys go through the marks.'
      );
    try {
      tracedb.pictures[figure.picture.kind](svg, figure.picture, context);
    } catch (error) {
      console.error(figure.picture.id, error);
      figure.drawing.replaceChildren(
        page.element('p', {class: 'note'}, 'This picture could not be drawn: ' + error.message)
      );
      return;
    }
    const focused = figure.drawing.contains(document.activeElement);
    figure.drawing.replaceChildren(svg.node());
    figure.svg = svg.node();
    figure.axes = context.axes;
    figure.width = context.width;
    if (focused) {
      figure.svg.focus({preventScroll: true});
    }
    page.bindMarks(figure);
  }
  page.redraw = function (figure) {
    if (figure.waiting) {
      return;
    }
    figure.waiting = true;
    requestAnimationFrame(() => {
      figure.waiting = false;
      draw(figure);
    });
  };

  function addFigure(picture, index) {
    const frame = page.element('figure', {class: 'picture', id: 'picture-' + index, 'data-kind': picture.kind});
    const caption = page.element('figcaption', {});
    const controls = page.element('div', {class: 'controls'});
    caption.append(page.element('h2', {}, picture.title), controls);
    if (picture.note) {
      caption.append(page.element('p', {class: 'note'}, picture.note));
    }
    const drawing = page.element('div', {class: 'drawing'});
    frame.append(caption, drawing);
    // The first account of time belongs beside the reasons: one glance tells what changed.
    const headline = document.querySelector('#summary h1');
    if (picture.kind === 'waterfall' && headline && !document.querySelector('.lead')) {
      frame.classList.add('lead');
      headline.after(frame);
    } else {
      host.append(frame);
    }
    const figure = {picture, frame, drawing, controls, state: {}};
    page.figures.push(figure);
    page.addControls(figure);
    return figure;
  }

  // Themes: as the system has it, until the reader chooses; kept for the session where the browser allows it.
  function addTheme() {
    const dark = () =>
      (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
    const button = page.button('', undefined, () => {
      root.dataset.theme = dark() ? 'light' : 'dark';
      name();
    });
    button.id = 'theme';
    const name = () => {
      button.textContent = dark() ? 'Light' : 'Dark';
    };
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', name);
    name();
    contents.append(button);
  }

  function addContents() {
    const links = page.element('div', {class: 'links'});
    contents.append(links);
    for (const figure of page.figures) {
      links.append(page.element('a', {href: '#' + figure.frame.id}, figure.picture.title));
    }
    for (const section of document.querySelectorAll('#tables section[id]')) {
      const heading = section.querySelector('h2');
      if (heading) {
        links.append(page.element('a', {href: '#' + section.id}, heading.textContent));
      }
    }
    addTheme();
    contents.hidden = false;
  }

  const later = [];
  function work() {
    // one piece a task
    const piece = later.shift();
    if (!piece) {
      root.dataset.ready = 'yes';
      return;
    }
    piece();
    setTimeout(work, 0);
  }

  (data.pictures || [])
    .filter((picture) => tracedb.pictures[picture.kind])
    .forEach((picture, index) => {
      const figure = addFigure(picture, index);
      later.push(() => draw(figure));
    });
  addContents();
  document.querySelectorAll('table.data').forEach((table) => later.push(() => page.bindTable(table)));
  work();

  let width = root.clientWidth;
  addEventListener('resize', () => {
    if (root.clientWidth === width) {
      return;
    }
    width = root.clientWidth;
    for (const figure of page.figures) {
      page.redraw(figure);
    }
  });
  addEventListener('beforeprint', () => {
    while (later.length) {
      later.shift()();
    }
    page.hideTip();
    root.classList.add('paper');
    for (const table of document.querySelectorAll('table.data')) {
      table.style.zoom = Math.min(1, PAPER / table.offsetWidth);
    }
  });
  addEventListener('afterprint', () => {
    root.classList.remove('paper');
    for (const table of document.querySelectorAll('table.data')) {
      table.style.zoom = '';
    }
  });
});
