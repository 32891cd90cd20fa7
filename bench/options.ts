import { parseArgs } from 'node:util';
import { loads, loadsNamed } from './loads/loads.ts';
import { serverNames, type ServerName } from './servers/server-programs.ts';
import { ProgramError } from '../platform/errors/program-error.ts';

/** The required ratio of Coffer's figure to MinIO's, in one run on two cores. */
interface Target {
  readonly load: string;
  readonly connections: number;
  readonly ratio: number;
}

export const targets: readonly Target[] = [
  { load: 'put-4KiB', connections: 32, ratio: 6 },
  { load: 'get-4KiB', connections: 32, ratio: 3 },
  { load: 'head-4KiB', connections: 32, ratio: 3 },
  { load: 'delete-4KiB', connections: 32, ratio: 6 },
  { load: 'list', connections: 32, ratio: 4 },
  { load: 'put-64KiB', connections: 32, ratio: 4 },
  { load: 'get-64KiB', connections: 32, ratio: 2 },
  { load: 'put-256KiB', connections: 32, ratio: 3 },
  { load: 'get-256KiB', connections: 32, ratio: 2 },
  { load: 'put-1MiB', connections: 32, ratio: 2 },
  { load: 'mixed-256KiB', connections: 32, ratio: 2 },
  { load: 'put-8MiB', connections: 4, ratio: 1.5 },
  { load: 'get-8MiB', connections: 4, ratio: 1 },
];

/** The same in a bucket with versions. */
const versionedTargets: readonly Target[] = [
  { load: 'put-4KiB', connections: 32, ratio: 4 },
  { load: 'get-4KiB', connections: 32, ratio: 3 },
  { load: 'list', connections: 32, ratio: 4 },
  { load: 'list-versions', connections: 32, ratio: 3 },
];

/** The required share of Coffer's rate with SSE-KMS in its rate without encryption, for each number of connections. */
export const encryptionTargets: ReadonlyMap<string, number> = new Map([
  ['put-4KiB', 0.8],
  ['get-4KiB', 0.8],
  ['put-8MiB', 0.85],
  ['get-8MiB', 0.85],
]);

/** The share of an earlier Coffer's rate that is the least, and of its processor time the most, in one run by turns. */
export const beforeTargets = { rate: 0.97, cpu: 1.03 } as const;

/** The process must be ready within this time with 1,000,000 objects. */
export const readyWithinMs = 1_000;

export function targetOf(load: string, connections: number, versioned: boolean): Target | undefined {
  return (versioned ? versionedTargets : targets).find(
    (target) => target.load === load && target.connections === connections,
  );
}

export interface Options {
  readonly steps: readonly Step[];
  readonly servers: readonly ServerName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly quick: boolean;
  readonly signPayload: boolean;
  /** The bucket has versions. */
  readonly versioned: boolean;
  /** Each write sends an event to a webhook. */
  readonly webhook: boolean;
  /** Each write is replicated to a second Coffer. */
  readonly replication: boolean;
  readonly folder: string | undefined;
  /** The checkout that Coffer is started from; by default this one. */
  readonly coffer: string | undefined;
  /** The checkout of an earlier Coffer, measured by turns with this one. */
  readonly before: string | undefined;
  readonly out: string | undefined;
  readonly profile: boolean;
  /** The disk is measured in turn with the loads that write. */
  readonly disk: boolean;
  /** The number of overwrites before the loads are repeated; 0 for no repetition. */
  readonly overwrites: number;
  /** The number of objects for the cold start; 0 for none. */
  readonly coldStart: number;
}

/** A load at a number of connections. */
export interface Step {
  readonly load: string;
  readonly connections: number;
}

export const usage = `usage: npm run bench [-- OPTIONS]
  --quick               only the loads that have a target, at its connections, with fewer objects: a look, no result
  --targets             only the loads that have a target, at its connections
  --only LOAD,...       ${loads.map((load) => load.name).join(', ')}; put means all sizes; cold-start
  --connections N,...   1,32,256; with 8 MiB 4 too
  --rounds N            3; 2 with --quick
  --seconds N           of each round, 2; 1 with --quick
  --servers NAME,...    ${serverNames.join(',')}
  --overwrites N        run all once more after N writes over objects in Coffer: 10000000 in the long form
  --cold-start N        objects of Coffer's cold start, 1000000; 0 leaves it out, as --quick, --targets and --only do
  --sign-payload        sign SHA-256 of bodies
  --versioned           in a bucket with versions, which versitygw leaves out
  --webhook             Coffer alone, each write with an event for a webhook: what that costs
  --replication         Coffer alone, in a bucket with versions that is replicated to a second Coffer here: what that costs
  --encryption          Coffer once more, encrypting every object with SSE-KMS: what that costs
  --disk                what the disk gives for the same bytes with as many flushes, in turn with the loads that write (needs fio)
  --profile             of Coffer's threads while its loads run, in .coffer/bench-profile
  --coffer DIR          another checkout to start Coffer from, instead of this one
  --before DIR          Coffer of an earlier checkout too, by turns: what the changes cost; with --servers, peers as well
  --folder DIR          where the servers keep their data, .coffer/bench
  --out FILE.md         also write the report there`;

const defaultConnections = [1, 32, 256];
/** The loads that need `--versioned`. */
const ofVersions = ['list-versions', 'get-version'];
const coldStartObjects = 1_000_000;

export function parseOptions(args: readonly string[]): Options {
  const { values } = read(args);
  const quick = values.quick;
  // Versions alone are replicated.
  const versioned = values.versioned || values.replication;
  const coldStartNamed = values.only?.split(',').includes('cold-start') === true;
  const narrow = quick || values.targets || values.only !== undefined;
  return {
    steps: steps({ ...values, versioned }, versioned ? versionedTargets : targets),
    servers: servers(
      values.webhook || values.replication ? 'coffer' : (values.servers ?? defaultServers(values)),
      values,
    ),
    rounds: whole('--rounds', values.rounds ?? (quick ? '2' : '3'), 1),
    seconds: positive('--seconds', values.seconds ?? (quick ? '1' : '2')),
    quick,
    signPayload: values['sign-payload'],
    versioned,
    webhook: values.webhook,
    replication: values.replication,
    folder: values.folder,
    coffer: values.coffer,
    before: values.before,
    out: values.out,
    profile: values.profile,
    disk: values.disk,
    overwrites: whole('--overwrites', values.overwrites ?? '0', 0),
    coldStart: whole(
      '--cold-start',
      values['cold-start'] ?? (coldStartNamed || !narrow ? String(coldStartObjects) : '0'),
      0,
    ),
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        targets: { type: 'boolean', default: false },
        only: { type: 'string' },
        connections: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        servers: { type: 'string' },
        overwrites: { type: 'string' },
        'cold-start': { type: 'string' },
        'sign-payload': { type: 'boolean', default: false },
        versioned: { type: 'boolean', default: false },
        webhook: { type: 'boolean', default: false },
        replication: { type: 'boolean', default: false },
        encryption: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
        disk: { type: 'boolean', default: false },
        folder: { type: 'string' },
        coffer: { type: 'string' },
        before: { type: 'string' },
        out: { type: 'string' },
      },
    });
  } catch (error) {
    throw new ProgramError('usage', error instanceof Error ? error.message : String(error));
  }
}

function steps(
  { only, quick, targets: narrow, connections, versioned }: ReturnType<typeof read>['values'],
  ofTargets: readonly Target[],
): Step[] {
  const given = connections?.split(',').map((value) => whole('--connections', value, 1));
  const names = only?.split(',').filter((name) => name !== 'cold-start');
  if (names === undefined && (quick || narrow)) {
    return ofTargets.flatMap((target) =>
      (given ?? [target.connections]).map((count) => ({ load: target.load, connections: count })),
    );
  }
  const all = loads.map((load) => load.name).filter((name) => versioned || !ofVersions.includes(name));
  return named(names ?? all).flatMap((load) =>
    (given ?? connectionsOf(load)).map((count) => ({ load, connections: count })),
  );
}

function named(names: readonly string[]): string[] {
  try {
    return loadsNamed(names).map((load) => load.name);
  } catch (error) {
    throw new ProgramError('usage', error instanceof Error ? error.message : String(error));
  }
}

function connectionsOf(load: string): readonly number[] {
  return load.endsWith('-8MiB') ? [1, 4, 32, 256] : defaultConnections;
}

function defaultServers({ versioned, before }: ReturnType<typeof read>['values']): string {
  if (before !== undefined) return 'coffer';
  return versioned ? 'coffer,minio' : serverNames.join(',');
}

function servers(value: string, { encryption, before }: ReturnType<typeof read>['values']): ServerName[] {
  const named = value.split(',').map((name): ServerName => {
    const found = serverNames.find((known) => known === name);
    if (found === undefined)
      throw new ProgramError('usage', `--servers: "${name}" is none of ${serverNames.join(', ')}`);
    return found;
  });
  return [
    ...new Set<ServerName>([
      ...(encryption ? (['coffer', 'coffer-encrypted'] as const) : []),
      ...(before === undefined ? [] : (['coffer', 'coffer-before'] as const)),
      ...named,
    ]),
  ];
}

function whole(option: string, value: string, least: number): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < least) {
    throw new ProgramError('usage', `${option}: "${value}" is no whole number from ${least} on`);
  }
  return number;
}

function positive(option: string, value: string): number {
  const number = Number(value);
  if (!(number > 0)) throw new ProgramError('usage', `${option}: "${value}" is no number above 0`);
  return number;
}
