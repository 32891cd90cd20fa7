import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startLocal, type LocalOperator } from '../../operator/runtime/local/start-local.ts';
import { freePort } from '../support/process/free-port.ts';
import { localPrograms, tenantSettings } from '../support/process/program.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';

// Two operators that know nothing of each other, as those of two clusters, each with a Tenant of one name on one new database, with real programs.

const demo = { kind: 'Tenant', name: 'demo' } as const;
const timeout = 240_000;

let postgres: TestPostgres;
let folder: string;
const operators: LocalOperator[] = [];
const problems: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-local-operators-'));
  postgres = await startPostgres();
}, 720_000);
afterAll(async () => {
  for (const operator of operators) await operator.stop();
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Site {
  readonly name: string;
  readonly addresses: object;
  readonly url: string;
}

function write({ name, addresses, url }: Site, annotations: object = {}): void {
  const manifests = [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'database' },
      type: 'coffer.dev/database',
      stringData: { url },
    },
    {
      apiVersion: 'coffer.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'demo', annotations },
      spec: {
        addresses,
        storage: {
          path: join(folder, name, 'data'),
          records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } },
        },
        settings: tenantSettings,
      },
    },
  ];
  mkdirSync(join(folder, name, 'manifests'), { recursive: true });
  writeFileSync(join(folder, name, 'manifests', 'demo.yaml'), manifests.map((each) => stringify(each)).join('---\n'));
}

async function start(site: Site): Promise<LocalOperator> {
  write(site);
  const { name } = site;
  const operator = await startLocal({
    manifests: join(folder, name, 'manifests'),
    state: join(folder, name, 'state'),
    programs: localPrograms(),
    environment: { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password' },
    event: () => undefined,
    issue: (message) => problems.push(message),
    childLine: () => undefined,
  });
  operators.push(operator);
  return operator;
}

const bodiesOf = ({ name }: Site) => join(folder, name, 'data', 'blobs');

const ready = (operator: LocalOperator) => operator.status(demo)?.conditions.find(({ type }) => type === 'Ready');

it(
  'are one that has the store, and one that says so, and has it once it accepts it',
  { timeout: 720_000 },
  async () => {
    const database = await postgres.createDatabase();
    const url = new URL(database.url);
    url.password = database.password;
    const sites = await Promise.all(
      ['one', 'two'].map(async (name): Promise<Site> => {
        const addresses = { s3: { port: await freePort() }, console: { port: await freePort() } };
        return { name, url: url.href, addresses };
      }),
    );
    const both = await Promise.all(sites.map(start));
    const reasons = () => both.map((each) => ready(each)?.reason ?? '').toSorted();
    await expect
      .poll(() => reasons().join(' ') === 'Ready StoreOfAnother' || [...reasons(), ...problems], { timeout })
      .toBe(true);
    const [winner, loser] = both.toSorted((a, b) => (ready(a)?.reason ?? '').localeCompare(ready(b)?.reason ?? ''));
    await expect.poll(() => winner?.status(demo)?.deployment, { timeout }).toBeTypeOf('string');
    const store = winner?.status(demo)?.deployment;
    const message = loser && ready(loser)?.message;
    expect(message).toMatch(/a Tenant that this operator does not see \(UID [0-9a-f]{32}\)/);
    expect(message).toMatch(new RegExp(`accept-store=${store}$`));
    expect(loser?.status(demo)?.deployment).toBeUndefined();

    await winner?.stop();
    const siteOf = (operator?: LocalOperator) => sites[both.indexOf(operator as LocalOperator)] as Site;
    cpSync(bodiesOf(siteOf(winner)), bodiesOf(siteOf(loser)), { recursive: true });
    write(siteOf(loser), { 'coffer.dev/accept-store': store });
    const last = () => [loser && ready(loser)?.message, ...problems];
    await expect.poll(() => loser?.status(demo)?.deployment === store || last(), { timeout }).toBe(true);
  },
);
