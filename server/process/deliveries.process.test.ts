import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EventReceiver } from '../../test/events/event-receiver.ts';
import { put, testDigests, testLayer } from '../../test/support/objects/test-layer.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedRecords } from '../encryption/sealed-records.ts';
import { unlimited } from '../maintenance/pace.ts';
import { ProcessorShare } from '../outbox/processor-share.ts';
import { readQueues } from '../outbox/queue-state.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { soleLease } from '../cluster/lease.ts';
import { commitOnce } from '../store/commits.ts';
import { putUnpromoted, unpromotedKey } from '../store/promotion.ts';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { runEventDelivery, runReplication } from './deliveries.ts';

const wait = { timeout: 45_000, interval: 50 };
const target = 'a:webhook';
const log = createLogger({ name: 'server', level: 'silent' });
const mark = putUnpromoted({
  since: '2026-11-30T00:00:00.000Z',
  reason: 'restored',
  taken: '2026-11-29T00:00:00.000Z',
});
const held = expect.stringMatching(
  /^the store was restored from a snapshot of .*run "coffer-store promote"$/,
) as string;

async function restored() {
  const { layer, records } = testLayer();
  await layer.createBucket('bucket', { location: '' });
  await commitOnce(records, { put: [mark] }, randomBytes);
  const sealed = sealedRecords({ records, keys: noKeySource });
  await sealed.start();
  return { layer, records, stores: { records, shared: false } as never, sealed };
}

const source = () => ({ region: '', deploymentId: 'd', endpoint: 'http://127.0.0.1:1' }) as never;

describe('a store that must be promoted', () => {
  let receiver: EventReceiver;
  let running: { stop(): Promise<void> } | undefined;
  beforeAll(async () => {
    receiver = await EventReceiver.start();
  });
  afterEach(() => running?.stop());
  afterAll(() => receiver.stop());

  const share = new ProcessorShare();

  it('lets events wait, counts them and says why, until it is promoted', async () => {
    const { layer, records, stores } = await restored();
    const events = ['s3:ObjectCreated:*' as const];
    const rule = { id: 'all', arn: `arn:minio:sqs::${target}`, target, events };
    await layer.putBucketNotification('bucket', [rule], { test: false });
    await layer.putObject(put('bucket', 'one', 'text'));
    const values = { endpoint: receiver.url };
    const settings = {
      targets: [{ id: 'a', type: 'webhook', queueLimit: 10, values }],
      queueBytes: 1e6,
      whenFull: 'drop' as const,
    };
    running = runEventDelivery({ stores, digests: testDigests }, soleLease(), log, { settings, source, share });
    await expect
      .poll(() => readQueues(records), wait)
      .toMatchObject([{ target, events: 1, failure: { away: true, error: held } }]);
    expect(receiver.events).toEqual([]);
    await commitOnce(records, { delete: [unpromotedKey] }, randomBytes);
    await expect.poll(() => receiver.events.length, wait).toBe(1);
    // Another server of the same records found that they do not fit the bodies.
    await commitOnce(records, { put: [mark] }, randomBytes);
    await expect
      .poll(async () => {
        await layer.putObject(put('bucket', 'more', 'text'));
        return (await readQueues(records))[0]?.failure?.error;
      }, wait)
      .toEqual(held);
  });

  it('lets replicas wait, counts them and says why, and keeps the targets', async () => {
    const { layer, records, stores, sealed } = await restored();
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    const targets = new RemoteTargets(sealed);
    const { arn: _arn, ...target } = remoteTarget('0'.repeat(36)).target;
    const arn = await targets.add('f7e3a8d2-60d4-4b50-8d7a-0f8f4a4d0a11', target);
    const rule = { id: 'all', enabled: true, priority: 1, filter: {}, target: arn, destination: arn };
    const all = { deleteMarkers: true, deletes: true, replicaModifications: true, existingObjects: true };
    await layer.putBucketReplication('bucket', { rules: [{ ...rule, ...all }] });
    await layer.putObject(put('bucket', 'one', 'text'));
    running = runReplication({ stores, sealed, objects: layer }, soleLease(), log, { reads: unlimited, share });
    await expect
      .poll(() => readQueues(records), wait)
      .toMatchObject([{ events: 1, failure: { away: true, error: held } }]);
    await expect(targets.all()).resolves.toHaveLength(1);
  });
});
