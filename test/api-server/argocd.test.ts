import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

// The scripts of deploy/argocd under Lua 5.1, the language of the interpreter that Argo CD has built in.

const folder = fileURLToPath(new URL('../../deploy/argocd/', import.meta.url));
const lua = '/usr/bin/lua5.1';
if (!existsSync(lua)) throw new Error(`${lua} is missing: run ".ci/install lua"`);

interface Case {
  readonly title: string;
  readonly health: string;
  readonly message: string;
  readonly object: object;
}
const cases = parse(readFileSync(`${folder}testdata/health.yaml`, 'utf8')) as readonly Case[];

/** A value as Lua writes it. */
function luaLiteral(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaLiteral).join()}}`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `[${luaLiteral(key)}]=${luaLiteral(item)}`)
      .join()}}`;
  }
  return JSON.stringify(value);
}

/** Runs a script with `obj` as Argo CD does, and prints by an expression over its `result`. */
function runLua(script: string, object: object, expression: string): string {
  const program = `obj = ${luaLiteral(object)}; result = dofile("${folder}${script}"); io.write(${expression})`;
  return execFileSync(lua, ['-e', program], { encoding: 'utf8' });
}

const tenant = (spec: object) => ({ kind: 'Tenant', metadata: { name: 'demo' }, spec });

/** Whether an action is disabled; `none` where it is not offered at all. */
function offered(object: object, action: string): string {
  return runLua(
    'actions/discovery.lua',
    object,
    `result["${action}"] and tostring(result["${action}"].disabled) or "none"`,
  );
}

describe('health.lua', () => {
  it.each(cases)('$title: $health', ({ object, health, message }) => {
    expect(runLua('health.lua', object, 'result.status .. "|" .. result.message')).toBe(`${health}|${message}`);
  });
});

describe('actions', () => {
  it.each(['restart', 'rotate'])('%s sets its annotation to the time', (action) => {
    const annotation = { restart: 'coffer.dev/restartedAt', rotate: 'coffer.dev/rotatedAt' }[action];
    const at = runLua(`actions/${action}.lua`, tenant({}), `result.metadata.annotations["${annotation}"]`);
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
  it('pause, hibernate and resume set the fields', () => {
    const fields = 'tostring(result.spec.paused) .. " " .. tostring(result.spec.hibernated)';
    expect(runLua('actions/pause.lua', tenant({}), fields)).toBe('true nil');
    expect(runLua('actions/hibernate.lua', tenant({}), fields)).toBe('nil true');
    expect(runLua('actions/resume.lua', tenant({ paused: true, hibernated: true }), fields)).toBe('nil nil');
  });
  it('are offered where they make sense', () => {
    expect(offered(tenant({ paused: true }), 'pause')).toBe('true');
    expect(offered(tenant({ paused: true }), 'resume')).toBe('false');
    expect(offered(tenant({}), 'resume')).toBe('true');
    expect(offered({ kind: 'KMSConfig', spec: {} }, 'pause')).toBe('none');
    expect(offered({ kind: 'KMSConfig', spec: {} }, 'restart')).toBe('false');
  });
});
