// Decodes COCO's compressed run lengths and draws masks.
"use strict";

Gallery.masks = (() => {
  const INSIDE = 110;
  const EDGE = 255;

  // Run lengths: outside, inside, outside, ..., column by column.
  function runs(counts) {
    const lengths = [];
    let at = 0;
    while (at < counts.length) {
      let value = 0;
      let shift = 0;
      let bits = 32;
      while (bits & 32) {
        bits = counts.charCodeAt(at) - 48;
        value |= (bits & 31) << shift;
        shift += 5;
        at += 1;
      }
      if (bits & 16) value |= -1 << shift;
      lengths.push(value + (lengths.length > 2 ? lengths[lengths.length - 2] : 0));
    }
    return lengths;
  }

  // The object of each pixel: (height * width), row by row; its number in the list from 1, or 0.
  function idMap(width, height, objects) {
    const ids = new Uint16Array(width * height);
    objects.forEach((item, index) => {
      if (item.rle.size[0] !== height || item.rle.size[1] !== width) return;
      let at = 0;
      runs(item.rle.counts).forEach((length, number) => {
        const end = Math.min(at + length, width * height);
        if (number % 2) {
          for (let place = at; place < end; place += 1) ids[(place % height) * width + Math.floor(place / height)] = index + 1;
        }
        at = end;
      });
    });
    return ids;
  }

  // Draws the masks with shown[index]: tinted inside, with an opaque line of pixels along the edge.
  function draw(canvas, ids, colors, shown) {
    const { width, height } = canvas;
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    for (let place = 0; place < ids.length; place += 1) {
      const id = ids[place];
      if (!id || !shown[id - 1]) continue;
      const x = place % width;
      const edge =
        (x > 0 && ids[place - 1] !== id) ||
        (x < width - 1 && ids[place + 1] !== id) ||
        (place >= width && ids[place - width] !== id) ||
        (place + width < ids.length && ids[place + width] !== id);
      const [red, green, blue] = colors[id - 1];
      image.data.set([red, green, blue, edge ? EDGE : INSIDE], 4 * place);
    }
    context.putImageData(image, 0, 0);
  }

  const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

  return { runs, idMap, draw, rgb };
})();
