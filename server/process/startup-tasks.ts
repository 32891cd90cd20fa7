import type { StructuredLog } from '../../platform/output/structured-log.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { noKeySource } from '../encryption/key-source.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import type { ClusterView } from '../cluster/membership.ts';
import type { Services } from './services.ts';
import { deniesAlways } from '../../protocol/policy/check-policy-names.ts';
import { parseBucketPolicy, parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';

/** Milliseconds after a failure. */
const retryMs = 5_000;

interface SealingLoop {
  /** Opens the sealed records, and turns sealing on if every server has the key service. */
  start(view: ClusterView): Promise<void>;
  /** Turns sealing on as soon as every server has the key service. */
  onReplicasChange(view: ClusterView): void;
}

/**
 * Turns sealing on when every live server has the key service: a server without it could not read sealed records, and during a rolling
 * update some servers have it before others. The other servers detect sealed records by themselves.
 */
export function createSealingLoop(
  { keys, sealed }: Pick<Services, 'keys' | 'sealed'>,
  log: Logger,
  tasks: Pick<TaskReport, 'run'>,
): SealingLoop {
  let turning = false;
  let waits = false;

  async function turnOn(): Promise<void> {
    turning = true;
    try {
      await tasks.run('sealing', retryMs, () => sealed.start({ turnOn: true }));
      // The task does not run shortly after a failure.
      if (!sealed.sealing) return;
      log.info({ event: 'sealing' }, 'identities and settings are sealed: every server has the key service');
    } catch (error) {
      log.warn({ err: error }, 'identities and settings could not be sealed yet');
    } finally {
      turning = false;
    }
  }

  return {
    async start(view) {
      const everyone = view.live.every(({ keyService }) => keyService);
      await sealed.start({ turnOn: everyone });
      waits = keys !== noKeySource && !sealed.sealing;
      // This clears an earlier failure from the report.
      if (sealed.sealing) await tasks.run('sealing', retryMs, () => Promise.resolve());
      if (!waits) return;
      const without = view.live.filter(({ keyService }) => !keyService).map(({ endpoint }) => endpoint);
      log.info(
        { without },
        `identities and settings stay plain until these servers have the key service: ${without.join(', ')}`,
      );
    },
    onReplicasChange({ leads, live }) {
      if (waits && !turning && !sealed.sealing && leads && live.every(({ keyService }) => keyService)) void turnOn();
    },
  };
}

interface PolicySources {
  readonly identities: Pick<IdentityReader, 'policies' | 'serviceAccounts'>;
  readonly objects: Pick<ObjectLayer, 'listBuckets' | 'getBucketPolicy'>;
}

type WarningLog = Pick<StructuredLog, 'warn'>;

/**
 * Logs the stored policy statements that deny every request, because no request has the key of their condition. The server refuses new
 * policies with such a statement. It keeps those of earlier releases, which deny more than their authors intended.
 */
export async function warnAboutPolicies({ identities, objects }: PolicySources, log: WarningLog): Promise<void> {
  const warn = (policy: string, read: () => PolicyDocument) => {
    let document: PolicyDocument;
    try {
      document = read();
    } catch (error) {
      return log.warn({ policy, err: error }, `${policy} cannot be read: requests that it decides are refused`);
    }
    for (const { statement, keys } of deniesAlways(document)) {
      log.warn(
        { policy, statement, keys },
        `${policy}: statement ${statement} denies whatever its condition says: no request to this server has ${keys.join(', ')}; change the statement`,
      );
    }
  };
  for await (const { name, document } of identities.policies()) warn(`policy "${name}"`, () => document);
  for await (const { accessKey, policy } of identities.serviceAccounts()) {
    if (policy !== undefined) warn(`policy of the access key ${accessKey}`, () => parsePolicyDocument(policy));
  }
  for (const { name } of await objects.listBuckets()) {
    const policy = await objects.getBucketPolicy(name);
    if (policy !== undefined) warn(`policy of the bucket ${name}`, () => parseBucketPolicy(policy, name));
  }
}
