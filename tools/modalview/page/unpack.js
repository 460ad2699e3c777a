// SPDX-License-Identifier: Apache-2.0
// Seven bits a character, highest first; characters of two bytes stand for those that a page cannot have.
function unpack(text) {
  const bytes = new Uint8Array(Math.floor((7 * text.length) / 8));
  for (let i = 0, at = 0, held = 0, n = 0; i < text.length; i++) {
    held = ((held << 7) | (text.charCodeAt(i) & 127)) & 0x3fff;
    n += 7;
    if (n >= 8) bytes[at++] = held >> (n -= 8);
  }
  return bytes;
}
