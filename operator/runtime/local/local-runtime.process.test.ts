import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../../../platform/http/listen.ts';
import type { OperatorEvent } from '../../reconcile/reconciler-options.ts';
import { kubernetesOptions } from '../../../test/support/operator/workload-fixture.ts';
import { text, listen as listenOn, mounted, type Workload } from '../../contract/workload.ts';
import { LocalRuntime } from './local-runtime.ts';
import { StateFolder } from './state-folder.ts';

const program = fileURLToPath(new URL('../../../test/support/operator/workload-program.ts', import.meta.url));
const secrets = new Map([['s', { name: 's', data: { key: 'secret-value' } }]]);

let folder: string;
let runtime: LocalRuntime;
let events: OperatorEvent[];
let lines: string[];
let port: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-local-'));
  events = [];
  lines = [];
  runtime = made();
  const server = createServer();
  ({ port } = await listen(server, { host: '127.0.0.1', port: 0 }, { setting: '' }));
  server.close();
});
afterEach(async () => {
  await runtime.stop();
  rmSync(folder, { recursive: true, force: true });
});

function made(): LocalRuntime {
  return new LocalRuntime({
    state: new StateFolder(join(folder, 'state')),
    programs: { 'coffer-server': program, keysvc: program },
    event: (event) => events.push(event),
    childLine: (_, line) => lines.push(line),
    version: '1.2.3',
    verbose: false,
    random: () => 0,
    now: () => new Date(),
  });
}

const volume = { kind: 'volume', name: 'data', claim: { kind: 'each', accessMode: 'ReadWriteOnce' } } as const;

function workload(more: Partial<Workload> = {}, fingerprint = '1'): Workload {
  const owner = { kind: 'Tenant', name: 'demo' } as const;
  return {
    name: 'demo-server',
    owner,
    program: 'coffer-server',
    arguments: [text`${mounted('data')}`, text`--address`, text`${listenOn('s3')}`],
    environment: [{ name: 'SVC_ROOT_PASSWORD_FILE', value: text`${mounted('root', 'password')}` }],
    ports: [{ name: 's3', host: '127.0.0.1', port, field: 'spec.addresses.s3.port of Tenant demo' }],
    mounts: [
      volume,
      {
        kind: 'files',
        name: 'root',
        files: [{ path: 'password', content: { kind: 'secret', secret: 's', key: 'key' }, reloads: false }],
      },
    ],
    readiness: { kind: 'http', port: 's3', path: '/', tls: false },
    liveness: { kind: 'connect', port: 's3' },
    dependsOn: [],
    replicas: 1,
    kubernetes: kubernetesOptions(),
    inputs: [{ reason: 'TenantChanged', field: 'spec.x', of: owner, fingerprint }],
    ...more,
  };
}

async function state() {
  return (await runtime.observe())[0];
}
async function eventually(holds: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`did not come: ${JSON.stringify(await runtime.observe())}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const ready = () => eventually(async () => (await state())?.state.kind === 'ready');
const told = async () =>
  (await fetch(`http://127.0.0.1:${port}/told`)).json() as Promise<{
    args: string[];
    env: Record<string, string>;
    files: Record<string, string>;
  }>;
const log = () => readFileSync(join(folder, 'state/data/demo-server/data/log'), 'utf8').trim().split('\n');
const ended = (name: string) => statSync(join(folder, `state/data/${name}/data/log`)).mtimeMs;
const data = (name: string) => {
  mkdirSync(join(folder, 'state/data/demo-server/data'), { recursive: true });
  return join(folder, 'state/data/demo-server/data', name);
};

describe('a workload on one machine', () => {
  it('runs with its address, its folder and its secret in a file of 0600', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    const { args, files, env } = await told();
    expect(args).toEqual([join(folder, 'state/data/demo-server/data'), '--address', `127.0.0.1:${port}`]);
    expect(files).toEqual({ SVC_ROOT_PASSWORD_FILE: 'secret-value' });
    expect(statSync(env['SVC_ROOT_PASSWORD_FILE'] ?? '').mode & 0o777).toBe(0o600);
  });

  it('has no setting of the environment that the operator runs in', async () => {
    process.env['SVC_REGION'] = 'from-outside';
    try {
      await runtime.apply(workload(), secrets);
      await ready();
      expect((await told()).env).not.toHaveProperty('SVC_REGION');
    } finally {
      delete process.env['SVC_REGION'];
    }
  });

  it('is restarted when it is replaced, and not otherwise', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    await runtime.apply(workload(), secrets);
    await runtime.apply(workload({}, '2'), secrets);
    await runtime.refresh(workload({}, '3'), secrets);
    expect(log()).toEqual(['start']);
    await runtime.replace('demo-server');
    await ready();
    expect(log()).toEqual(['start', 'end SIGTERM', 'start']);
  });

  it('tells what it was started with, what it starts with next, and its version', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    await runtime.apply(workload({}, '2'), secrets);
    expect(await runtime.observeOne('demo-server')).toMatchObject({
      inputs: [{ fingerprint: '2' }],
      instances: [{ name: 'demo-server', inputs: [{ fingerprint: '1' }], state: { kind: 'ready' }, version: '1.2.3' }],
      wanted: 1,
    });
    await runtime.replace('demo-server');
    await ready();
    expect((await runtime.observeOne('demo-server'))?.instances).toMatchObject([{ inputs: [{ fingerprint: '2' }] }]);
  });

  it('is restarted once for changes that come while it stops', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    for (const fingerprint of ['2', '3', '4']) {
      await runtime.apply(workload({}, fingerprint), secrets);
      await runtime.replace('demo-server');
    }
    await ready();
    expect(log()).toEqual(['start', 'end SIGTERM', 'start']);
    expect((await runtime.observeOne('demo-server'))?.instances).toMatchObject([{ inputs: [{ fingerprint: '4' }] }]);
  });

  it('is not started by a change that comes while the operator stops', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    const stopped = runtime.stop();
    await runtime.apply(workload({}, '2'), secrets);
    await runtime.replace('demo-server');
    await stopped;
    expect((await runtime.observeOne('demo-server'))?.instances ?? []).toEqual([]);
    expect(log()).toEqual(['start', 'end SIGTERM']);
  });

  it('has no instance while it is hibernated, and comes back', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    await runtime.refresh(workload({ kubernetes: kubernetesOptions({ hibernated: true }) }), secrets);
    expect(await runtime.observeOne('demo-server')).toMatchObject({ instances: [], wanted: 0 });
    expect(log()).toEqual(['start', 'end SIGTERM']);
    await runtime.refresh(workload(), secrets);
    await ready();
  });

  it.runIf(process.platform === 'linux')(
    'is in a session of its own, so that Ctrl-C reaches only the operator',
    async () => {
      await runtime.apply(workload(), secrets);
      await ready();
      const { pid } = JSON.parse(readFileSync(join(folder, 'state/workloads/demo-server/process'), 'utf8'));
      const [, session] = /\) \S+ \d+ \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      expect(session).toBe(String(pid));
    },
  );

  it('gets a file that it re-reads written anew without a restart', async () => {
    const content = { kind: 'secret', secret: 's', key: 'key' } as const;
    const reloading = workload({
      mounts: [volume, { kind: 'files', name: 'root', files: [{ path: 'password', content, reloads: true }] }],
    });
    await runtime.apply(reloading, secrets);
    await ready();
    await runtime.refresh(reloading, new Map([['s', { name: 's', data: { key: 'renewed' } }]]));
    expect((await told()).files).toEqual({ SVC_ROOT_PASSWORD_FILE: 'renewed' });
    expect(log()).toEqual(['start']);
  });

  it('has what would expire written anew while it is paused, and nothing else', async () => {
    const content = { kind: 'secret', secret: 's', key: 'key' } as const;
    const files = (rules: string) => [
      { path: 'password', content, reloads: true },
      { path: 'fixed', content, reloads: false },
      { path: 'rules', content: { kind: 'text', text: rules } as const, reloads: true },
    ];
    const paused = workload({ mounts: [volume, { kind: 'files', name: 'root', files: files('as paused') }] });
    await runtime.apply(paused, secrets);
    await ready();
    const more = [...files('other'), { path: 'more', content, reloads: true }];
    const changed = workload({ replicas: 3, mounts: [volume, { kind: 'files', name: 'root', files: more }] }, '2');
    await runtime.renew(changed, new Map([['s', { name: 's', data: { key: 'renewed' } }]]));
    const read = (name: string) => readFileSync(join(folder, 'state/workloads/demo-server/root', name), 'utf8');
    expect([read('password'), read('fixed'), read('rules')]).toEqual(['renewed', 'secret-value', 'as paused']);
    expect(existsSync(join(folder, 'state/workloads/demo-server/root/more'))).toBe(false);
    expect(log()).toEqual(['start']);
  });

  it('is started again when it crashes, and tells its last words', async () => {
    writeFileSync(data('crash'), '');
    await runtime.apply(workload(), secrets);
    await eventually(async () => (await state())?.state.kind === 'crash-loop');
    expect(await state()).toMatchObject({ state: { message: 'exit code 3; error told to crash' } });
    expect(lines).toContain('error told to crash');
    rmSync(data('crash'));
    await ready();
  });

  it('is not ready while its probe fails', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    writeFileSync(data('not-ready'), 'key-service');
    await eventually(async () => (await state())?.state.kind === 'not-ready');
    const told = { message: expect.stringContaining('answered 503'), waitsFor: 'key-service' };
    expect(await state()).toMatchObject({ state: told, instances: [{ state: told }] });
  });

  it('says what it waits for from its start on', async () => {
    writeFileSync(data('not-ready'), 'database');
    await runtime.apply(workload(), secrets);
    await eventually(async () => JSON.stringify(await state()).includes('database'));
    const told = { kind: 'starting', waitsFor: 'database' };
    expect(await state()).toMatchObject({ state: told, instances: [{ state: told }] });
    rmSync(data('not-ready'));
    await ready();
    expect((await state())?.instances[0]?.state).toEqual({ kind: 'ready' });
  });

  it('that several of are wanted is refused, and says what to do', async () => {
    await runtime.apply(workload({ replicas: 2 }), secrets);
    expect((await state())?.rejected).toEqual({
      reason: 'ReplicasUnsupported',
      message: '2 replicas need Kubernetes: one machine runs one. Set spec.replicas of Tenant demo to 1.',
    });
    await runtime.apply(workload(), secrets);
    await ready();
    expect((await state())?.rejected).toBeUndefined();
  });

  it('whose port is taken names the port and the field, and starts when it is free', async () => {
    const other = createServer();
    await listen(other, { host: '127.0.0.1', port }, { setting: '' });
    await runtime.apply(workload(), secrets);
    await eventually(async () => (await state())?.rejected !== undefined);
    expect((await state())?.rejected).toMatchObject({
      reason: 'PortInUse',
      message: expect.stringMatching(`port ${port} is in use .*spec.addresses.s3.port of Tenant demo`),
    });
    other.close();
    await ready();
  });

  it('is stopped when it is removed, and keeps its data', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    await runtime.remove('demo-server');
    expect(log()).toEqual(['start', 'end SIGTERM']);
    expect(await runtime.observe()).toEqual([]);
    expect(existsSync(join(folder, 'state/workloads/demo-server/process'))).toBe(false);
  });

  it('loses files that it no longer has', async () => {
    await runtime.apply(workload(), secrets);
    await ready();
    const path = join(folder, 'state/workloads/demo-server/root/password');
    const renamed = workload(
      {
        environment: [],
        mounts: [volume, { kind: 'files', name: 'root', files: [] }],
      },
      '2',
    );
    await runtime.apply(renamed, secrets);
    await runtime.replace('demo-server');
    await eventually(() => !existsSync(path));
  });
});

describe('everything', () => {
  it('is stopped in reverse order of dependence', async () => {
    const second = createServer();
    const bound = await listen(second, { host: '127.0.0.1', port: 0 }, { setting: '' });
    second.close();
    const keys = workload({
      name: 'keys-key-service',
      ports: [{ name: 's3', host: '127.0.0.1', port: bound.port, field: 'f' }],
    });
    await runtime.apply(keys, secrets);
    await runtime.apply(workload({ dependsOn: ['keys-key-service'] }), secrets);
    await eventually(async () => (await runtime.observe()).every(({ state: { kind } }) => kind === 'ready'));
    await runtime.stop();
    expect(ended('demo-server')).toBeLessThan(ended('keys-key-service'));
  });
});
