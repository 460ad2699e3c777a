// SPDX-License-Identifier: Apache-2.0
// The bar under the time line: how far each frame may be trusted, and why, where the pointer is over it.

// parts: the header's `quality` (formats/viewer_data.md).
export function showQuality(bar, reason, parts) {
  bar.hidden = parts.length === 0;
  for (const part of parts) {
    const piece = document.createElement('div');
    const last = part.end - 1;
    const frames = last > part.first ? `frames ${part.first} to ${last}` : `frame ${part.first}`;
    const text = `${frames}: ${part.rating}${part.reason ? `\n${part.reason}` : ''}`;
    piece.className = part.rating;
    piece.style.flex = String(part.end - part.first);
    piece.setAttribute('aria-label', text);
    piece.addEventListener('pointerenter', () => { reason.textContent = text; reason.hidden = false; });
    piece.addEventListener('pointerleave', () => { reason.hidden = true; });
    bar.append(piece);
  }
}
