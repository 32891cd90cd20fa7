import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { report } from '../../support/report.ts';
import { adminCall } from '../../support/server/admin-call.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../support/server/start-server.ts';
import { leaveBrowser, newVisitor, openBrowser, type Visitor } from '../open-browser.ts';
import { signIn } from '../sign-in.ts';
import { administratorJobs } from './administrator-jobs.ts';
import { dataUserJobs } from './data-user-jobs.ts';
import { discard } from './discard.ts';
import { keyboard, mouse } from './hands.ts';
import type { JobContext } from './job.ts';
import { readCounts, writeCounts, type Counts } from './table.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

/**
 * `COFFER_JOBS=both` does each job by mouse and by keyboard, as `.ci/soak console-jobs` does, `write` writes the table of
 * docs/console-jobs.md too. Otherwise each job is done once: the odd ones by mouse, the even ones by keyboard.
 */
const mode = process.env['COFFER_JOBS'] ?? 'one';
/** How often each job is done in each way. */
const rounds = Number(process.env['COFFER_JOBS_ROUNDS'] ?? 1);

const user = { accessKey: 'dora', secretKey: 'a-secret-of-dora' };

let server: RunningServer;
let browser: Browser;
let files: string;
let visitors: Readonly<Record<'user' | 'root', Visitor>>;
/** The jobs that a client has seen done, and their steps, by hands. */
const done = { mouse: { jobs: 0, steps: 0 }, keyboard: { jobs: 0, steps: 0 } };
const page = new URL('../../../docs/console-jobs.md', import.meta.url);
/** Earlier counts stay where a run does some jobs only. */
const counted: Counts = readCounts(await readFile(page, 'utf8'));

async function asRoot(method: string, call: string, body?: unknown): Promise<unknown> {
  const { status, value } = await adminCall(server.s3, server, method, call, body);
  expect(status, `${call}: ${JSON.stringify(value)}`).toBeLessThan(300);
  return value;
}

beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), 'coffer-jobs-'));
  server = await startServer({ env: { SVC_AUDIT_FILE: join(files, 'audit.log') } });
  await untilReady(server);
  await asRoot('PUT', `add-user?accessKey=${user.accessKey}`, { secretKey: user.secretKey, status: 'enabled' });
  await asRoot('PUT', `set-user-or-group-policy?policyName=readwrite&userOrGroup=${user.accessKey}&isGroup=false`);
  browser = await openBrowser();
  visitors = { user: await newVisitor(browser), root: await newVisitor(browser) };
  await signIn(visitors.user.page, server, user.accessKey, user.secretKey);
  await signIn(visitors.root.page, server);
});

afterAll(async () => {
  if (mode === 'write') await writeCounts(counted);
  for (const [hands, { jobs, steps }] of Object.entries(done))
    report(`by ${hands}: ${jobs} jobs in ${steps} steps, each seen by an S3 client or by the admin API`);
  await leaveBrowser(browser);
  await server?.stop();
  await rm(files, { recursive: true, force: true });
});

const people = [
  { person: 'data user', who: 'user', jobs: dataUserJobs },
  { person: 'administrator', who: 'root', jobs: administratorJobs },
] as const;

describe.each(people)('the $person', ({ person, who, jobs }) => {
  const ways = jobs.flatMap((job, index) => {
    const all = [
      { job, way: mouse },
      { job, way: keyboard },
    ].map((one) => ({ ...one, index }));
    return mode === 'one' ? all.slice(index % 2, (index % 2) + 1) : all;
  });

  it.each(ways.map((one) => ({ ...one, title: one.job.title, hands: one.way.name })))(
    'can: $title, by $hands',
    { repeats: rounds - 1 },
    async ({ job, way, index }) => {
      // A tab of its own has no drafts, no uploads and no dialog of another job.
      const page = await visitors[who].context.newPage();
      page.setDefaultTimeout(60_000);
      const context: JobContext = {
        page,
        s3: s3Client(server),
        endpoint: server.s3,
        id: `${way.name}-${who}-${index}`,
        admin: asRoot,
        async file(name, content) {
          await writeFile(join(files, name), content);
          return join(files, name);
        },
      };
      try {
        await job.prepare?.(context);
        await page.goto(`${server.console}/buckets`);
        await page
          .getByRole('heading', { name: /Buckets|No buckets yet/ })
          .first()
          .waitFor();
        const hands = way(page);
        await job.work(hands, context);
        await vi.waitFor(() => job.check(context), { timeout: 180_000, interval: 100 });
        const key = `${person}: ${job.title}: ${hands.name}`;
        if (mode === 'write') counted.set(key, hands.steps);
        expect(counted.get(key)).toBe(hands.steps);
        done[hands.name].jobs += 1;
        done[hands.name].steps += hands.steps;
      } catch (error) {
        const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String);
        console.error(`${job.title}, by ${way.name}: ${page.url()} showed at the end\n${shown}`);
        throw error;
      } finally {
        await page.close();
        await discard(context);
      }
    },
  );
});

it('are twenty each', () => {
  expect(people.map(({ jobs }) => jobs.length)).toEqual([20, 20]);
});
