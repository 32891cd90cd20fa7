import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CustomerKey } from '../../server/encryption/object-key.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { bodyOf, customerKeyBytes, expected, fixedKeys, loadStores } from './sealed-objects.ts';
import { keptChunks } from '../../server/streams/chunks.ts';

/** The sets that were written, each by the server of its version. None is ever taken away. */
const versions = (await readdir(new URL('.', import.meta.url)))
  .map((name) => /^sealed-(.*)\.json\.gz$/.exec(name)?.[1])
  .filter((version) => version !== undefined);

it('has the set of the first version', () => {
  expect(versions).toContain('0.1.0');
});

describe.each(versions)('what version %s sealed', (version) => {
  it.each(Object.entries(expected))('opens: %s', async (key, { size, kind }) => {
    const layer = createObjectLayer({ ...(await loadStores(version)), keys: fixedKeys() });
    const customerKey = kind === 'SSE-C' ? new CustomerKey(customerKeyBytes) : undefined;
    const { info, read } = await layer.getObject('sealed', key, { customerKey });
    expect([info.size, info.encryption?.scheme]).toEqual([size, kind]);
    const chunks = await Array.fromAsync(keptChunks(read({ start: 0, end: size })));
    expect(Buffer.concat(chunks).equals(bodyOf(key, size))).toBe(true);
  });
});
