// Making elements. Text is always text: nothing on this page is parsed as HTML by a script.
(({page}) => {
  page.element = (tag, attributes, text) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, value);
    }
    if (text !== undefined) {
      element.textContent = text;
    }
    return element;
  };

  // Of the browser, not of the page.
  page.isShortcut = (event) => event.ctrlKey || event.metaKey || event.altKey;

  page.button = (text, label, action) => {
    const names = label ? {'aria-label': label, title: label} : {};
    const button = page.element('button', {type: 'button', ...names}, text);
    button.addEventListener('click', action);
    return button;
  };
})(tracedb);
