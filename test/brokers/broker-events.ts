import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import type { EventMessage } from '../../server/notifications/event-message.ts';
import { openTarget } from '../../server/notifications/open-target.ts';
import type { NotificationTarget, TargetValues } from '../../server/notifications/target.ts';

export const password = 'broker-password';

export const created = (number: number): EventMessage => {
  const record = { eventName: 's3:ObjectCreated:Put', number };
  const name = record.eventName;
  const key = 'b/key';
  return {
    name,
    key,
    time: '2026-01-02T03:04:05.006Z',
    record,
    body: JSON.stringify({ EventName: name, Key: key, Records: [record] }),
  };
};
export const untagged: EventMessage = { ...created(0), name: 's3:ObjectTagging:Delete' };
export const removed: EventMessage = { ...created(0), name: 's3:ObjectRemoved:Delete' };

/** The removal of an old version, and of the newest one, which makes the one before it current. */
export const removedOld: EventMessage = { ...removed, current: 'unchanged' };
export const restored = (number: number): EventMessage => ({ ...removed, current: created(number).record ?? {} });

export const open = (type: string, values: TargetValues) => openTarget({ id: 'A', type, queueLimit: 1, values });

/** Expects that the first event fails. */
export async function fails(type: string, values: TargetValues, message: RegExp): Promise<void> {
  const target = await open(type, values);
  await expect(target.send(created(1))).rejects.toThrow(message);
  await target.close();
}

/** What every target does when its broker is killed and comes back. */
export async function survives(
  target: NotificationTarget,
  { kill, start }: { readonly kill: () => Promise<void>; readonly start: () => Promise<void> },
): Promise<void> {
  await target.send(created(89));
  await kill();
  await expect(target.send(created(90))).rejects.toThrow();
  await start();
  await expect.poll(() => target.send(created(91)).then(() => 'sent', String), { timeout: 90_000 }).toBe('sent');
  await target.close();
}

/** Files of a server's certificate for 127.0.0.1 and localhost, of its authority, and of another authority. */
export async function tlsFiles(folder: string) {
  const validForMs = 24 * 60 * 60_000;
  const [issuer, other] = [
    await makeCa({ commonName: 'own', validForMs }),
    await makeCa({ commonName: 'other', validForMs }),
  ];
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const { certPem, keyPem } = await issueCertificate({ commonName: 'broker', ...names, validForMs, issuer });
  const files = { cert: certPem, key: keyPem, both: `${keyPem}${certPem}`, ca: issuer.certPem, other: other.certPem };
  const paths = Object.entries(files).map(([name, pem]) => [name, join(folder, `${name}.pem`), pem] as const);
  for (const [, path, pem] of paths) await writeFile(path, pem);
  return Object.fromEntries(paths.map(([name, path]) => [name, path])) as Record<keyof typeof files, string>;
}
