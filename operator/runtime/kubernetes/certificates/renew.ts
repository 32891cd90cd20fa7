import { X509Certificate } from 'node:crypto';
import { type CertificateAndKey, makePrivateKey } from '../../../../platform/tls/certificate-and-key.ts';
import { makeCa, issueCertificate } from '../../../../platform/tls/issue-certificate.ts';
import type { Cache, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { ObjectWriter } from '../workload/object-writer.ts';
import { authorityLabel, certificateLabel } from '../objects/labels.ts';
import {
  authorityStep,
  type AuthorityStep,
  authoritySecret,
  authoritySecretName,
  phaseOf,
  readAuthority,
  type Authority,
  bundleOf,
} from './authority.ts';
import type { CertificateTimes } from './certificate-times.ts';
import { secretData } from '../namespace/made-secret.ts';
import { identityOfCertificate } from '../../../../protocol/key-service/identity.ts';
import type { CertificateNeed, IssuedCertificate } from '../../../contract/workload.ts';
import {
  certificateNames,
  leafStep,
  type LeafStep,
  factsOf,
  issuedBy,
  leafSecret,
  leafSecretName,
  phaseOfKey,
  purposeOf,
  readLeaf,
  type Leaf,
} from './leaf.ts';

export interface AuthorityKeeperOptions {
  readonly writer: ObjectWriter;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly times: CertificateTimes;
  readonly now: () => Date;
}

/**
 * Applies every due step of an authority, and answers it with the time of the next step. `owner` is the resource of the authority; without
 * it the owner stays.
 */
export async function keepAuthority(
  name: string,
  owner: OwnerReference | undefined,
  options: AuthorityKeeperOptions,
): Promise<{ readonly authority: Authority; readonly until: Date }> {
  const { writer, secrets, namespace, times, now } = options;
  const live = await writer.find(secrets, namespace, authoritySecretName(name));
  let authority: Authority = (live && readAuthority(live)) ?? {
    kind: 'settled',
    signing: await newAuthority(name, options),
  };
  for (;;) {
    const step = authorityStep(phaseOf(authority), now(), times, usesPrevious(name, authority, options));
    if (step.kind === 'stay') {
      const owners = owner === undefined ? (live?.metadata.ownerReferences ?? []) : [owner];
      await writer.ensure(authoritySecret(name, namespace, authority, owners), secrets);
      return { authority, until: step.until };
    }
    authority = await authorityAfterStep(step, authority, name, options);
  }
}

async function authorityAfterStep(
  step: Exclude<AuthorityStep, { kind: 'stay' }>,
  authority: Authority,
  name: string,
  options: AuthorityKeeperOptions,
): Promise<Authority> {
  const { signing } = authority;
  const since = options.now();
  switch (step.kind) {
    case 'introduce':
      return { kind: 'introducing', signing, next: await newAuthority(name, options), since };
    case 'switch':
      // The key of the old authority is dropped: it never signs again.
      return authority.kind === 'introducing'
        ? { kind: 'retiring', signing: authority.next, previousPem: signing.certPem, since }
        : authority;
    case 'retire':
      return { kind: 'settled', signing };
    default:
      return step satisfies never;
  }
}

function newAuthority(name: string, { times, now }: AuthorityKeeperOptions): Promise<CertificateAndKey> {
  return makeCa({ commonName: `${name} CA`, validForMs: times.authorityLifeMs, now: now() });
}

/** Reports whether the authority that is about to go signed a certificate in use. */
function usesPrevious(name: string, authority: Authority, { secrets, namespace }: AuthorityKeeperOptions): boolean {
  if (authority.kind !== 'retiring') return false;
  const previous = new X509Certificate(authority.previousPem);
  return secrets.list(namespace).some((secret) => {
    const labels = secret.metadata.labels ?? {};
    if (labels[authorityLabel] !== name || labels[certificateLabel] === undefined) return false;
    const pem = secretData(secret)['tls.crt'];
    return pem !== undefined && new X509Certificate(pem).verify(previous.publicKey);
  });
}

/** Applies every due step of a certificate, and answers it with the time of the next step. */
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
    // An authority near its end limits the life of the certificate, so one signature is enough.
    if (step.kind === 'stay' || (step.kind === 'renew' && renewed)) {
      await writer.ensure(leafSecret(need, namespace, leaf, bundleOf(authority), owner), secrets);
      const issued = issuedBy(leaf);
      return { issued, until: step.kind === 'stay' ? step.until : issued.notAfter };
    }
    renewed ||= step.kind === 'renew';
    leaf = { ...(await leafAfterStep(step, leaf, need, now(), sign)), ...(renewed ? { purpose } : {}) };
  }
}

async function leafAfterStep(
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
