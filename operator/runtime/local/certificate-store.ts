import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { removeUnfinished, writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import type { CertificateAndKey } from '../../../platform/tls/certificate-and-key.ts';
import { identityOfCertificate } from '../../../protocol/key-service/identity.ts';
import { issueCertificate, makeCa } from '../../../platform/tls/issue-certificate.ts';
import type { CertificateNeed, CertificatePart, IssuedCertificate } from '../../contract/workload.ts';
import type { StateFolder } from './state-folder.ts';
import { mutex } from '../../../platform/async/concurrency.ts';

const day = 24 * 60 * 60 * 1_000;
const caLifeMs = 3_650 * day;
const leafLifeMs = 365 * day;

/** Authorities and certificates of the local runtime, kept in files with mode 0600. */
export class CertificateStore {
  readonly #state: StateFolder;
  readonly #now: () => Date;
  /** Reconciles run at the same time. Only one of them checks for a certificate and makes it. */
  readonly #lock = mutex();

  constructor(state: StateFolder, now: () => Date) {
    this.#state = state;
    this.#now = now;
  }

  /** Makes missing certificates, and renews those with a third of their life left or without a needed name. Keys and identities stay. */
  ensure(need: CertificateNeed): Promise<IssuedCertificate> {
    return this.#lock(() => this.#ensure(need));
  }

  /** Returns the PEM of a part of an ensured certificate. */
  part(need: CertificateNeed, part: CertificatePart): Promise<string> {
    return this.#lock(() => this.#part(need, part));
  }

  async #ensure(need: CertificateNeed): Promise<IssuedCertificate> {
    const authority = await this.#authority(need.authority);
    const names = namesOf(need);
    const kept = await this.#read('certificates', need.name);
    if (kept !== undefined && this.#fits(kept, authority, names)) return issued(kept, authority);
    const made = await issueCertificate({
      commonName: need.commonName,
      dnsNames: names.filter((name) => isIP(name) === 0),
      ipAddresses: names.filter((name) => isIP(name) !== 0),
      usages: need.usages,
      validForMs: leafLifeMs,
      issuer: authority,
      now: this.#now(),
      ...(kept === undefined ? {} : { keyPem: kept.keyPem }),
    });
    await this.#write(made, 'certificates', need.name);
    return issued(made, authority);
  }

  async #part(need: CertificateNeed, part: CertificatePart): Promise<string> {
    if (part === 'ca') return (await this.#authority(need.authority)).certPem;
    const kept = await this.#read('certificates', need.name);
    if (kept === undefined) throw new Error(`the certificate ${need.name} was never made`);
    return part === 'certificate' ? kept.certPem : kept.keyPem;
  }

  async #authority(name: string): Promise<CertificateAndKey> {
    const kept = await this.#read('authorities', name);
    if (kept !== undefined) return kept;
    const made = await makeCa({ commonName: `${name} key service CA`, validForMs: caLifeMs, now: this.#now() });
    await this.#write(made, 'authorities', name);
    return made;
  }

  #fits(kept: CertificateAndKey, authority: CertificateAndKey, names: readonly string[]): boolean {
    const certificate = new X509Certificate(kept.certPem);
    const left = certificate.validToDate.getTime() - this.#now().getTime();
    const life = certificate.validToDate.getTime() - certificate.validFromDate.getTime();
    return (
      left > life / 3 &&
      certificate.checkIssued(new X509Certificate(authority.certPem)) &&
      names.every((name) =>
        isIP(name) === 0 ? certificate.checkHost(name) !== undefined : certificate.checkIP(name) !== undefined,
      )
    );
  }

  async #read(folder: string, name: string): Promise<CertificateAndKey | undefined> {
    const certPem = await this.#state.readText(folder, name, 'tls.crt');
    const keyPem = await this.#state.readText(folder, name, 'tls.key');
    return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
  }

  async #write(made: CertificateAndKey, folder: string, name: string): Promise<void> {
    this.#state.folder(folder, name);
    // Write the key first: a certificate without its key would be read as a mismatched pair.
    await removeUnfinished(this.#state.at(folder, name, 'tls.key'));
    await writeFileAtomically(this.#state.at(folder, name, 'tls.key'), made.keyPem);
    await writeFileAtomically(this.#state.at(folder, name, 'tls.crt'), made.certPem);
  }
}

/** Workloads on this machine are reached by loopback names, or by an address of the user. */
function namesOf(need: CertificateNeed): readonly string[] {
  if (need.validFor.length === 0) return [];
  const given = need.alsoValidFor.filter((name) => name !== '0.0.0.0' && name !== '::');
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...given])];
}

function issued({ certPem }: CertificateAndKey, authority: CertificateAndKey): IssuedCertificate {
  return {
    identity: identityOfCertificate(certPem),
    notAfter: new X509Certificate(certPem).validToDate,
    ca: authority.certPem,
  };
}
