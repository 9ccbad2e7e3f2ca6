// What D3 and pictures/*.js need where there is no browser: a document of elements with attributes, children and text,
// which is written out as SVG. Run before those modules of D3 that the pictures use, and before the pictures; ES5.
var tracedb = tracedb || {pictures: {}};
var document = {documentElement: null};
var d3 = {};

(function () {
  'use strict';
  var SVG = 'http://www.w3.org/2000/svg';

  function Element(name) {
    this.localName = name;
    this.names = [];
    this.values = {};
    this.childNodes = [];
    this.textContent = '';
  }
  Element.prototype.namespaceURI = SVG;
  Element.prototype.ownerDocument = document;
  Element.prototype.setAttribute = function (name, value) {
    if (!Object.prototype.hasOwnProperty.call(this.values, name)) {
      this.names.push(name);
    }
    this.values[name] = typeof value === 'number' ? String(Math.round(value * 100) / 100) : String(value);
  };
  Element.prototype.getAttribute = function (name) {
    return Object.prototype.hasOwnProperty.call(this.values, name) ? this.values[name] : null;
  };
  Element.prototype.appendChild = function (child) {
    return this.insertBefore(child, null);
  };
  Element.prototype.insertBefore = function (child, next) {
    var at = next ? this.childNodes.indexOf(next) : this.childNodes.length;
    this.childNodes.splice(at, 0, child);
    child.parentNode = this;
    return child;
  };
  // The pictures ask for what they just made.
  Element.prototype.querySelectorAll = function (name) {
    return this.childNodes.filter(function (child) {
      return child.localName === name;
    });
  };

  document.createElementNS = function (space, name) {
    return new Element(name);
  };
  document.createElement = function (name) {
    return new Element(name);
  };
  document.documentElement = new Element('svg');

  // The module d3-array of Debian is newer than the others and than ES5; scales need only this of it: round numbers, about
  // so many, in a range.
  d3.tickIncrement = function (start, stop, count) {
    var rough = (stop - start) / Math.max(1, count);
    var power = Math.floor(Math.log(rough) / Math.LN10 + 1e-12);
    var excess = rough / Math.pow(10, power);
    var step = excess >= Math.sqrt(50) ? 10 : excess >= Math.sqrt(10) ? 5 : excess >= Math.sqrt(2) ? 2 : 1;
    return power >= 0 ? step * Math.pow(10, power) : -Math.pow(10, -power) / step;
  };
  d3.ticks = function (start, stop, count) {
    if (!(stop > start)) {
      return stop === start ? [start] : [];
    }
    var step = d3.tickIncrement(start, stop, count);
    var ticks = [];
    var each = step > 0 ? step : -1 / step;
    for (var i = Math.ceil(start / each - 1e-9); i <= stop / each + 1e-9; i++) {
      ticks.push(step > 0 ? i * step : i / -step); // divided by a whole number: 0.3, not 0.30000000000000004
    }
    return ticks;
  };

  // What XML cannot hold becomes a mark, pairs of surrogates their number; the rest is escaped.
  var SPECIAL =
    /[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g;
  var NAMED = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
  function escaped(text) {
    return String(text).replace(SPECIAL, function (found) {
      if (found.length === 2) {
        return '&#' + ((found.charCodeAt(0) - 0xd800) * 0x400 + found.charCodeAt(1) - 0xdc00 + 0x10000) + ';';
      }
      return NAMED[found] || '\ufffd';
    });
  }

  function write(element, out) {
    out.push('<', element.localName);
    element.names.forEach(function (name) {
      out.push(' ', name, '="', escaped(element.values[name]), '"');
    });
    out.push('>', escaped(element.textContent));
    element.childNodes.forEach(function (child) {
      write(child, out);
    });
    out.push('</', element.localName, '>\n');
  }

  // One picture of the page's data, by its id, as a file of SVG in light colours; null if there is none of that id.
  tracedb.staticSvg = function (text, id, width) {
    var data = JSON.parse(text);
    var picture = data.pictures.filter(function (one) {
      return one.id === id;
    })[0];
    if (!picture || !tracedb.pictures[picture.kind]) {
      return null;
    }
    var root = new Element('svg');
    root.setAttribute('xmlns', SVG);
    root.setAttribute('role', 'img');
    root.appendChild(new Element('title')).textContent = picture.title;
    root.appendChild(new Element('desc')).textContent = picture.note || '';
    var paper = root.appendChild(new Element('rect'));
    var context = {
      width: width,
      sides: data.sides || [],
      state: {},
      ink: function (name) {
        return tracedb.draw.LIGHT[name];
      },
      tip: function (marks, tell) {
        marks.append('title').text(tell);
      }
    };
    tracedb.pictures[picture.kind](d3.select(root), picture, context);
    [
      ['width', '100%'],
      ['height', '100%'],
      ['fill', tracedb.draw.LIGHT.paper]
    ].forEach(function (pair) {
      paper.setAttribute(pair[0], pair[1]);
    });
    var out = ['<?xml version="1.0" encoding="UTF-8"?>\n'];
    write(root, out);
    return out.join('');
  };
})();
