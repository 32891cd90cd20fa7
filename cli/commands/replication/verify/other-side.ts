import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Alias } from '../../../config/aliases.ts';
import { parseRemote, type RemoteTarget } from '../../../config/target.ts';
import type { S3Client } from '../../../s3/client.ts';
import { getReplication, type ReplicationRule } from '../../../s3/replication.ts';
import { adminOf } from '../../admin-client.ts';
import type { Context } from '../../context.ts';

/** The fields of a target that `list-remote-targets` shows. */
interface ShownTarget {
  readonly arn: string;
  readonly endpoint: string;
  readonly targetbucket: string;
  readonly secure: boolean;
  /** `s3` for a server without the extensions of MinIO. */
  readonly kind?: string;
}

/** The bucket that a source is compared with. */
interface OtherSide {
  readonly arn: string;
  readonly bucket: RemoteTarget;
  /** The enabled rules that send to it. */
  readonly rules: readonly ReplicationRule[];
}

/** Finds the other side of a replicated bucket: the one that is named, or that of the only target. @throws ProgramError BadArgument */
export async function otherSideOf(
  context: Context,
  client: S3Client,
  source: RemoteTarget,
  argument: string | undefined,
): Promise<OtherSide> {
  const admin = await adminOf(context, source.aliasName);
  const query = { bucket: source.bucket, type: '' };
  const targets = await admin.json<readonly ShownTarget[] | null>({
    method: 'GET',
    call: 'list-remote-targets',
    query,
  });
  const { Rules } = await getReplication(client, source.bucket);
  const aliases = await context.aliases();
  const named = argument === undefined ? undefined : parseRemote(argument, aliases);
  if (named !== undefined && (named.bucket === '' || !['', source.key].includes(named.key))) {
    const place = `${named.aliasName}/${named.bucket || 'BUCKET'}`;
    throw new ProgramError(
      'BadArgument',
      `Invalid target \`${argument}\`: name the other bucket, as \`${place}\`; a prefix belongs to the source`,
    );
  }
  const rules = Rules.filter(({ Status }) => Status === 'Enabled');
  const used = (targets ?? []).filter(({ arn }) => rules.some(({ Destination }) => Destination.Bucket === arn));
  const target = chosen(source.text, used, named);
  if (target.kind === 's3') {
    throw new ProgramError(
      'BadArgument',
      `${placeOf(target)} is no Coffer or MinIO: its versions have other ids. \`coffer diff\` compares the current objects`,
    );
  }
  const bucket = named ?? aliasOf(target, aliases);
  return { arn: target.arn, bucket, rules: rules.filter(({ Destination }) => Destination.Bucket === target.arn) };
}

/** An alias may have another address of the same server: its bucket tells the target then, where only one has that name. */
function chosen(source: string, targets: readonly ShownTarget[], named: RemoteTarget | undefined): ShownTarget {
  const places = targets.map(placeOf).join(', ');
  if (targets.length === 0) {
    throw new ProgramError('NotFound', `${source} has no enabled rule: \`coffer replicate ls\` shows the rules`);
  }
  const ofBucket = named === undefined ? targets : targets.filter(({ targetbucket }) => targetbucket === named.bucket);
  const ofHost = ofBucket.filter(({ endpoint }) => named !== undefined && endpoint === new URL(named.alias.url).host);
  const [target, ...others] = ofHost.length > 0 ? ofHost : ofBucket;
  if (target !== undefined && others.length === 0) return target;
  if (named === undefined) {
    throw new ProgramError('BadArgument', `${source} has several targets (${places}): name one as ALIAS/BUCKET`);
  }
  throw new ProgramError(
    'BadArgument',
    `\`${named.text}\` is not known as a target of ${source}, which has ${places}: use an alias with that address`,
  );
}

function aliasOf(target: ShownTarget, aliases: ReadonlyMap<string, Alias>): RemoteTarget {
  for (const [name, { url }] of aliases) {
    const { host, protocol } = new URL(url);
    if (host === target.endpoint && (protocol === 'https:') === target.secure) {
      return parseRemote(`${name}/${target.targetbucket}`, aliases);
    }
  }
  throw new ProgramError(
    'BadArgument',
    `No alias has the address of the target ${placeOf(target)}: name the other bucket as ALIAS/BUCKET`,
  );
}

function placeOf({ secure, endpoint, targetbucket }: ShownTarget): string {
  return `${secure ? 'https' : 'http'}://${endpoint}/${targetbucket}`;
}
