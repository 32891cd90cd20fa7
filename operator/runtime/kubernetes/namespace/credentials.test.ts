import { describe, expect, it } from 'vitest';
import { tenant } from '../../../../test/support/operator/render-cases.ts';
import type { Cache, KubeApi, KubeObject } from '../../../kube-client/kube-api.ts';
import { encodeData } from './made-secret.ts';
import { rootCredentials } from './credentials.ts';

/** Returns the root credentials, and what was made for them. */
async function rootOf(options: {
  readonly accepted?: Readonly<Record<string, string>>;
  readonly hasRun?: boolean;
  readonly live?: Readonly<Record<string, string>>;
}) {
  const made: KubeObject[] = [];
  const live = options.live && {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'demo-root-credentials',
      labels: { 'coffer.dev/use-root-credentials': 'true' },
    },
    data: encodeData(options.live),
  };
  const api = {
    get: () => Promise.resolve(live),
    create: (object: KubeObject) => {
      made.push(object);
      return Promise.resolve(object);
    },
  } as unknown as KubeApi;
  const secrets = { get: () => undefined, wrote: () => undefined } as unknown as Cache;
  const secret = await rootCredentials(tenant(), new Map(), {
    api,
    secrets,
    namespace: 'test',
    owner: () => undefined,
    accepted: () => Promise.resolve(options.accepted),
    hasRun: () => Promise.resolve(options.hasRun === true),
  });
  return { secret, made: made.length };
}

describe('the root credentials that the operator makes', () => {
  it('are made at random for a new Tenant', async () => {
    const { secret, made } = await rootOf({});
    expect([secret.data['rootUser'], secret.data['rootPassword']?.length, made]).toEqual(['admin', 48, 1]);
  });
  it('are made again as the servers take them, where their Secret was deleted', async () => {
    const accepted = { rootUser: 'admin', rootPassword: 'the-password', former: '' };
    const { secret, made } = await rootOf({ accepted, hasRun: true });
    expect([secret.data, made]).toEqual([{ rootUser: 'admin', rootPassword: 'the-password' }, 1]);
  });
  it('are not made again where nobody knows what the servers take', async () => {
    const { secret, made } = await rootOf({ hasRun: true });
    expect([secret.missing, made]).toEqual([true, 0]);
  });
  it('are those of the user, where the user made their Secret', async () => {
    const live = { rootUser: 'boss', rootPassword: 'of-the-user\n' };
    const { secret, made } = await rootOf({ live, hasRun: true });
    expect([secret.data, made]).toEqual([{ rootUser: 'boss', rootPassword: 'of-the-user' }, 0]);
  });
});
