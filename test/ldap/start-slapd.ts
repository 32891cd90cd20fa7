import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { freePort } from '../support/process/free-port.ts';

const run = promisify(execFile);

export const suffix = 'dc=example,dc=org';
export const admin = { dn: `cn=admin,${suffix}`, password: 'admin-password' };
export const reader = { dn: `cn=reader,${suffix}`, password: 'reader-password' };

/** A real directory of this test alone. */
export interface Slapd {
  /** `127.0.0.1:PORT`. */
  readonly plain: string;
  readonly tls: string;
  readonly caFile: string;
  stop(): Promise<void>;
  /** On the same ports, with the same people. */
  start(): Promise<void>;
  /** Its process stands still: connections are taken, nothing is answered. */
  pause(): void;
  resume(): void;
}

export async function startSlapd(ldif: string): Promise<Slapd> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-slapd-'));
  const ca = await makeCa({ commonName: 'directory authority', validForMs: 3_600_000 });
  const own = await issueCertificate({
    commonName: 'directory',
    ipAddresses: ['127.0.0.1'],
    dnsNames: ['localhost'],
    validForMs: 3_600_000,
    issuer: ca,
  });
  const caFile = join(folder, 'ca.pem');
  await mkdir(join(folder, 'db'));
  await writeFile(caFile, ca.certPem);
  await writeFile(join(folder, 'cert.pem'), own.certPem);
  await writeFile(join(folder, 'key.pem'), own.keyPem, { mode: 0o600 });
  await writeFile(join(folder, 'slapd.conf'), configuration(folder));
  await writeFile(join(folder, 'people.ldif'), ldif);
  await run('/usr/sbin/slapadd', ['-f', join(folder, 'slapd.conf'), '-l', join(folder, 'people.ldif')]);
  const [plainPort, tlsPort] = [await freePort(), await freePort()];
  const urls = `ldap://127.0.0.1:${plainPort} ldaps://127.0.0.1:${tlsPort}`;
  let child: ChildProcess | undefined;

  async function start() {
    // -d keeps it in the foreground.
    child = spawn('/usr/sbin/slapd', ['-d', '0', '-f', join(folder, 'slapd.conf'), '-h', urls], { stdio: 'inherit' });
    await untilListening(plainPort, child);
  }
  async function stop() {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null) return;
    const exited = new Promise((resolve) => {
      ended.once('exit', resolve);
    });
    ended.kill('SIGCONT');
    ended.kill('SIGTERM');
    await exited;
  }

  await start();
  return {
    plain: `127.0.0.1:${plainPort}`,
    tls: `127.0.0.1:${tlsPort}`,
    caFile,
    start,
    async stop() {
      await stop();
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  };
}

export async function removeSlapd(slapd: Slapd): Promise<void> {
  await slapd.stop();
  await rm(join(slapd.caFile, '..'), { recursive: true, force: true });
}

function configuration(folder: string): string {
  return [
    'include /etc/ldap/schema/core.schema',
    'include /etc/ldap/schema/cosine.schema',
    'include /etc/ldap/schema/inetorgperson.schema',
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    'moduleload memberof',
    'moduleload ppolicy',
    `pidfile ${folder}/pid`,
    `TLSCACertificateFile ${folder}/ca.pem`,
    `TLSCertificateFile ${folder}/cert.pem`,
    `TLSCertificateKeyFile ${folder}/key.pem`,
    // Whoever binds by name must give a password, as everywhere.
    'allow bind_anon_cred',
    'database mdb',
    'maxsize 67108864',
    `suffix "${suffix}"`,
    `rootdn "${admin.dn}"`,
    `rootpw ${admin.password}`,
    `directory ${folder}/db`,
    'index objectClass,uid,member eq',
    'access to attrs=userPassword by anonymous auth by * none',
    // Strangers find nobody.
    `access to * by dn.exact="${reader.dn}" read by * none`,
    'overlay ppolicy',
    'ppolicy_use_lockout',
    '',
  ].join('\n');
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const end = Date.now() + 10_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`slapd exited with ${child.exitCode}`);
    if (Date.now() > end) throw new Error('slapd does not listen');
    const connected = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (connected) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** A server that asks this directory, by TLS, set up as MinIO would be. */
export function directorySettings(slapd: Slapd): Record<string, string> {
  return {
    MINIO_IDENTITY_LDAP_SERVER_ADDR: slapd.tls,
    SVC_IDENTITY_LDAP_CA_FILE: slapd.caFile,
    MINIO_IDENTITY_LDAP_LOOKUP_BIND_DN: reader.dn,
    MINIO_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD: reader.password,
    MINIO_IDENTITY_LDAP_USER_DN_SEARCH_BASE_DN: `ou=people,${suffix}`,
    MINIO_IDENTITY_LDAP_USER_DN_SEARCH_FILTER: '(uid=%s)',
    MINIO_IDENTITY_LDAP_GROUP_SEARCH_BASE_DN: `ou=groups,${suffix}`,
    MINIO_IDENTITY_LDAP_GROUP_SEARCH_FILTER: '(&(objectClass=groupOfNames)(member=%d))',
  };
}
