// Says what lies under the pointer. Everything else works without it.
(function () {
  'use strict';
  var readout = document.getElementById('readout');

  function numbers(element, name) {
    return element.getAttribute(name).split(' ').map(Number);
  }

  // Corner points of an outline of M, L, H and V.
  function points(path) {
    if (path.points) { return path.points; }
    var all = [], x = 0, y = 0;
    path.getAttribute('d').replace(/([MLHV])([-0-9. ]+)/g, function (_, step, at) {
      var to = at.trim().split(' ').map(Number);
      if (step === 'H') { x = to[0]; } else if (step === 'V') { y = to[0]; } else { x = to[0]; y = to[1]; }
      all.push([x, y]);
    });
    path.points = all;
    return all;
  }

  // The height of an outline at x, between its corners; nothing beyond its ends.
  function height(path, x) {
    var all = points(path);
    for (var i = 1; i < all.length; i++) {
      var a = all[i - 1], b = all[i];
      if (a[0] <= x && x <= b[0] && b[0] > a[0]) {
        return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
      }
    }
    return null;
  }

  function value(at, pixels, values, form) {
    var part = (at - pixels[0]) / (pixels[1] - pixels[0]);
    if (form === 'log') { return values[0] * Math.pow(values[1] / values[0], part); }
    return values[0] + part * (values[1] - values[0]);
  }

  function micros(nanos) {
    var us = nanos / 1000;
    return (us < 100 ? us.toPrecision(3) : Math.round(us).toLocaleString('en')) + ' µs';
  }

  function heading(meaning, x) {
    if (meaning === 'percentile') {
      return (100 * (1 - Math.pow(10, -x))).toFixed(Math.max(0, Math.ceil(x))) + ' %';
    }
    return meaning === 'sample' ? 'sample ' + Math.round(x).toLocaleString('en') : micros(x);
  }

  function format(plot, x) {
    var meaning = plot.getAttribute('data-meaning');
    var forms = plot.getAttribute('data-forms').split(' ');
    var xs = numbers(plot, 'data-x'), ys = numbers(plot, 'data-y');
    var values = numbers(plot, 'data-low-high');
    var lines = [heading(meaning, value(x, xs, numbers(plot, 'data-from-to'), forms[0]))];
    plot.querySelectorAll('.line').forEach(function (path) {
      var y = height(path, x);
      if (y === null) { return; }
      var found = value(y, ys, values, forms[1]);
      var text = meaning === 'share' ? (100 * found).toFixed(2) + ' %' : micros(found);
      lines.push(path.getAttribute('data-wait') + '  ' + text);
    });
    return lines.join('\n');
  }

  document.querySelectorAll('svg.chart').forEach(function (svg) {
    var plots = Array.prototype.slice.call(svg.querySelectorAll('.plot'));
    svg.addEventListener('pointermove', function (event) {
      var box = svg.getBoundingClientRect();
      var scale = svg.viewBox.baseVal.width / box.width;
      var x = (event.clientX - box.left) * scale;
      var y = (event.clientY - box.top) * scale + svg.viewBox.baseVal.y;
      var plot = plots.find(function (plot) {
        var xs = numbers(plot, 'data-x'), ys = numbers(plot, 'data-y');
        return xs[0] <= x && x <= xs[1] && ys[1] <= y && y <= ys[0];
      });
      readout.hidden = !plot;
      if (!plot) { return; }
      readout.textContent = format(plot, x);
      var left = Math.min(event.clientX + 16, innerWidth - readout.offsetWidth - 8);
      readout.style.left = left + 'px';
      readout.style.top = Math.min(event.clientY + 16, innerHeight - readout.offsetHeight - 8) + 'px';
    });
    svg.addEventListener('pointerleave', function () { readout.hidden = true; });
  });
}());
