// Tables: sorted by a click or Enter on a header, filtered by a text. Rows of what is left out stay last.
(({page}) => {
  const ROWS_WITHOUT_FILTER = 8,
    LONG = 140;

  function value(row, column, numeric) {
    const cell = row.cells[column],
      raw = cell ? (cell.dataset.value === undefined ? cell.textContent : cell.dataset.value) : '';
    if (!numeric) {
      return raw;
    }
    return raw.trim() === '' || !isFinite(raw) ? null : Number(raw);
  }

  // Unknown values last, equal ones in the order they had.
  function sort(table, column, numeric, down) {
    const body = table.tBodies[0],
      ordered = [...body.rows];
    const keys = new Map(ordered.map((row) => [row, value(row, column, numeric)]));
    const order = new Intl.Collator('en', {numeric: true});
    ordered.sort((p, q) => {
      const a = keys.get(p),
        b = keys.get(q);
      if (a === null || b === null) {
        return (a === null) - (b === null);
      }
      const by = numeric ? a - b : order.compare(a, b);
      return down ? -by : by;
    });
    body.append(...ordered);
  }

  function bindHeader(table, header, column) {
    const numeric = header.dataset.type === 'number' || header.dataset.type === 'time',
      text = header.textContent;
    const button = page.button('', undefined, () => {
      const down = header.getAttribute('aria-sort') ? header.getAttribute('aria-sort') !== 'descending' : numeric;
      for (const other of header.parentNode.cells) {
        other.removeAttribute('aria-sort');
      }
      header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      sort(table, column, numeric, down);
    });
    button.append(...header.childNodes);
    button.title = 'Sort by ' + text;
    header.append(button);
    if (numeric) {
      for (const row of table.rows) {
        if (row.cells[column]) {
          row.cells[column].classList.add('num');
        }
      }
    }
  }

  function addFilter(table, title) {
    const box = page.element('div', {class: 'filter'}),
      input = page.element('input', {
        type: 'search',
        placeholder: 'Filter rows ( / )',
        'aria-label': 'Filter rows: ' + title
      });
    const count = page.element('span', {class: 'note', role: 'status'}),
      rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = wanted !== '' && !texts[i].includes(wanted);
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = wanted ? shown + ' of ' + rows.length + ' rows' : '';
    };
    input.addEventListener('input', apply);
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        if (!input.value) {
          input.blur();
        }
        input.value = '';
        apply();
      }
    });
    box.append(input, count);
    return box;
  }

  // What is out of view to the right is said, since not every browser shows that a table scrolls.
  function tellHidden(scroll, table) {
    const note = page.element('p', {class: 'note'}),
      heads = table.tHead.rows[0].cells;
    const tell = () => {
      const right = scroll.getBoundingClientRect().right,
        hidden = [...heads].filter((head) => head.getBoundingClientRect().right > right + 2).length;
      note.textContent = hidden ? hidden + ' of ' + heads.length + ' columns are to the right: scroll the table →' : '';
    };
    scroll.before(note);
    scroll.addEventListener('scroll', tell, {passive: true});
    new ResizeObserver(tell).observe(scroll);
  }

  page.bindTable = (table) => {
    if (!table.tHead || !table.tBodies.length) {
      return;
    }
    const section = table.closest('section'),
      heading = section && section.querySelector('h2'),
      title = heading ? heading.textContent : 'table';
    for (const cell of table.tBodies[0].querySelectorAll('td')) {
      if (cell.textContent.length > LONG && !cell.firstElementChild) {
        const text = page.element(
          'div',
          {class: 'long', title: page.shorten(cell.textContent, 2000)},
          cell.textContent
        );
        cell.dataset.value = cell.dataset.value === undefined ? cell.textContent : cell.dataset.value;
        cell.replaceChildren(text);
      }
    }
    const filter = table.tBodies[0].rows.length > ROWS_WITHOUT_FILTER ? addFilter(table, title) : null;
    const scroll = page.element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title});
    table.before(scroll);
    scroll.append(table);
    tellHidden(scroll, table);
    if (filter) {
      scroll.before(filter);
    }
    [...table.tHead.rows[table.tHead.rows.length - 1].cells].forEach((header, column) =>
      bindHeader(table, header, column)
    );
  };

  // "/" goes to the filter of the table that is in view, else to the next one below.
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || page.isShortcut(event) || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
      return;
    }
    const filters = [...document.querySelectorAll('.filter input')];
    const next =
      filters.find((input) => input.closest('section, #tables').getBoundingClientRect().bottom > 60) ||
      filters[filters.length - 1];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });
})(tracedb);
