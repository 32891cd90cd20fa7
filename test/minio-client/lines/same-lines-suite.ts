import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientSide, type LineServer } from './client-side.ts';
import { compareGroup, type CompareOptions, type Difference } from './compare-lines.ts';
import { knownDifferences } from './differences.ts';
import { readGroups } from './read-lines.ts';

interface StartedServer extends LineServer {
  stop(): Promise<unknown>;
}

/** Runs the lines of all data files by stock mc and by `coffer`, each with a fresh server of the same kind. */
export function describeSameLines(
  what: string,
  start: () => Promise<StartedServer>,
  options: CompareOptions = {},
): void {
  let folder: string;
  let servers: readonly [StartedServer, StartedServer];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coffer-lines-'));
    servers = await Promise.all([start(), start()]);
  }, 360_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  describe.concurrent(`lines of mc usage against ${what}`, { timeout: 600_000 }, () => {
    it.for(readGroups())('$name', async (group, { expect: expectHere }) => {
      const [mc, coffer] = (['mc', 'coffer'] as const).map(
        (client, index) =>
          new ClientSide(client, group, servers[index] ?? servers[0], join(folder, group.name, client)),
      );
      if (mc === undefined || coffer === undefined) throw new Error('there are two clients');
      const differences = await compareGroup(group, mc, coffer, options);
      mc.close();
      coffer.close();
      const unknown = differences.filter((difference) => !knownDifferences.some(({ is }) => is?.(difference) === true));
      expectHere(unknown.map((difference) => describeDifference(difference)).join('\n\n')).toBe('');
    });
  });
}

function describeDifference({ line, kind, mc, coffer }: Difference): string {
  return [
    `${line}   [${kind}]`,
    ...mc.map((text) => `  mc      ${text}`),
    ...coffer.map((text) => `  coffer  ${text}`),
  ].join('\n');
}

export function describeLineCounts(): void {
  const lines = readGroups().flatMap((group) => group.lines);
  it('has at least 400 lines, a third of them wrong uses, and at most 20 differences', () => {
    expect(lines.length).toBeGreaterThanOrEqual(400);
    expect(lines.filter(({ wrong }) => wrong).length * 3).toBeGreaterThanOrEqual(lines.length);
    expect(knownDifferences.length).toBeLessThanOrEqual(20);
  });
}
