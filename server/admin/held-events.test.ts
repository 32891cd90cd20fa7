import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { heldNotifications } from '../notifications/held-notifications.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { within } from '../store/keys.ts';
import { commitOnce } from '../store/commits.ts';
import { encodeHeld } from '../outbox/held-records.ts';

const target = 'A:webhook';
const refused = Date.parse('2026-01-02T03:04:05.006Z');

/** The admin API over a queue whose events are all held. */
async function heldAdmin(keys: readonly string[]) {
  const { layer, records } = testLayer();
  await layer.createBucket('photos', { location: '' });
  const rule = { id: 'all', arn: `arn:minio:sqs::${target}`, target, events: ['s3:ObjectCreated:*'] };
  await layer.putBucketNotification('photos', [rule], { test: false });
  for (const key of keys) await layer.putObject(put('photos', key, 'x'));
  for await (const item of records.scan(within('outbox', target))) {
    if (item.kind !== 'entry') continue;
    const value = encodeHeld({ since: refused, error: 'too large' });
    await commitOnce(records, { put: [{ key: outboxKeys.held(item.key), value }] }, randomBytes);
  }
  const sums = {
    events: 0,
    bytes: 0,
    limit: 10,
    delivered: 0,
    failures: 0,
    dropped: 0,
    heldDropped: 0,
    heldRetried: 0,
  };
  const services = {
    notifications: () => Promise.resolve([{ target, type: 'webhook', ...sums }]),
    heldNotifications: heldNotifications(records),
  };
  const { call } = await adminTest({ services });
  const ask = (method: string, path: string, by = 'root') =>
    call(by, method, `/minio/admin/coffer/v1/notifications/held${path}`);
  const list = async () =>
    ((await ask('GET', `?target=${target}`)).value as { readonly events: readonly { id: string; key: string }[] })
      .events;
  return { ask, list, records, call };
}

describe('the held events of a target', () => {
  it('are listed with their objects and the first refusal', async () => {
    const { ask } = await heldAdmin(['a b/ä']);
    expect(await ask('GET', `?target=arn:minio:sqs::${target}`)).toMatchObject({
      status: 200,
      value: {
        events: [
          {
            target,
            id: expect.stringMatching(/^[0-9a-f]{48}$/) as string,
            bucket: 'photos',
            key: 'a b/ä',
            event: 's3:ObjectCreated:Put',
            time: expect.any(String) as string,
            since: '2026-01-02T03:04:05.006Z',
            error: 'too large',
            retries: 0,
          },
        ],
      },
    });
  });

  it('are listed from one of them on', async () => {
    const { ask, list } = await heldAdmin(['a', 'b', 'c']);
    const [first, ...rest] = await list();
    const next = await ask('GET', `?target=${target}&after=${first?.id}`);
    expect(next.value).toEqual({ events: rest });
  });

  it('are dropped by name, and others stay', async () => {
    const { ask, list } = await heldAdmin(['a', 'b', 'c']);
    const [first, second] = await list();
    const gone = 'f'.repeat(48);
    const dropped = await ask('POST', `/drop?target=${target}&id=${first?.id}&id=${second?.id}&id=${gone}`);
    expect(dropped.value).toEqual({ changed: 2, unknown: [gone] });
    expect(await list()).toHaveLength(1);
  });

  it('are tried again, all of them', async () => {
    const { ask, list } = await heldAdmin(['a', 'b']);
    expect((await ask('POST', `/retry?target=${target}&all=true`)).value).toEqual({ changed: 2, unknown: [] });
    expect(await list()).toMatchObject([{ retries: 1 }, { retries: 1 }]);
  });

  it.each([
    ['GET', '', 'XCofferInvalidRequest'],
    ['GET', '?target=B:webhook', 'XMinioAdminNoSuchConfigTarget'],
    ['POST', `/drop?target=${target}`, 'XCofferInvalidRequest'],
    ['POST', `/drop?target=${target}&all=yes`, 'XCofferInvalidRequest'],
    ['POST', `/drop?target=${target}&all=true&id=${'f'.repeat(48)}`, 'XCofferInvalidRequest'],
    ['POST', `/retry?target=${target}&id=x`, 'XCofferInvalidRequest'],
  ])('refuse %s %s', async (method, path, Code) => {
    const { ask, list } = await heldAdmin(['a']);
    expect((await ask(method, path)).value).toMatchObject({ Code });
    expect(await list()).toHaveLength(1);
  });

  it.each([
    ['ListHeldEvents', 'GET', ''],
    ['RetryHeldEvents', 'POST', '/retry'],
    ['DropHeldEvents', 'POST', '/drop'],
  ])('need the right admin:%s', async (action, ofMethod, ofPath) => {
    const { ask, call } = await heldAdmin(['a']);
    const Statement = [{ Effect: 'Allow', Action: [`admin:${action}`] }];
    await call('root', 'PUT', 'add-canned-policy?name=one', {
      plain: JSON.stringify({ Version: '2012-10-17', Statement }),
    });
    await call('root', 'PUT', 'add-user?accessKey=ann', { sealed: { secretKey: 'ann-secret-key', policy: 'one' } });
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/retry'],
      ['POST', '/drop'],
    ] as const) {
      const isAllowed = method === ofMethod && path === ofPath;
      const query = `?target=${target}${method === 'POST' ? '&all=true' : ''}`;
      const asked = await ask(method, `${path}${query}`, 'ann').then(
        ({ status }) => status,
        () => 403,
      );
      expect([path, asked]).toEqual([path, isAllowed ? 200 : 403]);
    }
  });

  it('are listed as damaged where they cannot be read, and can be dropped', async () => {
    const { ask, list, records } = await heldAdmin(['a']);
    for await (const item of records.scan(within('outbox', target)))
      if (item.kind === 'entry')
        await commitOnce(records, { put: [{ key: item.key, value: Buffer.from('damaged') }] }, randomBytes);
    const [only] = await list();
    expect(only).not.toHaveProperty('key');
    expect((await ask('POST', `/drop?target=${target}&id=${only?.id}`)).value).toEqual({ changed: 1, unknown: [] });
  });
});
