import { readFile } from 'node:fs/promises';
import { glob } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isSupported, knownActions } from '../../protocol/policy/known-names.ts';

async function sources(pattern: string): Promise<string> {
  const texts: string[] = [];
  for await (const path of glob(pattern, { cwd: import.meta.dirname + '/../..' })) {
    if (!/\.test\.ts$|testing/.test(path)) texts.push(await readFile(`${import.meta.dirname}/../../${path}`, 'utf8'));
  }
  return texts.join('\n');
}

/** The names of events that look like actions. */
const noActions = ['s3:TestEvent', 's3:LifecycleTransition'];
const isUnknown = (name: string) =>
  !noActions.includes(name) && !knownActions.includes(name) && !isSupported(name.toLowerCase());
const found = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))];

describe('the names that policies may use', () => {
  it('hold every action that the server asks for', async () => {
    const asked = found(await sources('server/**/*.ts'), /'((?:s3|admin|kms|sts):[A-Z]\w+)'/g);
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.filter(isUnknown)).toEqual([]);
  });

  it('hold every condition key that the server gives a request', async () => {
    const given = found(await sources('server/**/*.ts'), /'((?:aws|s3|sts|ldap):[a-zA-Z-]+)'(?:\]|:)/g);
    expect(given).toContain('aws:SourceIp');
    expect(
      given.filter((key) => key !== 'aws:kms' && !isSupported(key.toLowerCase()) && !knownActions.includes(key)),
    ).toEqual([]);
  });

  it('hold every action of the manifests and examples', async () => {
    const text = await sources('{examples,charts,docs}/**/*.{yaml,md,json}');
    const named = found(text, /["'\s[]((?:s3|admin):[A-Z]\w+)["'`\],]/g);
    expect(named.filter(isUnknown)).toEqual([]);
  });
});
