import {
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import {
  type Content,
  DELETE_MARKER,
  IN_DOUBT,
  knownVersions,
  placeOf,
  type Subresource,
  versionName,
} from './expected.ts';
import { begin, type Writing } from './writing.ts';

/** The number of versions of a name that are kept, so that a run of a thousand lives does not grow. */
const MAX_VERSIONS = 5;

/** Changes the tags or the lock of a version, or removes one. Does nothing while an answer about a version of the name is missing. */
export async function changeVersion(writing: Writing, asked: string[], name: string): Promise<void> {
  const { random, witness } = writing;
  const versions = knownVersions(witness, name) ?? [];
  const at = random.between(0, versions.length - 1);
  const version = versions[at];
  if (version === undefined) return undefined;
  const { versionId, content } = version;
  const choice = random.between(1, 100);
  if (content === DELETE_MARKER || choice <= 40 || versions.length > MAX_VERSIONS) {
    return remove(writing, asked, name, { versionId, isCurrent: at === 0, next: versions[1]?.content });
  }
  if (choice <= 65) return tag(writing, asked, name, versionId);
  return choice <= 80 ? hold(writing, asked, name, versionId) : retain(writing, asked, name, versionId);
}

async function tag({ s3, random, witness }: Writing, asked: string[], name: string, VersionId: string): Promise<void> {
  const tags = versionName(name, VersionId, 'tagging');
  const place = { ...placeOf(name), VersionId };
  if (witness.known(tags) !== undefined && random.between(0, 2) === 0) {
    begin(witness, asked, tags, undefined);
    await s3.send(new DeleteObjectTaggingCommand(place));
  } else {
    const Value = `${random.between(0, 2 ** 30)}`;
    begin(witness, asked, tags, Value);
    await s3.send(new PutObjectTaggingCommand({ ...place, Tagging: { TagSet: [{ Key: 'tag', Value }] } }));
  }
  witness.acknowledge(tags);
}

async function hold({ s3, witness }: Writing, asked: string[], name: string, VersionId: string): Promise<void> {
  const held = versionName(name, VersionId, 'legal-hold');
  const Status = witness.known(held) === 'ON' ? 'OFF' : 'ON';
  begin(witness, asked, held, Status === 'ON' ? 'ON' : undefined);
  await s3.send(new PutObjectLegalHoldCommand({ ...placeOf(name), VersionId, LegalHold: { Status } }));
  witness.acknowledge(held);
}

async function retain(
  { s3, random, witness }: Writing,
  asked: string[],
  name: string,
  VersionId: string,
): Promise<void> {
  const retained = versionName(name, VersionId, 'retention');
  const RetainUntilDate = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + random.between(1, 2 ** 24) * 60_000);
  begin(witness, asked, retained, RetainUntilDate.toISOString());
  const Retention = { Mode: 'GOVERNANCE', RetainUntilDate } as const;
  const bypass = { BypassGovernanceRetention: true };
  await s3.send(new PutObjectRetentionCommand({ ...placeOf(name), VersionId, Retention, ...bypass }));
  witness.acknowledge(retained);
}

interface Removed {
  readonly versionId: string;
  readonly isCurrent: boolean;
  /** Of the version before, which is current afterwards. */
  readonly next: Content;
}

async function remove(writing: Writing, asked: string[], name: string, removed: Removed): Promise<void> {
  const { s3, random, witness } = writing;
  const { versionId, isCurrent, next } = removed;
  const stateOf = (subresource: Subresource) => witness.known(versionName(name, versionId, subresource));
  const [held, retained] = [stateOf('legal-hold'), stateOf('retention')];
  if (held === IN_DOUBT || retained === IN_DOUBT || stateOf('tagging') === IN_DOUBT) return undefined;
  const command = { ...placeOf(name), VersionId: versionId };
  if (held !== undefined || (retained !== undefined && random.between(0, 2) === 0)) {
    const bypass = held !== undefined && { BypassGovernanceRetention: true };
    return mustBeRefused(s3.send(new DeleteObjectCommand({ ...command, ...bypass })), versionName(name, versionId));
  }
  const names = [versionName(name, versionId)];
  for (const subresource of ['tagging', 'retention'] as const) {
    if (stateOf(subresource) !== undefined) names.push(versionName(name, versionId, subresource));
  }
  for (const one of names) begin(witness, asked, one, undefined);
  if (isCurrent) begin(witness, asked, name, next === DELETE_MARKER ? undefined : next);
  await s3.send(new DeleteObjectCommand({ ...command, BypassGovernanceRetention: true }));
  for (const one of isCurrent ? [...names, name] : names) witness.acknowledge(one);
}

async function mustBeRefused(call: Promise<unknown>, name: string): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (error instanceof S3ServiceException && error.name === 'AccessDenied') return;
    throw error;
  }
  throw new Error(`${name} is locked, and was removed`);
}
