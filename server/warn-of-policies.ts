import { deniesAlways } from '../protocol/policy/check-policy-names.ts';
import { parseBucketPolicy } from '../protocol/policy/parse-bucket-policy.ts';
import { parsePolicyDocument } from '../protocol/policy/parse-policy.ts';
import type { PolicyDocument } from '../protocol/policy/document.ts';
import type { IdentityReader } from './identities/identities.ts';
import type { ObjectLayer } from './objects/object-layer.ts';

export interface PolicyPlaces {
  readonly identities: Pick<IdentityReader, 'policies' | 'serviceAccounts'>;
  readonly objects: Pick<ObjectLayer, 'listBuckets' | 'getBucketPolicy'>;
}

interface WarningLog {
  warn(fields: object, message: string): void;
}

/**
 * Names in the log the stored statements that deny whatever their condition says. New policies with such a statement are refused; those
 * of earlier releases are kept, and deny more than their authors meant.
 */
export async function warnOfPolicies({ identities, objects }: PolicyPlaces, log: WarningLog): Promise<void> {
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
