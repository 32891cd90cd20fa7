import { ProgramError } from '../../platform/errors/program-error.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { key, within } from './keys.ts';
import { commitOnce, isReadOnly } from './commits.ts';
import { blamesBlobs, blobsUnavailable } from './blob-store.ts';
import type { Expectation, RecordStore } from './record-store.ts';
import { type BlobsMarker, markerName } from './blobs-marker.ts';
import { storeTenant, type ExpectedDeployment, type StoreTenant } from '../../protocol/expected-deployment.ts';
import { idOfNewStore, newTenantOf, refuseOtherStore, stillServed } from './other-store.ts';
import { StoreError } from './store-error.ts';

/** The key of the record that names the deployment. The record moves with the others from one engine to another. */
export const deploymentKey = key('system', 'deployment');

/**
 * The newest format of records that this server knows. The number in the record rises by the switch to a format alone, and keeps servers out
 * that cannot read it (docs/decisions/0082-format-4.md).
 */
export const NEWEST_FORMAT = 4;
/** The format in the record of a deployment whose object records have formats 1 to 3. */
const FIRST_FORMAT = 1;

/** Features of the newest format that came after it, by their names in the record. None yet. */
const FEATURES: ReadonlySet<string> = new Set();

/** Fields of a newer server are kept when the record is written back. */
const schema = z.looseObject({
  format: z.int().min(1),
  deploymentId: z.uuid(),
  /** The newest format of object records that servers write. Absent for 3. It rises once no server is left that cannot read it. */
  writes: z.int().optional(),
  /** Features that stored data uses. A server that lacks one of them cannot read what has it. */
  uses: z.array(z.string()).optional(),
  /** True once the blobs have the deployment's marker. After that, blobs without it belong to another deployment. */
  marked: z.boolean(),
  /**
   * The Tenant that has the store, where its records are in a database that others reach too. Absent where an earlier server began it, or one without
   * an operator: the first server of a Tenant that has it writes it.
   */
  tenant: z.looseObject(storeTenant.shape).optional(),
});

export type DeploymentRecord = z.infer<typeof schema>;

/** `format` is that of a new deployment by default. */
export function encodeDeployment(
  record: Pick<DeploymentRecord, 'deploymentId' | 'marked'> & Partial<DeploymentRecord>,
): Buffer {
  return Buffer.from(JSON.stringify({ format: FIRST_FORMAT, ...record }));
}

/** Throws `ProgramError` for the record of a newer server, and `StoreError` unreadable-record for a damaged one. */
export function decodeDeployment(value: Buffer, place: string): DeploymentRecord {
  const damaged = (cause: unknown) => {
    const field = cause instanceof z.ZodError ? `in ${cause.issues[0]?.path.join('.') || 'its form'}` : 'not JSON';
    const cure = 'restore the records from a snapshot or a backup';
    return new StoreError(
      'unreadable-record',
      `the record of the deployment at ${place} is damaged (${field}): ${cure}`,
      { cause },
    );
  };
  let read: unknown;
  try {
    read = JSON.parse(value.toString('utf8'));
  } catch (error) {
    throw damaged(error);
  }
  const known = z.object({ format: z.int().min(1) }).safeParse(read);
  if (!known.success) throw damaged(known.error);
  const { format } = known.data;
  if (format > NEWEST_FORMAT) {
    throw new ProgramError(
      'newer-format',
      `the records at ${place} have format ${format}, this server knows formats up to ${NEWEST_FORMAT}: start the newer server that wrote them`,
    );
  }
  const parsed = schema.safeParse(read);
  // Servers of a Tenant alone write the field, so another form is rather that of a newer one than a damage.
  if (parsed.error?.issues.every(({ path: [field] }) => field === 'tenant') === true) {
    throw new ProgramError(
      'newer-format',
      `the records at ${place} name their Tenant in a form that this server does not know: start the newer server that wrote them`,
    );
  }
  if (!parsed.success) throw damaged(parsed.error);
  const record = parsed.data;
  const unknown = (record.uses ?? []).filter((name) => !FEATURES.has(name));
  if (unknown.length > 0) {
    throw new ProgramError(
      'newer-format',
      `the records at ${place} use ${unknown.join(', ')}, which this server does not know: start the newer server that wrote them`,
    );
  }
  return record;
}

/** The key of a record that exists while a copy into these records is unfinished. A server does not start on half of the data. */
export const copyKey = key('system', 'copy');

export interface JoinOptions {
  readonly records: RecordStore;
  readonly marker: Pick<BlobsMarker, 'read' | 'write'>;
  /** Descriptions for messages. */
  readonly places: { readonly records: string; readonly blobs: string };
  /** The ID for new records. Random by default. */
  readonly newId?: string;
  /** Which stores the server may have; any by default. */
  readonly expected?: ExpectedDeployment;
  /** True for a data folder: its records may come from a version that did not name the deployment yet. */
  readonly sameFolder: boolean;
  /** Reports if there are bodies. They belong to records that are not those of `records` where these are new. */
  readonly hasBodies?: () => Promise<boolean>;
  /** Returns the endpoints of the live servers of the records that are not those of this Tenant; none by default. */
  readonly liveOthers?: () => Promise<readonly string[]>;
  /** Rejects where the keys of this server do not open what is sealed in the store. It is asked before the Tenant of the store changes. */
  readonly checkKeys?: () => Promise<void>;
  /** Gets the Tenant that the records name where this server is that of another one, and joins nevertheless. */
  readonly onOtherTenant?: (holder: StoreTenant) => void;
}

/**
 * Returns the ID of the deployment that both stores belong to. New stores get one: first the record, then the marker. If several servers
 * start at once, the first commit wins: it names the Tenant too, so that the server of another Tenant refuses what it did not begin.
 *
 * Throws `OtherStoreError` if they are not the expected ones, `ProgramError` if they belong to different deployments, `StoreError` if the records cannot be reached, and
 * `StoreError` of the blobs if the blobs cannot be reached or have no marker, as in a shared folder that is not mounted.
 */
export async function joinDeployment(options: JoinOptions): Promise<string> {
  const { records, marker, places, expected = {} } = options;
  if ((await records.get(copyKey)) !== undefined) {
    throw new ProgramError(
      'deployment',
      `a copy to the records at ${places.records} is not finished: run "coffer-store copy" again, which goes on where it stopped`,
    );
  }
  for (;;) {
    const entry = await records.get(deploymentKey);
    const found = await marker.read().catch(blamesBlobs);
    if (entry === undefined) {
      // Before the bodies are looked at: those of a store that is to be restored are often there before its records.
      const accepted = idOfNewStore(expected, places.records);
      const refusal = await foreign(options, found);
      if (refusal !== undefined) {
        // Another server that started at the same time may have written the record, and what came after it, since this one looked.
        if ((await records.get(deploymentKey)) === undefined) throw refusal;
        continue;
      }
      const deploymentId = accepted ?? options.newId ?? randomUUID();
      const record = { deploymentId, marked: false, tenant: expected.tenant };
      await change(records, { kind: 'absent', key: deploymentKey }, record);
      continue;
    }
    const deployment = decodeDeployment(entry.value, places.records);
    const { deploymentId, marked } = deployment;
    refuseOtherStore(expected, deployment, places.records);
    if (found !== undefined && found !== deploymentId) throw different(places, deploymentId, found);
    if (found === undefined && marked) throw unmarked(places, deploymentId);
    const unchanged = { kind: 'revision', key: deploymentKey, revision: entry.revision } as const;
    const tenant = newTenantOf(expected, deployment);
    if (tenant !== undefined && (await mayNameTenant(options, deployment))) {
      await change(records, unchanged, { ...deployment, tenant });
      continue;
    }
    if (found !== undefined) {
      if (!marked) await change(records, unchanged, { ...deployment, marked: true });
      reportOtherTenant(options, deployment);
      return deploymentId;
    }
    await marker.write(deploymentId).catch(blamesBlobs);
  }
}

/**
 * Reports whether the records may name the Tenant of this server from now on. A Tenant that had the store before serves it in either case.
 *
 * @throws OtherStoreError while others serve the store that this Tenant accepts
 */
async function mayNameTenant(
  { records, places, expected = {}, liveOthers, checkKeys }: JoinOptions,
  { deploymentId, tenant: holder }: DeploymentRecord,
): Promise<boolean> {
  const endpoints = holder === undefined ? [] : ((await liveOthers?.()) ?? []);
  if (holder !== undefined && endpoints.length > 0) {
    if (expected.expected === deploymentId) return false;
    throw stillServed({ deploymentId, holder, place: places.records }, endpoints);
  }
  // A copy reads the records while they are read-only, and compares them with the target. A later start names the Tenant.
  if (await isReadOnly(records)) return false;
  await checkKeys?.();
  return true;
}

function reportOtherTenant(
  { expected: { tenant } = {}, onOtherTenant }: JoinOptions,
  { tenant: holder }: DeploymentRecord,
): void {
  if (tenant !== undefined && holder !== undefined && holder.uid !== tenant.uid) onOtherTenant?.(holder);
}

/** Ignores a conflict: another server was first, and the caller reads the record again. */
async function change(
  records: RecordStore,
  expectation: Expectation,
  record: Parameters<typeof encodeDeployment>[0],
): Promise<void> {
  await commitOnce(
    records,
    { expect: [expectation], put: [{ key: deploymentKey, value: encodeDeployment(record) }] },
    randomBytes,
  );
}

/** Returns why records without a deployment cannot get one. */
async function foreign(
  { records, places, sameFolder, hasBodies }: JoinOptions,
  marker: string | undefined,
): Promise<ProgramError | undefined> {
  if (marker !== undefined && sameFolder) return lost(places, `belong to the deployment ${marker}`);
  if (marker !== undefined) {
    return new ProgramError(
      'deployment',
      `the blobs at ${places.blobs} belong to the deployment ${marker}, and the records at ${places.records} are new: ` +
        'name the records of that deployment, or other blobs',
    );
  }
  const hasBuckets = (await Array.fromAsync(records.scan({ ...within('b'), limit: 1 }))).length > 0;
  if (!hasBuckets && (await hasBodies?.().catch(blamesBlobs)) === true) return lost(places, 'are those of objects');
  if (hasBuckets && !sameFolder) {
    return new ProgramError(
      'deployment',
      `the records at ${places.records} hold buckets whose blobs are in their data folder, and not at ${places.blobs}: ` +
        'start the server once as before, stop it, and move the blobs by coffer-store',
    );
  }
  return undefined;
}

function lost(places: JoinOptions['places'], bodies: string): ProgramError {
  return new ProgramError(
    'deployment',
    `the records at ${places.records} are new or empty, and the bodies at ${places.blobs} ${bodies}: the records are lost. ` +
      'Put them back, or restore a snapshot to another folder ("coffer-store restore"); the bodies stay as they are until then',
  );
}

function different(places: JoinOptions['places'], deploymentId: string, found: string): ProgramError {
  return new ProgramError(
    'deployment',
    `the records at ${places.records} belong to the deployment ${deploymentId}, and the blobs at ${places.blobs} to ${found}: ` +
      'name the two stores of one deployment',
  );
}

function unmarked(places: JoinOptions['places'], deploymentId: string): StoreError {
  return blobsUnavailable(
    'unreachable',
    `the blobs of this deployment are not at ${places.blobs}: ${markerName} is missing there. Is the folder mounted? Where the blobs were ` +
      `moved by hand, put ${markerName} beside them with {"deploymentId": "${deploymentId}"}`,
  );
}

const named = z.object({ deploymentId: z.string() });

/**
 * Compares the record of the deployment that a running server meets with its own deployment: a failover, a name or a restore may lead to another
 * database. Without this its objects would be missing, and the bodies of its own be removed as those of none.
 *
 * @throws StoreError, which ends when the right records are back
 */
export function requireDeployment(value: Buffer | undefined, deploymentId: string, place: string): void {
  const found = named.safeParse(value === undefined ? undefined : parsed(value)).data?.deploymentId;
  if (found === deploymentId) return;
  const what = found === undefined ? 'name no deployment' : `belong to the deployment ${found}`;
  throw new StoreError(
    'unreachable',
    `the records at ${place} ${what}, and this server serves the deployment ${deploymentId}: another database was put in the place of its own`,
  );
}

function parsed(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
}
