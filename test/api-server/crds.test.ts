import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachKind } from '../../operator/api/kinds.ts';
import { apiGroup } from '../../operator/api/object.ts';
import { fromKubeconfig } from '../../operator/kube-client/connection.ts';
import { HttpTransport } from '../../operator/kube-client/http-transport.ts';
import { resourcePath, typeOf } from '../../operator/kube-client/resource-types.ts';
import { manifestOf, ruleCases } from '../support/operator/rules/rule-cases.ts';
import { type ApiServer, startApiServer, untilEstablished } from './cluster.ts';

// The generated CRDs on a real kube-apiserver with etcd, and the rules' cases, which the functions of operator/api pass too.

const crds = fileURLToPath(new URL('../../crds', import.meta.url));
const examples = fileURLToPath(new URL('../../examples/quickstart/manifests', import.meta.url));
const rules = eachKind(({ kind, rules: { always } }) =>
  always.map(({ field, message }) => ({ kind, field, message })),
).flat();
let server: ApiServer;
let http: HttpTransport;
let state = '';

function kubectl(args: readonly string[], input?: string): Promise<string> {
  return server.kubectl(args, input);
}

/** What the API server says to a new object that it is not to keep: empty when it takes it. A process for each would take most of the time. */
async function refusal(manifest: ReturnType<typeof manifestOf>): Promise<string> {
  try {
    await http.call({
      method: 'POST',
      path: resourcePath(typeOf(manifest), { namespace: 'default' }),
      query: { dryRun: 'All', fieldValidation: 'Strict' },
      body: manifest,
      timeoutMs: 30_000,
    });
    return '';
  } catch (error) {
    return String(error);
  }
}

/** What kubectl writes to standard error when the API server refuses the manifest. */
async function kubectlRefusal(manifest: unknown, command: 'create' | 'replace'): Promise<string> {
  try {
    await kubectl([command, '--validate=strict', '-f', '-'], JSON.stringify(manifest));
    return '';
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
}

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'coffer-crds-'));
  server = await startApiServer();
  http = new HttpTransport(await fromKubeconfig({ file: server.kubeconfig }), 'test');
  await kubectl(['apply', '-f', crds]);
}, 360_000);

afterAll(async () => {
  http?.close();
  await server?.stop();
  await rm(state, { recursive: true, force: true });
});

describe('the generated CRDs', () => {
  it.each(ruleCases)('$plural is established', async ({ plural }) => {
    await untilEstablished(kubectl, [`${plural}.${apiGroup}`]);
  });
  it.each(ruleCases)('$plural has a structural schema', async ({ plural }) => {
    const path = 'jsonpath={.status.conditions[?(@.type=="NonStructuralSchema")].message}';
    expect(await kubectl(['get', `crd/${plural}.${apiGroup}`, '-o', path])).toBe('');
  });
  it('take the quick start', async () => {
    await kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', examples]);
  });
});

describe.each(ruleCases)('$kind', ({ kind, good, bad, badAtApiServer = [], badChanges }) => {
  it.each(good)('takes $title', async ({ spec }) => {
    expect(await refusal(manifestOf(kind, 'a', spec))).toBe('');
  });
  it.each([...bad, ...badAtApiServer])('refuses $title', async ({ spec, message }) => {
    const said = await refusal(manifestOf(kind, 'a', spec));
    expect(said).toContain(message);
    const rule = rules.find((one) => one.kind === kind && one.message.includes(message));
    if (rule !== undefined) expect(said).toContain(`${rule.field}: Invalid value`);
  });
  for (const [index, { title, from, to, message }] of badChanges.entries()) {
    it(`refuses as a change: ${title}`, async () => {
      const name = `change-${kind.toLowerCase()}-${index}`;
      expect(await kubectlRefusal(manifestOf(kind, name, from), 'create')).toBe('');
      expect(await kubectlRefusal(manifestOf(kind, name, to), 'replace')).toContain(message);
    });
  }
  it('refuses an unknown field by name', async () => {
    const spec = { ...good[0]?.spec, nonsense: true };
    expect(await refusal(manifestOf(kind, 'a', spec))).toContain('unknown field "spec.nonsense"');
  });
  it('keeps every field of a good one as it is written', async () => {
    const all = good.find(({ title }) => title === 'every field')?.spec ?? {};
    const name = `every-${kind.toLowerCase()}`;
    const made = await kubectl(['create', '-f', '-', '-o', 'json'], JSON.stringify(manifestOf(kind, name, all)));
    expect((JSON.parse(made) as { spec: unknown }).spec).toMatchObject(all);
  });
  it('refuses a name that is no label', async () => {
    expect(await refusal(manifestOf(kind, 'a.b', good[0]?.spec ?? {}))).toContain('metadata.name');
  });
});

describe('defaults', () => {
  it('of one machine are not written into a resource', async () => {
    const manifest = JSON.stringify(manifestOf('Tenant', 'defaults', { storage: { size: '1Gi' } }));
    const made = await kubectl(['create', '--dry-run=server', '-f', '-', '-o', 'json'], manifest);
    const { spec } = JSON.parse(made) as { spec: { addresses: unknown } };
    expect(spec.addresses).toEqual({ s3: { port: 9000 }, console: { port: 9090 } });
  });
});

describe('status', () => {
  it('takes conditions through its subresource only', async () => {
    await writeFile(
      join(state, 'tenant.json'),
      JSON.stringify(manifestOf('Tenant', 'status', { storage: { size: '1Gi' } })),
    );
    await kubectl(['create', '-f', join(state, 'tenant.json')]);
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: 'it runs',
      observedGeneration: 1,
      lastTransitionTime: new Date(0).toISOString(),
    };
    const status = {
      observedGeneration: 1,
      servers: '1/1',
      replicas: 1,
      selector: 'coffer.dev/workload=status-server',
      health: 'Healthy',
      version: '1.2.3',
      addresses: { s3: 'status-server.default.svc:9000' },
      rollout: { reason: 'ImageChanged: spec.image of Tenant status', updated: 0, total: 1 },
      certificates: [{ name: 'status-server-tls', notAfter: new Date(0).toISOString() }],
      conditions: [condition],
    };
    const patch = JSON.stringify({ status });
    await kubectl(['patch', 'tenant', 'status', '--type=merge', '--subresource=status', '-p', patch]);
    expect(await kubectl(['get', 'ten', 'status', '--no-headers'])).toMatch(
      /^status\s+True\s+1\/1\s+Healthy\s+1\.2\.3\s/,
    );
    expect(await kubectl(['get', 'ten', 'status', '--no-headers', '-o', 'wide'])).toMatch(/Ready\s+it runs/);
    const kept = JSON.parse(await kubectl(['get', 'tenant', 'status', '-o', 'json'])) as { status: unknown };
    expect(kept.status).toEqual(status);
    await kubectl(['wait', '--for=condition=Ready', '--timeout=5s', 'tenant/status']);
  });
});

const namespaced = '/apis/coffer.dev/v1alpha1/namespaces/default';
const scaleOf = async (plural: string, name: string): Promise<unknown> => {
  const { spec, status } = JSON.parse(await kubectl(['get', '--raw', `${namespaced}/${plural}/${name}/scale`])) as {
    spec: unknown;
    status: unknown;
  };
  return { spec, status };
};
const scale = async (resource: string, replicas: number): Promise<string> => {
  try {
    await kubectl(['scale', resource, `--replicas=${replicas}`]);
    return '';
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
};

describe('the scale subresource', () => {
  const elsewhere = {
    records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } },
    blobs: { sharedVolume: { claimName: 'shared' } },
  };

  it('of a Tenant tells how many there are and which pods they are', async () => {
    await kubectl(['create', '-f', '-'], JSON.stringify(manifestOf('Tenant', 'several', { storage: elsewhere })));
    const status = { replicas: 1, selector: 'coffer.dev/workload=several-server' };
    const patch = JSON.stringify({ status });
    await kubectl(['patch', 'tenant', 'several', '--type=merge', '--subresource=status', '-p', patch]);
    expect(await scaleOf('tenants', 'several')).toEqual({ spec: { replicas: 1 }, status });
  });
  it('of a Tenant sets spec.replicas', async () => {
    expect(await scale('tenant/several', 3)).toBe('');
    const patch = JSON.stringify({ spec: { replicas: 4 } });
    expect(await kubectl(['get', 'tenant', 'several', '-o', 'jsonpath={.spec.replicas}'])).toBe('3');
    await kubectl(['patch', 'tenant', 'several', '--subresource=scale', '--type=merge', '-p', patch]);
    expect(await kubectl(['get', 'tenant', 'several', '-o', 'jsonpath={.spec.replicas}'])).toBe('4');
  });
  it('refuses several servers where the store serves one, with the reason', async () => {
    const single = manifestOf('Tenant', 'single', { storage: { size: '1Gi' } });
    await kubectl(['create', '-f', '-'], JSON.stringify(single));
    const said = await scale('tenant/single', 3);
    expect(said).toContain('spec.replicas: Invalid value');
    expect(said).toContain('the store on a volume of its own serves one server');
    expect(await scaleOf('tenants', 'single')).toMatchObject({ spec: { replicas: 1 } });
  });
  it('refuses none: a tenant that rests is hibernated', async () => {
    expect(await scale('tenant/several', 0)).toContain('spec.replicas');
  });
  it('of a KMSConfig sets spec.replicas', async () => {
    const azure = { endpoint: 'https://vault.example', managedIdentity: {} };
    const manifest = manifestOf('KMSConfig', 'several', { keystore: { azure }, defaultKey: 'first' });
    await kubectl(['create', '-f', '-'], JSON.stringify(manifest));
    expect(await scale('kmsconfig/several', 2)).toBe('');
    expect(await scaleOf('kmsconfigs', 'several')).toMatchObject({ spec: { replicas: 2 } });
  });
});
