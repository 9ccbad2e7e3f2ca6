// Starts the page: theme, contents, and the pictures one after the other, so that no task is long.
document.addEventListener('DOMContentLoaded', () => {
  const PAPER = 670; // pixels between the margins of A4, the narrowest in use, less those of the page
  const root = document.documentElement,
    contents = document.getElementById('contents'),
    host = document.getElementById('pictures');
  const data = JSON.parse(document.getElementById('data').textContent || '{}');
  const {page, pictures} = tracedb;
  page.data = data;
  if (data.cycles) {
    tracedb.draw.countCycles();
  }
  page.figures = [];

  function draw(figure) {
    const {picture, drawing} = figure,
      focused = drawing.contains(document.activeElement);
    const context = {
      width: Math.max(280, Math.round(drawing.clientWidth || 720)),
      sides: data.sides || [],
      state: figure.state,
      ink: (name) => 'var(--' + name + ')',
      tip: (marks, text) =>
        marks.each(function () {
          this.tell = text;
        })
    };
    const about = `${picture.title}. ${picture.note || ''} Arrow keys go through the marks.`,
      svg = tracedb.draw.set(d3.create('svg'), {role: 'img', tabindex: 0, 'aria-label': about});
    try {
      pictures[picture.kind](svg, picture, context);
    } catch (error) {
      console.error(picture.id, error);
      const failed = 'This picture could not be drawn: ' + error.message;
      drawing.replaceChildren(page.element('p', {class: 'note'}, failed));
      return;
    }
    drawing.replaceChildren(svg.node());
    figure.svg = svg.node();
    figure.axes = context.axes;
    figure.width = context.width;
    if (focused) {
      figure.svg.focus({preventScroll: true});
    }
    page.bindMarks(figure);
  }
  page.redraw = (figure) => {
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
    const frame = page.element('figure', {class: 'picture', id: 'picture-' + index, 'data-kind': picture.kind}),
      caption = page.element('figcaption', {}),
      controls = page.element('div', {class: 'controls'}),
      drawing = page.element('div', {class: 'drawing'});
    caption.append(page.element('h2', {}, picture.title), controls);
    if (picture.note) {
      caption.append(page.element('p', {class: 'note'}, picture.note));
    }
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
    .filter((picture) => pictures[picture.kind])
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
    page.figures.forEach(page.redraw);
  });
  addEventListener('beforeprint', () => {
    later.splice(0).forEach((piece) => piece());
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
