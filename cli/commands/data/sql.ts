import { isNotFound } from '../../s3/error-of-status.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { displayName, parseRemote, type RemoteTarget } from '../../config/target.ts';
import type { S3Client } from '../../s3/client.ts';
import { EncryptionRules, type EncryptionOptions } from '../../s3/encryption-rules.ts';
import { readObject, headObject } from '../../s3/objects.ts';
import { selectObject } from '../../s3/select-object.ts';
import { printable } from '../../../platform/text/printable.ts';
import type { Context } from '../context.ts';
import { Failures } from './entries/entry.ts';
import { remoteEntries } from './entries/remote-entries.ts';
import { compressionOf, inputFormat, outputFormat, type FormatOptions } from './sql-formats.ts';
import { writeOut } from '../../terminal/io.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface SqlOptions extends FormatOptions, EncryptionOptions {
  readonly query?: string;
  readonly recursive?: boolean;
}

/** The query of other clients if none is given. */
const everything = 'select * from s3object';
const dataKey = /\.(csv|json|parquet|gz|bz2)$/i;
/** Bytes that are read to find the first line. */
const maxHeaderBytes = 65_536;

/** Writes the records that a query finds in objects to standard output. */
export async function sql(context: Context, args: readonly string[], options: SqlOptions): Promise<void> {
  // The flags are checked before a request is sent.
  outputFormat(options, inputFormat('', options), context.output.json);
  const failures = new Failures(context);
  const session = { headerWritten: false };
  for (const argument of args) {
    try {
      const target = parseRemote(argument, await context.aliases());
      if (target.bucket === '')
        throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name an object or a prefix`);
      const client = await context.client(target.alias);
      for await (const key of keysOf(client, target, options))
        await query(context, client, { ...target, key }, options, session);
    } catch (error) {
      if (args.length === 1) throw error;
      failures.report(error, `Unable to query \`${printable(argument)}\``);
    }
  }
  failures.throwIfAny();
}

/** The object itself, or the objects below a prefix whose names have the extension of a format. */
async function* keysOf(
  client: S3Client,
  target: RemoteTarget,
  { recursive = false }: SqlOptions,
): AsyncGenerator<string> {
  const { bucket, key } = target;
  if (key !== '' && !key.endsWith('/')) {
    try {
      await headObject(client, { bucket, key });
      yield key;
      return;
    } catch (error) {
      const isMissing = isNotFound(error);
      // An object with a key of the client refuses a question without it, and it exists.
      if (!isMissing && error instanceof ResponseError && error.status === 400) {
        yield key;
        return;
      }
      if (!isMissing || !recursive) throw error;
    }
  }
  const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
  for await (const { key: found } of remoteEntries(client, { ...target, key: prefix }, { recursive })) {
    if (dataKey.test(found)) yield found;
  }
}

async function query(
  context: Context,
  client: S3Client,
  target: RemoteTarget,
  options: SqlOptions,
  session: { headerWritten: boolean },
): Promise<void> {
  const { bucket, key } = target;
  const input = inputFormat(key, options);
  const headers = new EncryptionRules(options, {}).forKey(displayName(target, key));
  const expression = options.query || everything;
  if (options.csvOutputHeader !== undefined && !session.headerWritten) {
    const isWhole = options.csvOutputHeader === '' && /^\s*select\s+\*\s/i.test(expression);
    const header = isWhole ? await firstLine(client, target, headers) : options.csvOutputHeader;
    if (header !== '') await writeOut(context.io, Buffer.from(`${header}\n`));
  }
  session.headerWritten = true;
  const records = selectObject(
    client,
    { bucket, key },
    {
      expression,
      input,
      output: outputFormat(options, input, context.output.json),
      compression: compressionOf(key, options),
      headers,
    },
  );
  for await (const record of records) await writeOut(context.io, record);
}

async function firstLine(
  client: S3Client,
  { bucket, key }: RemoteTarget,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { size, etag } = await headObject(client, { bucket, key }, { headers });
  const range = { bucket, key, etag, start: 0, end: Math.min(size, maxHeaderBytes), headers };
  const chunks: Buffer[] = [];
  for await (const chunk of readObject(client, range)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1)[0] ?? '';
}
