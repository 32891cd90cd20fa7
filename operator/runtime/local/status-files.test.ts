import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CofferObject } from '../../api/object.ts';
import { manifestOf, type Spec } from '../../../test/support/operator/rules/rule-cases.ts';
import { validate } from '../../api/validate.ts';
import { mergeConditions, ready } from '../../reconcile/conditions.ts';
import { StateFolder } from './state-folder.ts';
import { StatusFiles } from './status-files.ts';

let folder: string;
let state: StateFolder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-status-'));
  state = new StateFolder(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const now = () => new Date(0);
const ref = { kind: 'Tenant', name: 'demo' } as const;
const tenant = (spec: Spec = {}): CofferObject => {
  const result = validate(manifestOf('Tenant', 'demo', spec));
  if (result.kind !== 'object') throw new Error('not valid');
  return result.object;
};
const status = { observedGeneration: 1, servers: '1/1', conditions: mergeConditions([], [ready('it runs')], 1, now()) };
const file = () => state.at('status', 'tenant-demo.yaml');
const content = () => parse(readFileSync(file(), 'utf8'));

describe('a status file', () => {
  it('is the object as kubectl would show it, with its events', async () => {
    const files = new StatusFiles(state, now);
    files.observe([tenant()], new Set());
    await files.put(ref, status);
    await files.record({ ref, type: 'Normal', reason: 'Starting', message: 'starts demo-server' });
    expect(content()).toMatchObject({
      kind: 'Tenant',
      metadata: { name: 'demo', generation: 1 },
      spec: { replicas: 1 },
      status: { servers: '1/1', conditions: [{ type: 'Ready', status: 'True' }] },
      events: [{ reason: 'Starting', count: 1 }],
    });
  });
  it('that a killed operator has not finished is removed', () => {
    const unfinished = join(state.folder('status'), '.tenant-demo.yaml.0123456789abcdef.tmp');
    writeFileSync(unfinished, 'kind: Tenant');
    expect(new StatusFiles(state, now).objects()).toEqual([]);
    expect(existsSync(unfinished)).toBe(false);
  });
  it('is not written when nothing changed', async () => {
    const files = new StatusFiles(state, now);
    files.observe([tenant()], new Set());
    await files.put(ref, status);
    const { ino } = statSync(file());
    await files.put(ref, structuredClone(status));
    expect(statSync(file()).ino).toBe(ino);
  });
  it('counts an event that comes again', async () => {
    const files = new StatusFiles(state, now);
    const event = { ref, type: 'Warning', reason: 'Crashed', message: 'm' } as const;
    await files.record(event);
    await files.record(event);
    expect(content().events).toMatchObject([{ reason: 'Crashed', count: 2 }]);
  });
  it('raises the generation with each change of the spec, across restarts of the operator', async () => {
    const files = new StatusFiles(state, now);
    files.observe([tenant()], new Set());
    files.observe([tenant()], new Set());
    await files.put(ref, status);
    const next = new StatusFiles(state, now);
    next.observe([tenant()], new Set());
    expect(next.generation(ref)).toBe(1);
    next.observe([tenant({ image: 'x' })], new Set());
    expect(next.generation(ref)).toBe(2);
  });
  it('of an earlier operator does not say that anything runs', async () => {
    const files = new StatusFiles(state, now);
    files.observe([tenant()], new Set());
    await files.put(ref, status);
    expect(new StatusFiles(state, now).get(ref)).not.toHaveProperty('servers');
  });
  it('says that its programs were stopped', async () => {
    const files = new StatusFiles(state, now);
    files.observe([tenant()], new Set());
    await files.put(ref, status);
    await files.markStopped();
    expect(content().status.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'Stopped' }]);
  });
  it('goes with its object', async () => {
    const files = new StatusFiles(state, now);
    files.observe([tenant()], new Set());
    await files.put(ref, status);
    files.observe([], new Set());
    expect(existsSync(file())).toBe(false);
  });
});
