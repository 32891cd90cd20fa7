/**
 * Measures how long the first pages of consoles take: `node bin/run.js test/browser/first-page.ts http://KEY:SECRET@HOST:PORT...`.
 *
 * Each visit has a Chromium of its own, so that nothing is cached or compiled. It comes over a network of 10 Mbit/s with 40 ms of latency,
 * which Chromium emulates; the processor is as it is (`taskset -c 0,1` in front gives it two cores). The consoles take turns, five visits
 * each. It prints medians, and the fastest and the slowest visit.
 *
 * - **Sign-in page**: from the navigation until the field of the access key can be clicked.
 * - **Keys**: both keys are filled in at once, which loads the page that follows.
 * - **Buckets**: from the click on "Sign in" until the button "Create bucket" can be pressed. The keys were typed half a second before, after
 *   nothing more was asked for.
 *
 * Bytes are those that came over the network, heads of answers included, until nothing more was asked for.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';
import { openBrowser } from './open-browser.ts';

const visits = 5;
const network = { latency: 40, downloadThroughput: 10e6 / 8, uploadThroughput: 10e6 / 8 };

interface Measured {
  readonly bytes: number;
  readonly requests: number;
  readonly milliseconds: number;
}

const parts = ['sign-in page', 'keys', 'buckets'] as const;

type Visit = Readonly<Record<(typeof parts)[number], Measured>>;

async function visit(address: URL): Promise<Visit> {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ locale: 'en-GB' });
    page.setDefaultTimeout(120_000);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
    const traffic = new Traffic(session);
    const signInPage = await measure(traffic, async () => {
      await page.goto(address.origin, { waitUntil: 'commit' });
      await page.getByLabel('Access key').click({ trial: true });
    });
    const keys = await measure(traffic, async () => {
      await page.getByLabel('Access key').fill(decodeURIComponent(address.username));
      await page.getByLabel('Secret key').fill(decodeURIComponent(address.password));
    });
    const buckets = await measure(traffic, async () => {
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Create bucket' }).first().click({ trial: true });
    });
    return { 'sign-in page': signInPage, keys, buckets };
  } finally {
    await browser.close();
  }
}

/** Counts what comes over the network. */
class Traffic {
  bytes = 0;
  requests = 0;
  readonly #pending = new Set<string>();

  constructor(session: CDPSession) {
    session.on('Network.requestWillBeSent', ({ requestId }) => {
      this.requests += 1;
      this.#pending.add(requestId);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      this.bytes += encodedDataLength;
      this.#pending.delete(requestId);
    });
    session.on('Network.loadingFailed', ({ requestId }) => this.#pending.delete(requestId));
  }

  /** Resolves after half a second without a request. */
  async untilQuiet(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet += 1) {
      const before = this.requests;
      await sleep(100);
      if (this.requests !== before || this.#pending.size > 0) quiet = -1;
    }
  }
}

async function measure(traffic: Traffic, work: () => Promise<void>): Promise<Measured> {
  const { bytes, requests } = traffic;
  const started = performance.now();
  await work();
  const milliseconds = performance.now() - started;
  await traffic.untilQuiet();
  return { bytes: traffic.bytes - bytes, requests: traffic.requests - requests, milliseconds };
}

function print(console_: string, name: keyof Visit, measured: readonly Visit[]): void {
  const of = (figure: keyof Measured) => measured.map((one) => one[name][figure]).sort((a, b) => a - b);
  const median = (figure: keyof Measured) => of(figure)[Math.floor(visits / 2)] ?? 0;
  const times = of('milliseconds').map(Math.round);
  console.log(
    `| ${console_} | ${name} | ${(median('bytes') / 1024).toFixed(1)} | ${median('requests')} | ` +
      `${Math.round(median('milliseconds'))} | ${times[0]} to ${times.at(-1)} |`,
  );
}

const addresses = process.argv.slice(2);
if (addresses.length === 0) {
  console.error('usage: node bin/run.js test/browser/first-page.ts http://KEY:SECRET@HOST:PORT...');
  process.exit(2);
}
const results = new Map<string, Visit[]>(addresses.map((address) => [address, []]));
for (let round = 0; round < visits; round += 1) {
  for (const address of addresses) results.get(address)?.push(await visit(new URL(address)));
}
console.log(`${availableParallelism()} processors, 10 Mbit/s, 40 ms, ${visits} visits each\n`);
console.log('| console | page | KiB | requests | milliseconds | fastest to slowest |');
console.log('| --- | --- | ---: | ---: | ---: | --- |');
for (const [address, measured] of results) {
  for (const name of parts) print(new URL(address).host, name, measured);
}
