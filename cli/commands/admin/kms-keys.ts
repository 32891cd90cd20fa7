import { counted } from '../../../platform/text/message-text.ts';
import { adminOf } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { printable } from '../../../platform/text/printable.ts';
import { secret } from '../../terminal/prompt.ts';
import { singleAttempt } from '../../s3/retry.ts';

export async function createKey(context: Context, [alias = '', key = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'POST', api: 'kms', call: 'key/create', query: { 'key-id': key } });
  context.output.message(`Created master key \`${key}\` successfully.`, { keyId: key });
  context.output.hint(`Encrypt a bucket with it: coffer encrypt set sse-kms ${key} ${alias}/BUCKET`);
}

interface KeyStatus {
  readonly 'key-id'?: string;
  readonly 'encryption-error'?: string;
  readonly 'decryption-error'?: string;
}

/** Tests whether a key encrypts and decrypts; the default is the default key of the server. Exits with 1 when it does not. */
export async function showKeyStatus(context: Context, [alias = '', key]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const status = await admin.json<KeyStatus>({
    method: 'GET',
    api: 'kms',
    call: 'key/status',
    query: { 'key-id': key },
  });
  const keyId = status['key-id'] ?? key ?? '';
  const encryptionError = status['encryption-error'] ?? '';
  const decryptionError = status['decryption-error'] ?? '';
  context.output.message(
    [
      `Key: ${printable(keyId)}`,
      `   - Encryption ${mark(encryptionError)}`,
      // The server tries to decrypt only what it encrypted.
      ...(encryptionError === '' ? [`   - Decryption ${mark(decryptionError)}`] : []),
    ].join('\n'),
    {
      keyId,
      encryptionError: encryptionError || undefined,
      decryptionError: decryptionError || undefined,
    },
  );
  if (encryptionError !== '' || decryptionError !== '')
    throw new ProgramError('Reported', `The key ${keyId} does not work`);
}

function mark(error: string): string {
  return error === '' ? '✔' : `✘ (${printable(error)})`;
}

interface ListedKey {
  readonly name: string;
  readonly createdAt?: string;
  readonly createdBy?: string;
}

/** Lists the keys that match a pattern; `*` matches any characters. */
export async function listKeys(context: Context, [alias = '', pattern = '*']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const keys =
    (await admin.json<readonly ListedKey[] | null>({
      method: 'GET',
      api: 'kms',
      call: 'key/list',
      query: { pattern },
    })) ?? [];
  const human =
    keys.length === 0
      ? `There are no such keys. Make one: coffer admin kms key create ${alias} NAME`
      : context.output.table(
          ['KEY', 'CREATED', 'BY'],
          keys.map(({ name, createdAt, createdBy }) => [name, formatDate(createdAt), createdBy || '-']),
        );
  context.output.message(human, { target: alias, keys: keys.map(({ name }) => name) });
}

/** Servers that do not know the date send the beginning of time. */
function formatDate(date: string | undefined): string {
  return date === undefined || Number.isNaN(Date.parse(date)) || Date.parse(date) <= 0 ? '-' : date;
}

/** Reads the bytes of a key in base64 from the terminal or standard input. */
export async function importKey(context: Context, [alias = '', key = '', given]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const bytes = (await secret(context, `bytes of the key ${key} in base64`, given)).trim();
  if (Buffer.from(bytes, 'base64').length !== 32 || !/^[A-Za-z0-9+/]{43}=$/.test(bytes)) {
    throw new ProgramError(
      'BadArgument',
      `Invalid key for \`${key}\`: it is 32 bytes in base64, which are 44 characters`,
    );
  }
  await admin.send({ method: 'POST', api: 'kms', call: 'key/import', query: { 'key-id': key }, body: { bytes } });
  context.output.message(`Imported master key \`${key}\` successfully.`, { keyId: key });
}

interface KeyUsage {
  readonly objects?: number;
  readonly uploads?: number;
  readonly buckets?: readonly string[];
  /** True if the identities and settings of the server use the key. */
  readonly backend?: boolean;
}

/** Counts the objects of each key. The server scans all its records for this. */
export async function showKeyUsage(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { keys = {} } = await admin.longRunning<{ readonly keys?: Readonly<Record<string, KeyUsage>> }>({
    method: 'GET',
    api: 'coffer',
    call: 'kms/key/usage',
  });
  const rows = Object.entries(keys).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const human =
    rows.length === 0
      ? 'Nothing is encrypted.'
      : context.output.table(
          ['KEY', 'OBJECTS', 'UPLOADS', 'DEFAULT OF', 'THE SERVER ITSELF'],
          rows.map(([key, { objects = 0, uploads = 0, buckets = [], backend }]) => [
            key,
            String(objects),
            String(uploads),
            buckets.join(', ') || '-',
            backend === true ? 'yes' : 'no',
          ]),
        );
  context.output.list(
    human,
    rows.map(([keyId, usage]) => ({ keyId, ...usage })),
  );
}

/** Removes a key. The server refuses this while an object uses the key, unless `force` repeats the name. */
export async function removeKey(
  context: Context,
  [alias = '', key = '']: readonly string[],
  { force }: { readonly force?: string },
): Promise<void> {
  if (force !== undefined && force !== key) {
    throw new ProgramError('BadArgument', `--force takes the name of the key again: \`${key}\`, not \`${force}\``);
  }
  const admin = await adminOf(context, alias);
  const { lost: usage } = await admin.longRunning<{ readonly lost?: KeyUsage | null }>({
    method: 'DELETE',
    api: 'kms',
    call: 'key/delete',
    query: { 'key-id': key, force },
    retries: singleAttempt,
  });
  const objects = usage?.objects ?? 0;
  context.output.message(
    objects === 0
      ? `Removed key \`${key}\` successfully.`
      : `Removed key \`${key}\`: ${counted(objects, 'object')} ${objects === 1 ? 'is' : 'are'} lost.`,
    { keyId: key, lost: usage ?? null },
  );
}
