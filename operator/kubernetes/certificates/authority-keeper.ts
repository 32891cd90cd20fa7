import { X509Certificate } from 'node:crypto';
import type { CertificateAndKey } from '../../../platform/certificates/certificate-and-key.ts';
import { makeCa } from '../../../platform/certificates/make-ca.ts';
import type { Cache, OwnerReference } from '../../kube/kube-api.ts';
import type { ObjectWriter } from '../object-writer.ts';
import { authorityLabel, certificateLabel } from '../objects/labels.ts';
import { authorityStep, type AuthorityStep } from './authority-phases.ts';
import { authoritySecret, authoritySecretName, phaseOf, readAuthority, type Authority } from './authority-secret.ts';
import type { CertificateTimes } from './certificate-times.ts';
import { secretData } from './secret-data.ts';

export interface AuthorityKeeperOptions {
  readonly writer: ObjectWriter;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly times: CertificateTimes;
  readonly now: () => Date;
}

/**
 * An authority as it is after every step that is due, and when the next one is. `owner` is that of the resource whose authority it
 * is; without it the owner stays as it is.
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
    authority = await afterStep(step, authority, name, options);
  }
}

async function afterStep(
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
      // The key of the old one is not kept: nothing is ever signed by it again.
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

/** Whether a certificate in use was signed by the authority that is about to go. */
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
