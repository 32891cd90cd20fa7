import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { put, randomBody, testLayer } from '../../test/support/objects/test-layer.ts';
import { quarantine, quarantined } from '../objects/operations/quarantine.ts';
import { recordKeys } from '../objects/records/record-format.ts';
import { createMaintenance } from './maintenance.ts';

const addresses = {
  records: { kind: 'lmdb', folder: '/none' },
  blobs: { kind: 'files', folder: '/none' },
} as const;

it.each([
  [true, []],
  [false, ['quarantined-object']],
])('a verification with bodies %s leaves and names what is quarantined: %j', async (bodies, left) => {
  const { layer, records, blobs } = testLayer();
  await layer.createBucket('bucket', { location: '' });
  await layer.putObject(put('bucket', 'key', randomBody(300_000)));
  const entry = await records.get(recordKeys.object('bucket', 'key'));
  const damage = { found: 1, what: 'a test' };
  if (entry !== undefined) await quarantine(records, { bucket: 'bucket', key: 'key' }, entry, damage, randomBytes);
  const { findings } = await createMaintenance({ records, blobs, addresses }).verify({ bodies });
  expect(findings.map(({ kind }) => kind)).toEqual(left);
  expect(await Array.fromAsync(quarantined(records))).toHaveLength(left.length);
});
