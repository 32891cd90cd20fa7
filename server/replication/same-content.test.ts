import { expect, it } from 'vitest';
import { isSameContent } from './same-content.ts';

const a = { etag: 'a'.repeat(32), size: 5, modified: 10_500, hasRandomEtag: false };
const b = { ...a, etag: 'b'.repeat(32) };
const parts = { ...b, etag: `${'b'.repeat(32)}-2` };
const sealed = { ...b, hasRandomEtag: true };

it.each([
  ['the same ETag', a, a, true],
  ['another MD5', a, b, false],
  ['an upload in parts', a, parts, true],
  ['an upload in parts of another size', a, { ...parts, size: 6 }, false],
  ['an older upload in parts', a, { ...parts, modified: 9_999 }, false],
  ['the same second', a, { ...parts, modified: 10_000 }, true],
  ['a random ETag', a, sealed, true],
  ['a random ETag of the source', sealed, a, true],
])('tells what is there by %s', (_what, source, target, same) => {
  expect(isSameContent(source, target)).toBe(same);
});
