// What a mark of a picture tells: under the pointer, or under the focus while the arrow keys go from mark to mark.
(({page}) => {
  let tip = null,
    current = null,
    pointer = '',
    moved = true;

  // Where a pointer rests, a picture that is scrolled or drawn anew makes events too: they are no reason to leave the mark
  // that the keyboard went to.
  const place = (event) => event.screenX + ' ' + event.screenY;
  document.addEventListener(
    'pointermove',
    (event) => {
      moved = place(event) !== pointer;
      pointer = place(event);
    },
    true
  );

  page.hideTip = () => {
    if (current) {
      current.classList.remove('current');
    }
    current = null;
    if (tip) {
      tip.hidden = true;
    }
  };

  function showTip(mark, x, y) {
    if (!tip) {
      tip = page.element('div', {id: 'tip', role: 'status', hidden: ''});
      document.body.append(tip);
    }
    if (current !== mark) {
      page.hideTip();
      current = mark;
      mark.classList.add('current');
      tip.textContent = page.shorten(mark.tell(mark.__data__), 2000);
    }
    tip.hidden = false;
    const box = tip.getBoundingClientRect(),
      wide = document.documentElement.clientWidth,
      high = innerHeight;
    tip.style.left = Math.max(4, Math.min(x + 14, wide - box.width - 4)) + 'px';
    tip.style.top = (y + 18 + box.height < high ? y + 18 : Math.max(4, y - box.height - 10)) + 'px';
  }

  page.shorten = (text, most) => (text.length > most ? text.slice(0, most) + '…' : text);

  function showAt(mark) {
    // of the keyboard: beside the mark
    mark.scrollIntoView({block: 'nearest', inline: 'nearest'});
    const box = mark.getBoundingClientRect();
    showTip(mark, box.left + Math.min(box.width / 2, 40), box.bottom - 12);
  }

  // Marks with their boxes, in reading order, made when the keyboard first needs them.
  function boxes(figure) {
    if (!figure.boxes) {
      figure.boxes = [...figure.svg.querySelectorAll('.marks > rect, .marks > circle, .marks > path')]
        .map((mark) => {
          const box = mark.getBBox();
          return {
            mark,
            x: box.x + box.width / 2,
            y: Math.round(box.y + (mark.tagName === 'rect' ? 0 : box.height / 2))
          };
        })
        .sort((p, q) => p.y - q.y || p.x - q.x);
    }
    return figure.boxes;
  }

  // The next mark in a direction: along the row, or the nearest one of the next row.
  function neighbour(list, from, key) {
    if (!from) {
      return list[0];
    }
    const index = list.indexOf(from);
    if (key === 'ArrowRight' || key === 'ArrowLeft') {
      return list[index + (key === 'ArrowRight' ? 1 : -1)] || from;
    }
    const down = key === 'ArrowDown',
      rows = list.filter((one) => (down ? one.y > from.y : one.y < from.y));
    if (!rows.length) {
      return from;
    }
    const row = down ? rows[0].y : rows[rows.length - 1].y;
    return rows
      .filter((one) => one.y === row)
      .reduce((best, one) => (Math.abs(one.x - from.x) < Math.abs(best.x - from.x) ? one : best));
  }

  function onKey(figure, event) {
    if (page.isShortcut(event)) {
      return;
    }
    const list = boxes(figure),
      at = current && list.find((one) => one.mark === current);
    if (/^Arrow/.test(event.key) && list.length) {
      const next = neighbour(list, at, event.key);
      showAt(next.mark);
    } else if (event.key === 'Enter' && at) {
      page.choose(figure, at.mark.__data__);
    } else if (event.key === 'Escape') {
      page.reset(figure);
      page.hideTip();
    } else if ((event.key === '+' || event.key === '-') && figure.axes) {
      page.zoomBy(figure, event.key === '+' ? 0.5 : 2, at ? figure.axes.x.invert(at.x) : null);
    } else {
      return;
    }
    event.preventDefault();
  }

  page.bindMarks = (figure) => {
    const svg = figure.svg;
    if (current && !current.isConnected) {
      page.hideTip();
    }
    figure.boxes = null;
    svg.addEventListener('pointermove', (event) => {
      if (!moved) {
        return;
      }
      const mark = event.target.closest('.marks > *');
      if (mark && mark.tell) {
        showTip(mark, event.clientX, event.clientY);
      } else {
        page.hideTip();
      }
    });
    svg.addEventListener('pointerleave', (event) => {
      if (place(event) !== pointer) {
        page.hideTip();
      }
    });
    svg.addEventListener('blur', page.hideTip);
    svg.addEventListener('keydown', (event) => onKey(figure, event));
    svg.addEventListener('click', (event) => {
      const mark = event.target.closest('.marks > *');
      if (mark && mark.tell) {
        page.choose(figure, mark.__data__);
      }
    });
    page.bindZoom(figure);
  };
})(tracedb);
