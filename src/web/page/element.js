// Making elements. Text is always text: nothing on this page is parsed as HTML by a script.
var tracedb = tracedb || {pictures: {}};
tracedb.page = tracedb.page || {};

tracedb.page.element = function (tag, attributes, text) {
  'use strict';
  const element = document.createElement(tag);
  for (const name in attributes) {
    element.setAttribute(name, attributes[name]);
  }
  if (text !== undefined) {
    element.textContent = text;
  }
  return element;
};

tracedb.page.button = function (text, label, action) {
  'use strict';
  const button = tracedb.page.element(
    'button',
    label ? {type: 'button', 'aria-label': label, title: label} : {type: 'button'},
    text
  );
  button.addEventListener('click', action);
  return button;
};
