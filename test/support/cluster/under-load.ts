import { expect } from 'vitest';
import { loadByJavaScript, loadByPython, type LoadFigures, type LoadHabits } from './load.ts';
import { watchDowntime, type Downtime } from './downtime.ts';
import type { Team } from './team.ts';

export interface Seen {
  readonly downtime: Downtime;
  readonly javaScript: LoadFigures;
  readonly boto3: LoadFigures;
}

/** Makes a change while two clients write and read without pause and a third counts, without retries, when nobody answers. */
export async function underLoad(
  name: string,
  team: Team,
  bucket: string,
  change: () => Promise<void>,
  habits: LoadHabits = {},
): Promise<Seen> {
  const endpoint = await team.endpoint();
  const target = { endpoint, bucket, habits, ...(await team.rootCredentials()) };
  const probe = watchDowntime(`${endpoint}/`);
  const javaScript = loadByJavaScript(target);
  const python = await loadByPython(target);
  const started = Date.now();
  let ms = 0;
  const stop = async (): Promise<Seen> => {
    ms = Date.now() - started;
    const [byJavaScript, byPython] = await Promise.all([javaScript.stop(), python.stop()]);
    return { downtime: await probe.stop(), javaScript: byJavaScript, boto3: byPython };
  };
  try {
    await change();
  } catch (error) {
    console.log(figures(`${name} (failed)`, ms, await stop()));
    throw error;
  }
  const seen = await stop();
  console.log(figures(name, ms, seen));
  return seen;
}

/**
 * The single embedded server may be away only while its one pod restarts, and its clients must not notice by their default retries,
 * which last for five seconds. A machine that is busy elsewhere stretches any restart: one of three attempts has to show it, and no
 * attempt may answer wrongly.
 */
export async function oneShortRestart(
  team: Team,
  bucket: string,
  name: string,
  change: (attempt: number) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const seen = await underLoad(`${name}, attempt ${attempt}`, team, bucket, () => change(attempt));
    expect(seen.javaScript.wrong + seen.boto3.wrong).toBe(0);
    const hidden =
      seen.downtime.longestMs < 5_000 && seen.javaScript.failures.length + seen.boto3.failures.length === 0;
    if (hidden) return;
    expect(attempt, `${name}: no attempt was hidden from clients`).toBeLessThan(3);
  }
}

function figures(name: string, ms: number, { downtime, javaScript, boto3 }: Seen): string {
  const failures = [...new Set([...javaScript.failures, ...boto3.failures])].slice(0, 5);
  return [
    `${name}: settled after ${(ms / 1000).toFixed(1)} s; down for ${downtime.outages.join(' + ') || 0} ms ${downtime.reasons.join(', ')}`.trimEnd(),
    `  AWS SDK for JavaScript: ${requests(javaScript)}; boto3: ${requests(boto3)}`,
    ...failures.map((failure) => `  ${failure}`),
  ].join('\n');
}

function requests({ requests: all, retried, failures }: LoadFigures): string {
  return `${all} requests, ${retried} retried, ${failures.length} failed`;
}
