import type { CertificateAndKey } from '../../../platform/certificates/certificate-and-key.ts';
import { makePrivateKey } from '../../../platform/certificates/certificate-and-key.ts';
import { identityOfCertificate } from '../../../platform/certificates/certificate-identity.ts';
import { issueCertificate } from '../../../platform/certificates/issue-certificate.ts';
import type { OwnerReference } from '../../kube/kube-api.ts';
import type { CertificateNeed, IssuedCertificate } from '../../workload.ts';
import type { AuthorityKeeperOptions } from './authority-keeper.ts';
import { bundleOf, type Authority } from './authority-secret.ts';
import { certificateNames } from './certificate-names.ts';
import { leafStep, type LeafStep } from './leaf-phases.ts';
import {
  factsOf,
  issuedBy,
  leafSecret,
  leafSecretName,
  phaseOfKey,
  purposeOf,
  readLeaf,
  type Leaf,
} from './leaf-secret.ts';

/** A certificate as it is after every step that is due, and when the next one is. */
export async function keepLeaf(
  need: CertificateNeed,
  authority: Authority,
  owner: OwnerReference,
  options: AuthorityKeeperOptions,
): Promise<{ readonly issued: IssuedCertificate; readonly until: Date }> {
  const { writer, secrets, namespace, times, now } = options;
  const names = certificateNames(need, namespace);
  const sign = (keyPem?: string) => signed(need, authority, options, keyPem);
  const live = await writer.find(secrets, namespace, leafSecretName(need.name));
  const kept = live && readLeaf(live);
  const purpose = purposeOf(need, names);
  let leaf: Leaf = kept ?? { current: await sign(), rotation: need.rotation ?? '', purpose, exchange: undefined };
  for (let renewed = false; ;) {
    const step = leafStep(factsOf(leaf, need, names, authority.signing.certPem), phaseOfKey(leaf), now(), times);
    // An authority at the end of its life signs nothing longer than itself: once is as good as it gets.
    if (step.kind === 'stay' || (step.kind === 'renew' && renewed)) {
      await writer.ensure(leafSecret(need, namespace, leaf, bundleOf(authority), owner), secrets);
      const issued = issuedBy(leaf);
      return { issued, until: step.kind === 'stay' ? step.until : issued.notAfter };
    }
    renewed ||= step.kind === 'renew';
    leaf = { ...(await afterStep(step, leaf, need, now(), sign)), ...(renewed ? { purpose } : {}) };
  }
}

async function afterStep(
  step: Exclude<LeafStep, { kind: 'stay' }>,
  leaf: Leaf,
  need: CertificateNeed,
  since: Date,
  sign: (keyPem?: string) => Promise<CertificateAndKey>,
): Promise<Leaf> {
  const { current, exchange } = leaf;
  switch (step.kind) {
    case 'renew':
      return { ...leaf, current: await sign(current.keyPem) };
    case 'announce': {
      const nextKeyPem = await makePrivateKey('ecdsa-p256');
      const nextIdentity = identityOfCertificate((await sign(nextKeyPem)).certPem);
      return {
        ...leaf,
        rotation: need.rotation ?? '',
        exchange: { kind: 'announced', nextKeyPem, nextIdentity, since },
      };
    }
    case 'switch': {
      if (exchange?.kind !== 'announced') return leaf;
      const formerIdentity = identityOfCertificate(current.certPem);
      const next = await sign(exchange.nextKeyPem);
      return { ...leaf, current: next, exchange: { kind: 'overlapping', formerIdentity, since } };
    }
    case 'forget':
      return { ...leaf, exchange: undefined };
    default:
      return step satisfies never;
  }
}

function signed(
  need: CertificateNeed,
  authority: Authority,
  { namespace, times, now }: AuthorityKeeperOptions,
  keyPem: string | undefined,
): Promise<CertificateAndKey> {
  return issueCertificate({
    commonName: need.commonName,
    ...certificateNames(need, namespace),
    usages: need.usages,
    validForMs: need.validForMs ?? times.leafLifeMs,
    issuer: authority.signing,
    now: now(),
    ...(keyPem === undefined ? {} : { keyPem }),
  });
}
