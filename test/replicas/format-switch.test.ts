import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Operation, Register } from '../linearizability/operation.ts';
import { type Checked, checkRounds, summaryOf } from '../linearizability/run-clients.ts';
import { VersionCheck } from '../linearizability/check-versions.ts';
import { s3Register } from '../linearizability/s3-register.ts';
import { s3Requests } from '../linearizability/s3-requests.ts';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { verified } from '../crash/verify-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { pino } from 'pino';
import { type Deployment, newDeployment } from './deployment.ts';
import { seed } from '../support/seed.ts';

/** Kills of either server before the last one that writes format 3 has gone, and after that. */
const kills = inFullForm(3, 1);
const CLIENTS = 8;
const Bucket = 'registers';
const ARRIVALS = 'arrivals';
const older = { SVC_STORAGE_FORMAT: '3' };

let deployment: Deployment;
beforeAll(async () => {
  deployment = await newDeployment();
}, 180_000);
afterAll(() => deployment.remove());

/** A server that is killed and started again, also with other settings. */
class Place {
  env: Readonly<Record<string, string>>;
  #server: Promise<RunningServer>;

  constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
    this.#server = deployment.start(env);
  }

  server(): Promise<RunningServer> {
    return this.#server;
  }

  /** Ends the server by `how`, and starts it again. */
  async restarted(how: 'kill' | 'stop'): Promise<void> {
    const before = await this.#server;
    this.#server = (async () => {
      await before[how]();
      return deployment.start(this.env);
    })();
    await this.#server;
  }
}

function oneOf(random: SeededRandom, places: readonly [Place, Place]): Place {
  return places[random.between(0, 1) === 0 ? 0 : 1];
}

/** Asks whatever server has the place now, and waits while there is none. */
function registerAt(place: Place, onVersion: VersionCheck['add']): Register & { close(): void } {
  let at: RunningServer | undefined;
  let register: ReturnType<typeof s3Register> | undefined;
  const current = async () => {
    const server = await place.server();
    if (server !== at || register === undefined) {
      register?.close();
      register = s3Register({ ...server, endpoint: server.s3, bucket: Bucket }, onVersion);
    }
    at = server;
    return register;
  };
  return {
    get: async (key) => (await current()).get(key),
    put: async (key, value, condition) => (await current()).put(key, value, condition),
    delete: async (key) => (await current()).delete(key),
    close: () => register?.close(),
  };
}

/** Lets versions of another server arrive, until told to stop. Returns the texts of those that were taken, by id, and the statuses. */
async function arrivals(places: readonly [Place, Place], random: SeededRandom, over: AbortSignal) {
  const taken = new Map<string, string>();
  const statuses = new Map<number | undefined, number>();
  for (let count = 0; !over.aborted; count += 1) {
    const server = await oneOf(random, places).server();
    const { send, close } = s3Requests({ ...server, endpoint: server.s3, bucket: ARRIVALS });
    const id = random.bytes(16).toString('hex');
    const text = `version ${count}`;
    const reply = await send('PUT', 'key', {
      query: `versionId=${id}`,
      headers: {
        'x-minio-source-replication-request': 'true',
        'x-minio-source-mtime': new Date(Date.UTC(2026, 0, 1) + random.between(0, 50)).toISOString(),
      },
      body: Buffer.from(text),
    });
    close();
    if (reply?.status === 200) taken.set(id, text);
    statuses.set(reply?.status, (statuses.get(reply?.status) ?? 0) + 1);
    await sleep(20);
  }
  return { taken, statuses };
}

it(
  `loses nothing over the switch of two servers under load and kills, seed ${seed}`,
  { timeout: 600_000 },
  async () => {
    const random = new SeededRandom(seed);
    const places = [new Place(older), new Place({})] as const;
    const first = await places[0].server();
    const s3 = s3Client(first);
    for (const name of [Bucket, ARRIVALS]) {
      await s3.send(new CreateBucketCommand({ Bucket: name }));
      const VersioningConfiguration = { Status: 'Enabled' as const };
      await s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration }));
    }

    const over = new AbortController();
    const arriving = arrivals(places, new SeededRandom(seed), over.signal);
    const versions = new VersionCheck();
    const histories: (readonly Operation[])[] = [];
    const clients = (async () => {
      const rounds: Checked[] = [];
      for (let round = 0; !over.signal.aborted; round += 1) {
        const registers = Array.from({ length: CLIENTS }, (_, index) =>
          registerAt(places[index % 2 === 0 ? 0 : 1], (key, value, id) => versions.add(key, value, id)),
        );
        // A kill would break the check off: it waits for the end.
        const checkStored = (history: readonly Operation[]) => {
          histories.push(history);
          return Promise.resolve([]);
        };
        rounds.push(
          await checkRounds({ registers, operations: 400, seed: seed + round * 1_000, keysAtATime: 4, checkStored }),
        );
        for (const register of registers) register.close();
      }
      return rounds;
    })();

    const load = Promise.all([arriving, clients]);
    // The error of a step below comes first.
    load.catch(() => undefined);
    try {
      // The one that reads format 4 does not write it while the other one lives.
      for (let kill = 0; kill < kills; kill += 1) {
        await sleep(random.between(0, 3_000));
        await places[1].restarted('kill');
      }
      await places[0].restarted('stop');
      const before = await places[1].server();
      expect(before.log.join('\n')).not.toContain('format-switched');
      // The upgrade of the other one, and kills at any moment of the switch, which begins now.
      places[0].env = {};
      await places[0].restarted('stop');
      for (let kill = 0; kill < kills; kill += 1) {
        await sleep(random.between(0, 12_000));
        await oneOf(random, places).restarted('kill');
      }
      const servers = await Promise.all(places.map((place) => place.server()));
      await Promise.race(servers.map((server) => server.untilLogged('format-switched')));
      // Both write the format from now on.
      await sleep(3_000);
    } finally {
      over.abort();
    }

    const [{ taken, statuses }, rounds] = await load;
    for (const checked of rounds) expect(checked.violations).toEqual([]);
    expect(taken.size).toBeGreaterThan(0);
    expect(statuses.get(503)).toBeGreaterThan(0);
    const last = s3Client(await places[1].server());
    for (const history of histories) expect(await versions.violations(last, Bucket, history)).toEqual([]);
    const listed = new Map<string, Date | undefined>();
    let from: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined = {};
    while (from !== undefined) {
      const page: Awaited<ReturnType<typeof list>> = await list(from);
      for (const { VersionId = '', LastModified } of page.Versions ?? []) listed.set(VersionId, LastModified);
      from =
        page.IsTruncated === true
          ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
          : undefined;
    }
    function list(after: object) {
      return last.send(new ListObjectVersionsCommand({ Bucket: ARRIVALS, MaxKeys: 100, ...after }));
    }
    for (const [id, text] of taken) {
      expect(listed.has(id), `version ${id}`).toBe(true);
      const got = await last.send(new GetObjectCommand({ Bucket: ARRIVALS, Key: 'key', VersionId: id }));
      expect(await got.Body?.transformToString()).toBe(text);
    }
    const times = [...listed.values()].map(Number);
    expect(times).toEqual(times.toSorted((a, b) => b - a));

    for (const place of places) await (await place.server()).stop();
    const { database, blobs } = deployment;
    const records = await openPostgresRecordStore({ ...database, log: pino({ enabled: false }) });
    expect((await verified(records, openFilesBlobStore(blobs))).complaints).toEqual([]);
    await records.close();
    report(
      `two servers over the switch, seed ${seed}: ${2 * kills} kills, ${rounds.map(summaryOf).length} rounds, ` +
        `${rounds.reduce((sum, { operations }) => sum + operations, 0)} operations, ${versions.versions} versions, ` +
        `${taken.size} versions from elsewhere taken and ${statuses.get(503) ?? 0} put off, 0 violations`,
    );
  },
);
