import { ResourceError } from '../../../api/resource-error.ts';
import type { ResourceRef, CertificateNeed, CertificatePart, IssuedCertificate } from '../../../contract/workload.ts';
import type { Cache, KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import { authorityLabel, certificateLabel, ownerKindLabel, ownerLabel } from '../objects/labels.ts';
import { keepAuthority, type AuthorityKeeperOptions, keepLeaf } from './renew.ts';
import { validityOf, type Authority } from './authority.ts';
import { certificateObject, issuedInSecret } from './cert-manager.ts';
import { certificateNames, leafSecretName } from './leaf.ts';
import { secretData } from '../namespace/made-secret.ts';

/** The expiry of a certificate that the operator or cert-manager makes. */
export interface CertificateExpiry {
  readonly kind: 'authority' | 'certificate';
  readonly name: string;
  /** The resource that it is made for; undefined for an authority whose resource is unknown. */
  readonly owner: ResourceRef | undefined;
  readonly notAfter: Date;
}

interface CertificateObjects {
  readonly secrets: Cache;
  /** Certificates of cert-manager; undefined while the cluster does not know the type. */
  readonly certificates: Cache | undefined;
}

/**
 * Finds certificates that a resource no longer needs, for instance after its TLS was turned off. `made` has the maker of each needed
 * certificate. Pods that still mount one have a copy.
 */
function unusedCertificates(
  owner: ResourceRef,
  made: ReadonlyMap<string, 'operator' | 'cert-manager'>,
  namespace: string,
  { secrets, certificates }: CertificateObjects,
): { readonly secrets: readonly KubeObject[]; readonly certificates: readonly KubeObject[] } {
  const isOf = ({ metadata: { labels = {} } }: KubeObject): boolean =>
    labels[ownerKindLabel] === owner.kind && labels[ownerLabel] === owner.name;
  const kept = secrets.list(namespace);
  const leaves = kept.filter((secret) => isOf(secret) && isUnused(secret, made));
  const gone = new Set(leaves);
  const authorities = new Set(leaves.map(({ metadata }) => metadata.labels?.[authorityLabel]));
  const unsigned = kept.filter(({ metadata: { labels = {} } }) => {
    const authority = labels[authorityLabel];
    if (authority === undefined || labels[certificateLabel] !== undefined || !authorities.has(authority)) return false;
    return !kept.some(
      (other) =>
        !gone.has(other) &&
        other.metadata.labels?.[authorityLabel] === authority &&
        other.metadata.labels[certificateLabel] !== undefined,
    );
  });
  const requests = (certificates?.list(namespace) ?? []).filter(
    (request) => isOf(request) && made.get(request.metadata.labels?.[certificateLabel] ?? '') !== 'cert-manager',
  );
  return { secrets: [...leaves, ...unsigned], certificates: requests };
}

function isUnused({ metadata: { labels = {} } }: KubeObject, made: ReadonlyMap<string, unknown>): boolean {
  const certificate = labels[certificateLabel];
  return certificate !== undefined && !made.has(certificate);
}

interface CertificateKeeperOptions extends AuthorityKeeperOptions {
  /** Certificates of cert-manager; undefined while the cluster does not know the type. */
  readonly certificates: () => Cache | undefined;
  readonly owner: (ref: ResourceRef) => OwnerReference | undefined;
}

interface KeptCertificate {
  readonly need: CertificateNeed;
  readonly notAfter: Date;
  /** Time of its next step. */
  readonly until: Date;
}

interface KeptAuthority {
  readonly owner: ResourceRef | undefined;
  readonly notAfter: Date;
  readonly until: Date;
}

/** The authorities and certificates of one namespace, each in its own Secret. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  readonly #certificates = new Map<string, KeptCertificate>();
  readonly #authorities = new Map<string, KeptAuthority>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /** Serializes the resources that share an authority. */
  ensure(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    const result = this.#turn.then(() => this.#ensureAll(needs));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Returns the PEM of a part. Errors for a certificate that is not made yet. */
  part(certificate: string, part: CertificatePart): string {
    const value = this.#data(certificate)[{ certificate: 'tls.crt', key: 'tls.key', ca: 'ca.crt' }[part]];
    if (value === undefined || value === '') throw new Error(`the certificate ${certificate} is not made yet`);
    return value;
  }

  /** Returns the PEM of the authorities that signed a workload's certificate. */
  authoritiesOf(workload: string): readonly string[] {
    return [...this.#certificates.values()]
      .filter(({ need }) => need.validFor.includes(workload))
      .flatMap(({ need }) => this.#data(need.name)['ca.crt'] ?? []);
  }

  expiries(): readonly CertificateExpiry[] {
    const authorities = [...this.#authorities].map(([name, { owner, notAfter }]): CertificateExpiry => ({
      kind: 'authority',
      name,
      owner,
      notAfter,
    }));
    const certificates = [...this.#certificates].map(([name, { need, notAfter }]): CertificateExpiry => ({
      kind: 'certificate',
      name,
      owner: need.owner,
      notAfter,
    }));
    return [...authorities, ...certificates];
  }

  /** Returns the resources with a due step, and the time of the next step. */
  due(now: Date): { readonly owners: readonly ResourceRef[]; readonly next: Date | undefined } {
    const owners: ResourceRef[] = [];
    let next: Date | undefined;
    for (const { need, until } of this.#certificates.values()) {
      const authority = this.#authorities.get(need.authority)?.until ?? until;
      const time = authority < until ? authority : until;
      if (time <= now) owners.push(need.owner);
      else if (next === undefined || time < next) next = time;
    }
    return { owners, next };
  }

  /** Removes certificates that the resource no longer needs; `needs` are all of its own. */
  removeUnused(owner: ResourceRef, used: ReadonlySet<string>): Promise<void> {
    const result = this.#turn.then(() => this.#removeUnused(owner, used));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #removeUnused(owner: ResourceRef, used: ReadonlySet<string>): Promise<void> {
    const { writer, secrets, namespace } = this.#options;
    for (const [name, { need }] of this.#certificates) {
      const own = need.owner.kind === owner.kind && need.owner.name === owner.name;
      if (own && !used.has(name)) this.#certificates.delete(name);
    }
    const made = new Map<string, 'operator' | 'cert-manager'>();
    for (const name of used) {
      made.set(name, this.#certificates.get(name)?.need.issuer === undefined ? 'operator' : 'cert-manager');
    }
    const certificates = this.#options.certificates();
    const unused = unusedCertificates(owner, made, namespace, { secrets, certificates });
    if (certificates !== undefined) for (const object of unused.certificates) await writer.remove(object, certificates);
    for (const object of unused.secrets) await writer.remove(object, secrets);
    this.#forgetOrphans();
  }

  async #ensureAll(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    this.#forgetOrphans();
    const issued = new Map<string, IssuedCertificate>();
    const authorities = new Map<string, Authority>();
    for (const need of needs) {
      const owner = this.#options.owner(need.owner);
      if (owner === undefined) continue;
      if (need.issuer !== undefined) {
        const made = await this.#ensureByCertManager(need, owner);
        if (made !== undefined) issued.set(need.name, this.#withAuthorities(need.name, made));
        continue;
      }
      const authority = authorities.get(need.authority) ?? (await this.#authority(need.authority, needs));
      authorities.set(need.authority, authority);
      const leaf = await keepLeaf(need, authority, owner, this.#options);
      this.#certificates.set(need.name, { need, notAfter: leaf.issued.notAfter, until: leaf.until });
      issued.set(need.name, this.#withAuthorities(need.name, leaf.issued));
    }
    return issued;
  }

  /** The authority belongs to the resource whose server uses its certificates: clients come and go. */
  async #authority(name: string, needs: readonly CertificateNeed[]): Promise<Authority> {
    const owner =
      needs.find((need) => need.authority === name && need.usages.includes('server'))?.owner ??
      this.#authorities.get(name)?.owner;
    const { authority, until } = await keepAuthority(name, owner && this.#options.owner(owner), this.#options);
    this.#authorities.set(name, { owner, notAfter: validityOf(authority.signing.certPem).notAfter, until });
    return authority;
  }

  async #ensureByCertManager(need: CertificateNeed, owner: OwnerReference): Promise<IssuedCertificate | undefined> {
    const { certificates, secrets, writer, namespace, times } = this.#options;
    const cache = certificates();
    const issued = issuedInSecret(secrets.get(namespace, leafSecretName(need.name)));
    if (cache !== undefined) {
      const names = certificateNames(need, namespace);
      await writer.ensure(certificateObject(need, names, namespace, need.validForMs ?? times.leafLifeMs, owner), cache);
    } else if (issued === undefined) throw certManagerMissing(need);
    // cert-manager renews by itself, and the change of the Secret is an event.
    if (issued !== undefined) {
      this.#certificates.set(need.name, { need, notAfter: issued.notAfter, until: issued.notAfter });
    }
    return issued;
  }

  #forgetOrphans(): void {
    for (const [name, { need }] of this.#certificates) {
      if (this.#options.owner(need.owner) === undefined) this.#certificates.delete(name);
    }
    const used = new Set([...this.#certificates.values()].map(({ need }) => need.authority));
    for (const name of this.#authorities.keys()) if (!used.has(name)) this.#authorities.delete(name);
  }

  #withAuthorities(certificate: string, issued: IssuedCertificate): IssuedCertificate {
    const ca = this.#data(certificate)['ca.crt'];
    return ca === undefined || ca === '' ? issued : { ...issued, ca };
  }

  #data(certificate: string): Readonly<Record<string, string | undefined>> {
    const { secrets, namespace } = this.#options;
    return secretData(secrets.get(namespace, leafSecretName(certificate)));
  }
}

/** A certificate of cert-manager stays in use when the kinds of cert-manager are gone. Without one the operator cannot make it. */
function certManagerMissing({ name, issuer }: CertificateNeed): ResourceError {
  return new ResourceError(
    'KindUnknown',
    `the certificate ${name} is to be made by the ${issuer?.kind ?? 'Issuer'} ${issuer?.name ?? ''} of cert-manager, and the cluster has no Certificate of ` +
      'cert-manager.io/v1, or does not let the operator read it: install cert-manager, or remove the issuer from the spec',
  );
}
