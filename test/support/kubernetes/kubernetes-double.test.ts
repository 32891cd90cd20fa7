import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import { KubernetesDouble } from './kubernetes-double.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: KubeObject & { reason?: string; message?: string; items?: KubeObject[] };
}

const secrets = '/api/v1/namespaces/default/secrets';
const tenants = '/apis/coffer.dev/v1alpha1/namespaces/default/tenants';
const provider = {
  apiVersion: 'coffer.dev/v1alpha1',
  kind: 'IdentityProvider',
  metadata: { name: 'idp' },
  spec: {
    configUrl: 'https://id.example.com/.well-known/openid-configuration',
    clientId: 'coffer',
    clientSecretRef: { name: 'idp', key: 'secret' },
  },
};

let double: KubernetesDouble;

beforeEach(async () => {
  double = await KubernetesDouble.start();
});
afterEach(() => double.stop());

async function ask(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> {
  const response = await fetch(`${double.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${double.token}`, 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

function apply(path: string, body: object, manager = 'coffer-operator', force = true): Promise<Answer> {
  return ask('PATCH', `${path}?fieldManager=${manager}&force=${force}`, body, 'application/apply-patch+yaml');
}

function secret(name: string, data: Record<string, string>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
}

function deployment(...containers: object[]): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
    },
  };
}

function container(name: string, ...args: string[]): object {
  return { name, image: 'i:1', args };
}

describe('requests', () => {
  it('refuses a wrong bearer token', async () => {
    const response = await fetch(`${double.url}${secrets}`, { headers: { authorization: 'Bearer other' } });
    expect(response.status).toBe(401);
  });

  it('refuses to create what exists', async () => {
    await ask('POST', secrets, secret('a', {}));
    const again = await ask('POST', secrets, secret('a', {}));
    expect([again.status, again.body.reason]).toEqual([409, 'AlreadyExists']);
  });

  it('makes a name of generateName', async () => {
    const made = await ask('POST', secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'a-' } });
    expect(made.body.metadata.name).toMatch(/^a-.{5}$/);
  });

  it('refuses an update of an older version', async () => {
    const { body } = await ask('POST', secrets, secret('a', {}));
    await ask('PUT', `${secrets}/a`, { ...body, data: { k: 'dg==' } });
    const late = await ask('PUT', `${secrets}/a`, { ...body, data: { k: 'dw==' } });
    expect([late.status, late.body.reason]).toEqual([409, 'Conflict']);
  });

  it('refuses a change of an immutable secret', async () => {
    await ask('POST', secrets, { ...secret('a', { k: 'dg==' }), immutable: true });
    const changed = await apply(`${secrets}/a`, { ...secret('a', { k: 'dw==' }), immutable: true });
    expect(changed.status).toBe(422);
  });

  it('refuses a custom object that breaks its schema, and names the field', async () => {
    const answer = await apply(`/apis/coffer.dev/v1alpha1/namespaces/default/identityproviders/idp`, {
      ...provider,
      spec: { ...provider.spec, colour: 'red' },
    });
    expect([answer.status, answer.body.reason]).toEqual([422, 'Invalid']);
    expect(answer.body.message).toContain('spec.colour');
  });

  it('deletes only what a precondition names', async () => {
    await ask('POST', secrets, secret('a', {}));
    const wrong = await ask('DELETE', `${secrets}/a`, { preconditions: { uid: 'other' } });
    expect([wrong.status, double.get('secrets', 'default', 'a') === undefined]).toEqual([409, false]);
  });

  it('lists in pages of one moment, whose token expires', async () => {
    for (const name of ['a', 'b', 'c']) double.put(secret(name, {}));
    const first = await ask('GET', `${secrets}?limit=2`);
    const { continue: token } = first.body.metadata as unknown as { continue: string };
    double.put(secret('d', {}));
    const second = await ask('GET', `${secrets}?limit=2&continue=${token}`);
    expect(second.body.items?.map(({ metadata }) => metadata.name)).toEqual(['c']);
    double.compact();
    expect((await ask('GET', `${secrets}?limit=2&continue=${token}`)).status).toBe(410);
  });

  it('selects by labels and fields', async () => {
    double.put({ ...secret('a', {}), metadata: { name: 'a', labels: { x: '1' } } });
    double.put({ ...secret('b', {}), metadata: { name: 'b', labels: { x: '2' } } });
    const byLabel = await ask('GET', `${secrets}?labelSelector=${encodeURIComponent('x in (1,3)')}`);
    const byField = await ask('GET', `${secrets}?fieldSelector=metadata.name%3Db`);
    expect([byLabel, byField].map(({ body }) => body.items?.[0]?.metadata.name)).toEqual(['a', 'b']);
  });

  it('counts requests by verb and resource', async () => {
    await apply(`${secrets}/a`, secret('a', {}));
    await ask('GET', `${secrets}/a`);
    expect([double.requests.of('apply', 'secrets'), double.requests.writes, double.requests.requests]).toEqual([
      1, 1, 2,
    ]);
  });
});

describe('server-side apply', () => {
  it('writes nothing where nothing changed', async () => {
    const first = await apply(`${secrets}/a`, secret('a', { k: 'dg==' }));
    const second = await apply(`${secrets}/a`, secret('a', { k: 'dg==' }));
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  });

  it('takes away what the manager no longer names, and leaves what others own', async () => {
    await apply(`${secrets}/a`, secret('a', { mine: 'dg==' }));
    await apply(`${secrets}/a`, secret('a', { theirs: 'dg==' }), 'other');
    const { body } = await apply(`${secrets}/a`, secret('a', {}));
    expect(body['data']).toEqual({ theirs: 'dg==' });
  });

  it('refuses to take a field over, but by force', async () => {
    await apply(`${secrets}/a`, secret('a', { k: 'dg==' }));
    const rejected = await apply(`${secrets}/a`, secret('a', { k: 'dw==' }), 'other', false);
    const forced = await apply(`${secrets}/a`, secret('a', { k: 'dw==' }), 'other');
    expect([rejected.status, rejected.body.reason, forced.body['data']]).toEqual([409, 'Conflict', { k: 'dw==' }]);
  });

  it('merges map lists by key and replaces other lists', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments/d';
    await apply(path, deployment(container('one', '-a', '-b'), container('two')));
    await apply(path, deployment(container('sidecar', '-s')), 'other');
    const { body } = await apply(path, deployment(container('one', '-c')));
    const { containers } = (body['spec'] as { template: { spec: { containers: { name: string; args: string[] }[] } } })
      .template.spec;
    expect(containers.map(({ name, args }) => [name, args])).toEqual([
      ['one', ['-c']],
      ['sidecar', ['-s']],
    ]);
  });

  it('refuses a field of the status that the CRD does not have', async () => {
    const path = `/apis/coffer.dev/v1alpha1/namespaces/default/identityproviders/idp`;
    await apply(path, provider);
    const answer = await apply(`${path}/status`, { ...provider, status: { colour: 'red' } });
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining('status.colour')]);
  });

  it('fills the defaults of the CRD in', async () => {
    const { body } = await apply(`/apis/coffer.dev/v1alpha1/namespaces/default/identityproviders/idp`, provider);
    expect(body['spec']).toMatchObject({ enabled: true, claimName: 'policy' });
  });

  it('keeps status and spec apart, and counts generations of the spec only', async () => {
    const path = `/apis/coffer.dev/v1alpha1/namespaces/default/identityproviders/idp`;
    await apply(path, { ...provider, status: { observedGeneration: 9 } });
    await apply(`${path}/status`, { ...provider, spec: { clientId: 'x' }, status: { observedGeneration: 1 } });
    const { body } = await apply(path, { ...provider, spec: { ...provider.spec, clientId: 'y' } });
    expect([body['status'], (body['spec'] as { clientId: string }).clientId, body.metadata.generation]).toEqual([
      { observedGeneration: 1 },
      'y',
      2,
    ]);
  });
});

describe('deletion', () => {
  it('waits for finalizers, and takes no new ones', async () => {
    const { body } = await ask('POST', secrets, {
      ...secret('a', {}),
      metadata: { name: 'a', finalizers: ['x.dev/y'] },
    });
    await ask('DELETE', `${secrets}/a`);
    expect(double.get('secrets', 'default', 'a')?.metadata.deletionTimestamp).toBeDefined();
    const merge = 'application/merge-patch+json';
    const more = { metadata: { finalizers: ['x.dev/y', 'x.dev/z'] } };
    expect((await ask('PATCH', `${secrets}/a`, more, merge)).status).toBe(422);
    await ask('PATCH', `${secrets}/a`, { metadata: { finalizers: [] } }, merge);
    expect([body.metadata.name, double.get('secrets', 'default', 'a')]).toEqual(['a', undefined]);
  });

  it('collects what an owner leaves behind, and what never had one', async () => {
    const owner = double.put(secret('owner', {}));
    const reference = { apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: owner.metadata.uid };
    double.put({ ...secret('owned', {}), metadata: { name: 'owned', ownerReferences: [reference] } });
    double.delete('secrets', 'default', 'owner');
    await double.until(() => double.get('secrets', 'default', 'owned') === undefined, 'the owned secret goes');
    double.put({ ...secret('late', {}), metadata: { name: 'late', ownerReferences: [reference] } });
    await double.until(() => double.get('secrets', 'default', 'late') === undefined, 'the late secret goes');
  });

  it('empties a namespace, takes nothing new into it, and ends it', async () => {
    double.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
    double.put({ ...secret('a', {}), metadata: { name: 'a', namespace: 'n', finalizers: ['x.dev/y'] } });
    double.delete('namespaces', undefined, 'n');
    const rejected = await ask('POST', '/api/v1/namespaces/n/secrets', secret('b', {}));
    expect([rejected.status, rejected.body.reason]).toEqual([403, 'Forbidden']);
    await double.until(
      () => double.get('secrets', 'n', 'a')?.metadata.deletionTimestamp !== undefined,
      'deletion begins',
    );
    await ask(
      'PATCH',
      '/api/v1/namespaces/n/secrets/a',
      { metadata: { finalizers: [] } },
      'application/merge-patch+json',
    );
    await double.until(() => double.get('namespaces', undefined, 'n') === undefined, 'the namespace goes');
  });
});

describe('types', () => {
  it('answers 404 for a type that the cluster does not know', async () => {
    const bare = await KubernetesDouble.start({ absentResources: ['tenants.coffer.dev'] });
    const response = await fetch(`${bare.url}${tenants}`, { headers: { authorization: `Bearer ${bare.token}` } });
    await bare.stop();
    expect(response.status).toBe(404);
  });
});
