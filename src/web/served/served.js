// What served pages do beyond links and forms: keys, and windows of a trace in Perfetto. All else works without.
document.addEventListener('DOMContentLoaded', () => {
  const KEYS = {
    '/': 'filter', 'j k': 'next, previous row', Enter: 'open it', 'a b': 'choose it as baseline, candidate',
    c: 'compare A with B', s: 'SQL', u: 'one view up', '?': 'these keys',
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const rows = () => all('ul.slower > li, main li, table.data tbody tr').filter((row) => row.querySelector('a') && row.getClientRects().length && !row.closest('.facets'));

  function move(by) {
    const list = rows();
    const at = list.findIndex((row) => row.contains(document.activeElement));
    const row = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
    if (row) {
      row.tabIndex = -1;
      row.focus();
    }
  }

  function follow(selector) {
    const link = document.querySelector(selector);
    if (link) link.click();
  }

  function showKeys() {
    const shown = document.querySelector('.keys');
    if (shown) return shown.remove();
    const box = document.createElement('dl');
    box.className = 'keys';
    box.setAttribute('role', 'status');
    for (const [key, text] of Object.entries(KEYS)) {
      for (const [tag, content] of [['dt', key], ['dd', text]]) box.appendChild(document.createElement(tag)).textContent = content;
    }
    document.body.append(box);
  }

  document.addEventListener('keydown', (event) => {
    const {target, key} = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches('input:not([type=radio]), textarea, select')) {
      if (key === 'Escape') target.blur();
      return;
    }
    const row = target.closest('tr, li');
    const choose = (side) => row && row.querySelector(`input[name=${side}]`)?.click();
    const acts = {
      '/': () => document.querySelector('#filter, .filter input:not([type]), textarea')?.focus(),
      j: () => move(1),
      k: () => move(-1),
      a: () => choose('a'),
      b: () => choose('b'),
      c: () => document.querySelector('form.choose')?.requestSubmit(),
      s: () => follow('a[href*="sql?"]'),
      u: () => all('.crumbs a').at(-1)?.click(),
      '?': showKeys,
      Escape: () => document.querySelector('.keys')?.remove(),
    };
    if (key === 'Enter' && row === target) {
      (row.querySelector('a.next') || row.querySelector('a')).click();
    } else if (acts[key]) {
      acts[key]();
    } else {
      return;
    }
    event.preventDefault();
  });

  // Perfetto's page tells that it listens by an answer to PING; it gets the trace and nobody else does.
  async function openInPerfetto(button) {
    const address = button.dataset.perfetto, origin = new URL(address).origin;
    const other = open(address);
    const answer = await fetch(button.dataset.window);
    if (!answer.ok || !other) {
      const page = answer.ok ? null : new DOMParser().parseFromString(await answer.text(), 'text/html');
      button.textContent = page ? page.querySelector('main p').textContent : 'The browser blocks the new page';
      if (other) other.close();
      return;
    }
    const buffer = await answer.arrayBuffer();
    const timer = setInterval(() => other.postMessage('PING', origin), 100);
    addEventListener('message', function hear(event) {
      if (event.origin !== origin || event.data !== 'PONG') return;
      clearInterval(timer);
      removeEventListener('message', hear);
      const fileName = /filename="(.*)"/.exec(answer.headers.get('content-disposition'))[1];
      other.postMessage({perfetto: {buffer, title: `${document.title}: ${fileName}`, fileName}}, origin, [buffer]);
    });
  }
  // A statement that is too long for an address.
  document.querySelector('form.sql')?.addEventListener('submit', ({target}) => {
    target.method = new URLSearchParams(new FormData(target)).toString().length > 4000 ? 'post' : 'get';
  });
  for (const button of all('button[data-window]')) {
    button.hidden = false;
    button.addEventListener('click', () => openInPerfetto(button));
  }
});
