import { beforeAll, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';

let admin: Awaited<ReturnType<typeof adminTest>>;

beforeAll(async () => {
  admin = await adminTest();
});

describe('what Coffer does not have', () => {
  it.each([
    ['POST', 'heal/'],
    ['POST', 'heal/bucket/prefix?forceStart=true'],
    ['POST', 'background-heal/status'],
    ['GET', 'pools/list'],
    ['POST', 'pools/decommission?pool=a'],
    ['POST', 'rebalance/start'],
    ['PUT', 'site-replication/peer/iam-item'],
    ['POST', 'site-replication/netperf'],
    ['POST', 'force-unlock?paths=a'],
    ['POST', 'speedtest/net'],
    ['POST', 'speedtest/site'],
    ['POST', 'update?updateURL='],
  ])('is refused in so many words: %s %s', async (method, call) => {
    const { status, value } = await admin.call('root', method, call);
    expect({ status, value }).toMatchObject({ status: 501, value: { Code: 'NotImplemented' } });
    expect((value as { Message: string }).Message).toMatch(/^Coffer /);
  });

  it('is answered to no caller without the right', async () => {
    await admin.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    expect(await admin.call('ann', 'POST', 'heal/')).toMatchObject({ status: 403, value: { Code: 'AccessDenied' } });
  });
});
