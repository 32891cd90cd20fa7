import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { within } from '../../store/keys.ts';
import { decodeEvent } from '../../objects/events/outbox.ts';
import { scanPages } from '../../store/record-store.ts';
import { countUsage, usageRounds } from './count-usage.ts';
import { asksForAlerts } from './scan-alerts.ts';
import { unlimited } from '../../maintenance/pace.ts';

const rule = (events: readonly string[]) => ({ id: 'r', arn: 'arn:minio:sqs::A:webhook', target: 'A:webhook', events });
const limits = { versions: 3, bytes: 30, folders: 2 };

async function layerWithRules(events: readonly string[]) {
  const test = testLayer();
  await test.layer.createBucket('bucket', { location: '' });
  await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
  await test.layer.putBucketNotification('bucket', [rule(events)], { test: false });
  const write = async (key: string, times: number, size = 1) => {
    for (let at = 0; at < times; at += 1) await test.layer.putObject(put('bucket', key, 'x'.repeat(size)));
  };
  const alerts = async () => {
    const counted = await countUsage({ records: test.records, reads: unlimited, limits });
    return counted.alerts.map(({ name, key }) => `${name.slice('s3:Scanner:'.length)} ${key}`);
  };
  return { ...test, write, alerts };
}

describe('the alerts of a count', () => {
  it('name keys with many versions, and those whose noncurrent versions are large together', async () => {
    const { write, alerts } = await layerWithRules(['s3:Scanner:*']);
    await write('few', 2);
    await write('many', 3);
    await write('large', 2, 30);
    await write('both', 4, 10);
    expect(await alerts()).toEqual([
      'ManyVersions both',
      'LargeVersions both',
      'LargeVersions large',
      'ManyVersions many',
    ]);
  });

  it('name prefixes with many prefixes directly below them', async () => {
    const { write, alerts } = await layerWithRules(['s3:Scanner:BigPrefix']);
    for (const key of ['a/1/x', 'a/1/y', 'a/2/x', 'a/3/x', 'a/3/deep/x', 'b/1/x', 'b/2/x', 'plain'])
      await write(key, 1);
    expect(await alerts()).toEqual(['BigPrefix a/']);
    await write('c/x', 1);
    expect(await alerts()).toEqual(['BigPrefix a/', 'BigPrefix ']);
  });

  it('are not looked for where no rule asks for them', async () => {
    const { write, alerts } = await layerWithRules(['s3:ObjectCreated:*']);
    await write('many', 5);
    expect(await alerts()).toEqual([]);
    expect(asksForAlerts([rule(['s3:Scanner:ManyVersions'])])).toBe(true);
    expect(asksForAlerts()).toBe(false);
  });

  it('are queued as events for the targets that ask for them, once for each count', async () => {
    const { write, records } = await layerWithRules(['s3:Scanner:ManyVersions']);
    await write('many', 3);
    await write('large', 2, 30);
    const round = usageRounds({
      cycleMs: 1,
      reads: unlimited,
      log: { info: () => undefined, warn: () => undefined },
      limits,
    });
    await round({ records });
    const queued = [];
    for await (const page of scanPages(records, within('outbox'))) {
      for (const item of page) if (item.kind === 'entry') queued.push(decodeEvent(item));
    }
    expect(queued.filter(({ name }) => name.startsWith('s3:Scanner:'))).toMatchObject([
      { name: 's3:Scanner:ManyVersions', bucket: 'bucket', key: 'many' },
    ]);
  });
});
