import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { semaphore } from '../../platform/async/concurrency.ts';
import { inFullForm } from '../support/full-form.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import type { Answered, Presence, Row } from './attack.ts';
import { openRows } from './open-rows.ts';
import { allRows } from './rows.ts';
import { attackAs, identityNames, marker, setStage, type Stage } from './stage.ts';

let server: RunningServer;
let stage: Stage;
let rows: readonly Row[];

beforeAll(async () => {
  server = await startServer({ console: true });
  await untilReady(server);
  stage = await setStage(server);
  rows = allRows(stage.uploads, stage.actions);
});
afterAll(() => server.stop());

/** The number of identities with which each row comes: `npm test` tries some of them, by turns. */
const identitiesOfRow = inFullForm(identityNames.length, 2);

/** They end the session of the identity, so that they come last. */
const ends = /^(?:POST \/api\/sign-out|DELETE \/api\/sessions)$/;

/** Parts of an answer that are of one request, and what a wrong signature is answered: the request itself. */
const ofRequest = [
  /<(RequestId|HostId|StringToSign|StringToSignBytes|CanonicalRequest|CanonicalRequestBytes|SignatureProvided)>[^<]*/g,
  /"(RequestId|requestId|StringToSign|StringToSignBytes|CanonicalRequest|CanonicalRequestBytes|SignatureProvided)":"[^"]*"/g,
];

/** Returns the answer without the names of the request. */
function comparable({ status, text, headers }: Answered): string {
  const told = ofRequest.reduce((rest, part) => rest.replaceAll(part, ''), text);
  const named = [told, String(headers.location), String(headers['content-type'])].join('\n');
  const { there, never } = stage.uploads;
  return `${status} ${named
    .replaceAll(there, 'UPLOAD')
    .replaceAll(never, 'UPLOAD')
    .replaceAll(/there|never/g, 'NAME')}`;
}

/** Returns the names in the answer that the request does not have. */
function leaked(row: Row, presence: Presence, { text }: Answered): readonly string[] {
  const asked = JSON.stringify(row.attack(presence));
  const names = [marker, ...(text.match(/[a-z]+-there\b/g) ?? [])];
  return [...new Set(names)].filter((name) => text.includes(name) && !asked.includes(name));
}

/** Sends the two requests of a row, and returns what the identity was given or told. */
async function breaches(at: number, row: Row): Promise<readonly string[]> {
  const identity = stage.identities[at];
  if (identity === undefined) return ['no such identity'];
  const open = openRows.find(({ row: name, to }) => name === `${row.api} ${row.name}` && to(identity));
  const readsBody = open?.readsBody === true;
  const answers = [];
  for (const presence of ['there', 'never'] as const) {
    const answered = await attackAs(server, identity, row, presence, readsBody);
    answers.push({ presence, answered });
  }
  const found: string[] = [];
  for (const { presence, answered } of answers) {
    const { status, awaited } = answered;
    if (open === undefined && status !== 403 && !(row.api === 'console' && status === 401)) {
      found.push(`${presence}: answered ${status} ${answered.text.slice(0, 200)}`);
    }
    if (awaited && !readsBody) found.push(`${presence}: its body was read`);
    const names = leaked(row, presence, answered).filter(
      (name) => open?.ownPolicies !== true || name !== 'matrix-there',
    );
    for (const name of names) found.push(`${presence}: told of ${name}`);
  }
  const [there, never] = answers.map(({ answered }) => comparable(answered));
  if (there !== never && open?.differs !== true) found.push(`told apart: ${there} and ${never}`);
  return found.map((one) => `${row.api} ${row.name}: ${one}`);
}

describe('a caller without the right', () => {
  it('has a request for each row of the tables', () => {
    const count = (api: Row['api']) => rows.filter((row) => row.api === api).length;
    expect(count('s3')).toBeGreaterThan(100);
    expect(count('control')).toBe(6);
    expect(count('admin')).toBeGreaterThan(130);
    expect(count('console')).toBeGreaterThan(150);
    expect(count('sts')).toBe(8);
    const names = new Set(rows.map(({ api, name }) => `${api} ${name}`));
    expect(openRows.map(({ row }) => row).filter((name) => !names.has(name))).toEqual([]);
    expect(stage.identities.map(({ name }) => name)).toEqual(identityNames);
  });

  it.each(identityNames.map((name, at) => [name, at] as const))(
    'does nothing and is told nothing: %s',
    { timeout: 360_000 },
    async (_, at) => {
      const before = await stage.snapshot();
      const limit = semaphore(8);
      const mine = rows.filter((_row, index) => (index + at) % identityNames.length < identitiesOfRow);
      const found = await Promise.all(
        mine.filter(({ name }) => !ends.test(name)).map((row) => limit(() => breaches(at, row))),
      );
      for (const row of mine.filter(({ name }) => ends.test(name))) found.push(await breaches(at, row));
      expect(found.flat()).toEqual([]);
      expect(await stage.snapshot()).toBe(before);
    },
  );
});
