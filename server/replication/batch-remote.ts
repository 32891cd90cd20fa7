import { readVersioningStatus } from '../../protocol/s3/bucket-versioning.ts';
import { isMarkedAsS3 } from '../../protocol/s3/s3-answer.ts';
import { createHash } from 'node:crypto';
import { timeoutSignal } from '../../platform/http/timeout-signal.ts';
import { parseTagging } from '../../protocol/s3/tagging.ts';
import { isVersionId, plainVersionId } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BatchRemote, BatchVersion, OpenBatchRemote, Transfer } from '../maintenance/batch/batch-remote.ts';
import { MaintenanceError } from '../maintenance/maintenance-error.ts';
import type { BatchSecrets, ReplicateDefinition } from '../maintenance/batch/replicate-definition.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { Bandwidth } from './bandwidth.ts';
import { fetchVersion } from './fetch-version.ts';
import { readVersionListing } from './remote-listing.ts';
import type { RemoteTarget } from '../../protocol/admin/remote-target.ts';
import { sourceVersionId } from './replica-request.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { isSameContent } from './same-content.ts';
import { sendCopy, sendMarker } from './send-version.ts';
import { checkAnswer, errorOf, isAbsentThere, TargetClient, type TargetAnswer } from './target-client.ts';

export type BatchObjects = Pick<
  ObjectLayer,
  'getObject' | 'headObject' | 'putObject' | 'deleteObject' | 'getBucketVersioning' | 'getBucketEncryption'
>;

const pageSize = 500;
const notifyMs = 10_000;

type Client = Pick<TargetClient, 'send' | 'open' | 'close'>;

/** Opens the other servers of batch jobs. */
export function batchRemotes(
  objects: BatchObjects,
  connect: (target: RemoteTarget, signal: AbortSignal) => Client = (target, signal) => new TargetClient(target, signal),
): OpenBatchRemote {
  return (definition, secrets, signal) =>
    new S3BatchRemote(objects, definition, secrets, connect(targetOf(definition, secrets), signal), signal);
}

class S3BatchRemote implements BatchRemote {
  readonly #objects: BatchObjects;
  readonly #definition: ReplicateDefinition;
  readonly #secrets: BatchSecrets;
  readonly #client: Client;
  readonly #bandwidth: Bandwidth;
  /** True if the bucket of this server keeps versions. */
  #keepsVersions: Promise<boolean> | undefined;

  constructor(
    objects: BatchObjects,
    definition: ReplicateDefinition,
    secrets: BatchSecrets,
    client: Client,
    signal: AbortSignal,
  ) {
    this.#objects = objects;
    this.#definition = definition;
    this.#secrets = secrets;
    this.#client = client;
    this.#bandwidth = new Bandwidth({ limit: 0, signal });
  }

  close(): void {
    this.#client.close();
  }

  async check(): Promise<void> {
    const { remote, direction, bucket } = this.#definition;
    const answer = await this.#client.send({ method: 'GET', query: { versioning: '' } }).catch((error: unknown) => {
      if (!(error instanceof DeliveryError)) throw error;
      throw new MaintenanceError('remote-unavailable', `the other server does not answer: ${error.message}`, {
        cause: error,
      });
    });
    if (answer.status !== 200) throw rejection(answer, `${remote.endpoint}/${remote.bucket}`);
    if (remote.type !== 'minio') return;
    const there = readVersioningStatus(answer.text) === 'Enabled';
    const [source, target] =
      direction === 'send' ? [await this.#isVersioned(), there] : [there, await this.#isVersioned()];
    if (!source || target) return;
    const [from, to] = direction === 'send' ? [bucket, remote.bucket] : [remote.bucket, bucket];
    throw new MaintenanceError(
      'remote-refused',
      `the source ${from} keeps versions, and the target ${to} does not: enable versioning there`,
    );
  }

  #isVersioned(): Promise<boolean> {
    this.#keepsVersions ??= this.#objects
      .getBucketVersioning(this.#definition.bucket)
      .then((versioning) => versioning?.status === 'Enabled');
    return this.#keepsVersions;
  }

  async list({ prefix, keyMarker, versionIdMarker }: Parameters<BatchRemote['list']>[0]) {
    const answer = await this.#client.send({
      method: 'GET',
      query: {
        versions: '',
        prefix,
        'max-keys': String(pageSize),
        'encoding-type': 'url',
        ...(keyMarker !== '' && { 'key-marker': keyMarker }),
        ...(versionIdMarker !== undefined && { 'version-id-marker': versionIdMarker }),
      },
    });
    checkAnswer(answer, `list the versions of ${this.#definition.remote.bucket}`);
    return readVersionListing(answer.text);
  }

  async describe({ key, versionId }: BatchVersion, needsTags: boolean) {
    const query = { versionId };
    const head = await this.#client.send({ method: 'HEAD', key, query });
    if (isAbsentThere(head)) return undefined;
    checkAnswer(head, `read version ${versionId} of ${key}`);
    const headers = Object.fromEntries(
      Object.entries(head.headers).filter((one): one is [string, string] => typeof one[1] === 'string'),
    );
    if (!needsTags) return { headers, tags: {} };
    const answer = await this.#client.send({ method: 'GET', key, query: { tagging: '', versionId } });
    checkAnswer(answer, `read the tags of version ${versionId} of ${key}`);
    return { headers, tags: parseTagging(answer.text, 'object') };
  }

  async send(version: BatchVersion, targetKey: string, onlyId: string | undefined): Promise<Transfer> {
    const { key, versionId, deleteMarker, modified } = version;
    const { bucket, remote } = this.#definition;
    // A null version keeps its place where both sides keep versions.
    const keepsId = remote.type === 'minio' && (versionId !== 'null' || (await this.#isVersioned()));
    const client = this.#client;
    if (deleteMarker) {
      // A marker without its id would come again with each repetition.
      if (!keepsId || (await this.#isMarkerThere(targetKey, versionId))) return 'same';
      if (await this.#hasOtherNull(version, targetKey)) throw otherNull(targetKey);
      await sendMarker({ client }, { key: targetKey, versionId, modified });
      return 'changed';
    }
    try {
      if (await this.#isThere(version, targetKey, keepsId)) return 'same';
      const isCopy = !keepsId || (await this.#hasOtherNull(version, targetKey));
      if (isCopy && keepsId) {
        // A copy would become the newest version there.
        if (!version.isLatest) throw otherNull(targetKey);
        if (await this.#isThere(version, targetKey, false)) return 'same';
      }
      const sender = {
        objects: this.#objects,
        client,
        target: { targetBucket: remote.bucket },
        bandwidth: this.#bandwidth,
      };
      await sendCopy(
        { ...sender, targetId: '' },
        { bucket, key, versionId, onlyId },
        { targetKey, kind: isCopy ? 'copy' : 'replica' },
      );
    } catch (error) {
      // It was removed meanwhile.
      if (error instanceof S3Error && error.status === 404) return 'same';
      throw error;
    }
    return 'changed';
  }

  async #isThere(version: BatchVersion, targetKey: string, keepsId: boolean): Promise<boolean> {
    const { etag, size, modified, versionId, key } = version;
    const query: Record<string, string> = keepsId ? { versionId: sourceVersionId(versionId) } : {};
    const head = await this.#client.send({ method: 'HEAD', key: targetKey, query });
    const { status, headers } = head;
    // The job may lack the permission to read there.
    if (isAbsentThere(head) || (isMarkedAsS3(headers) && (status === 403 || status === 405))) return false;
    checkAnswer(head, `look for ${targetKey} at the target`);
    if (keepsId && headers['etag'] === `"${etag}"`) return true;
    const { encryption } = await this.#objects.headObject(this.#definition.bucket, key, { versionId });
    return isSameContent(
      { etag, size, modified, hasRandomEtag: encryption?.scheme === 'SSE-KMS' },
      {
        etag: String(headers['etag']).replaceAll('"', ''),
        size: Number(headers['content-length']),
        modified: Date.parse(String(headers['last-modified'])),
        hasRandomEtag: headers['x-amz-server-side-encryption'] === 'aws:kms',
      },
    );
  }

  /** Reports for a null version whether the target may have another one, which a replica would replace. */
  async #hasOtherNull({ versionId }: BatchVersion, key: string): Promise<boolean> {
    if (versionId !== 'null') return false;
    const head = await this.#client.send({ method: 'HEAD', key, query: { versionId } });
    if (isAbsentThere(head)) return false;
    // The job may lack the permission to read there, and HEAD of a delete marker is 405.
    const { status, headers } = head;
    if (!isMarkedAsS3(headers) || (status !== 403 && status !== 405)) {
      checkAnswer(head, `look for the null version of ${key} at the target`);
    }
    return true;
  }

  /** HEAD of a delete marker is 405, with a header that says what it is. */
  async #isMarkerThere(key: string, versionId: string): Promise<boolean> {
    const query = { versionId: sourceVersionId(versionId) };
    const head = await this.#client.send({ method: 'HEAD', key, query });
    const { status, headers } = head;
    if (status >= 500 || !isMarkedAsS3(headers)) checkAnswer(head, `look for a delete marker of ${key} at the target`);
    return headers['x-amz-delete-marker'] === 'true';
  }

  async fetch(version: BatchVersion, targetKey: string): Promise<Transfer> {
    const { bucket, remote } = this.#definition;
    const keepsId = remote.type === 'minio' && version.versionId !== 'null' && (await this.#isVersioned());
    return fetchVersion(
      { objects: this.#objects, client: this.#client, bucket },
      { ...version, targetKey, ...(keepsId && { keptId: ownVersionId(version) }) },
    );
  }

  async notify(report: object): Promise<void> {
    const { notify } = this.#definition;
    if (notify === undefined) return;
    const { notifyToken } = this.#secrets;
    const { ok, status } = await fetch(notify.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(notifyToken !== undefined && { authorization: notifyToken }) },
      body: JSON.stringify(report),
      redirect: 'error',
      signal: timeoutSignal(notifyMs),
    });
    if (!ok) throw new DeliveryError('rejected', `the address of the report answers ${status}`);
  }
}

/**
 * Returns the id of a fetched version here. Ids of Coffer begin with their time, which gives the order of versions, and are kept. One of a MinIO
 * becomes an id of its time and its digest, so that a repetition finds the version.
 */
export function ownVersionId({ versionId, modified }: Pick<BatchVersion, 'versionId' | 'modified'>): string {
  const id = plainVersionId(versionId);
  const time = modified.toString(16).padStart(12, '0');
  if (isVersionId(id) && id.startsWith(time)) return id;
  return time + createHash('sha256').update(versionId).digest('hex').slice(0, 20);
}

function targetOf({ remote }: ReplicateDefinition, { secretKey, sessionToken }: BatchSecrets): RemoteTarget {
  const { endpoint, secure, path, accessKey, bucket } = remote;
  return {
    arn: '',
    sourceBucket: '',
    endpoint,
    secure,
    targetBucket: bucket,
    path,
    region: '',
    accessKey,
    secretKey,
    ...(sessionToken !== undefined && { sessionToken }),
    bandwidthLimit: 0,
    healthCheckMs: 0,
    disableProxy: true,
  };
}

function otherNull(key: string): DeliveryError {
  return new DeliveryError(
    'impossible',
    `the target has another null version of ${key}, or does not show it: a batch job replaces no version`,
  );
}

function rejection(answer: TargetAnswer, place: string): MaintenanceError {
  const { code, message } = errorOf(answer);
  if (code === String(answer.status) && !isMarkedAsS3(answer.headers))
    return new MaintenanceError('remote-unavailable', `what answers at ${place} is no S3 now: ${code}`);
  if (code === 'NoSuchBucket') return new MaintenanceError('no-such-target', `there is no bucket ${place}`);
  return new MaintenanceError('remote-refused', `${place} refuses the job: ${code} ${message}`.trim());
}
