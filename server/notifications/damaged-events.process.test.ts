import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { put, testDigests, testLayer } from '../../test/support/objects/test-layer.ts';
import { commitOnce } from '../store/commits.ts';
import { within } from '../store/keys.ts';
import { deliverEvents } from './deliver-events.ts';

const received: string[] = [];
const hook = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    received.push((JSON.parse(text) as { readonly Key: string }).Key);
    response.end();
  });
});
let endpoint = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    hook.listen(0, '127.0.0.1', resolve);
  });
  endpoint = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
});
afterAll(() => {
  hook.closeAllConnections();
  hook.close();
});

it('damaged events of more objects than are delivered at a time do not stop the others', async () => {
  const { layer, records } = testLayer();
  await layer.createBucket('bucket', { location: '' });
  const rule = { id: 'all', arn: 'arn:minio:sqs::_:webhook', target: '_:webhook', events: ['s3:ObjectCreated:*'] };
  await layer.putBucketNotification('bucket', [rule], { test: false });
  for (let at = 0; at < 20; at += 1) await layer.putObject(put('bucket', `damaged-${at}`, 'x'));
  for await (const item of records.scan(within('outbox', '_:webhook'))) {
    if (item.kind !== 'entry') continue;
    await commitOnce(records, { put: [{ key: item.key, value: Buffer.from('damaged') }] }, randomBytes);
  }
  await layer.putObject(put('bucket', 'whole', 'x'));
  const ended = new AbortController();
  const target = { id: '_', type: 'webhook', queueLimit: 1_000, values: { endpoint } };
  const running = deliverEvents({
    records,
    digests: testDigests,
    settings: { targets: [target], queueBytes: 1_000_000, whenFull: 'drop' },
    source: () => ({ region: '', deploymentId: 'D', endpoint: '' }),
    signal: ended.signal,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    isOver: () => false,
    idleMs: 1,
  });
  await vi.waitFor(() => expect(received).toEqual(['bucket/whole']), { timeout: 60_000, interval: 10 });
  ended.abort(new Error('the test is over'));
  await running;
});
