import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { refuse, Refused } from './refused.ts';

/** Reads a request's JSON body; none counts as `{}`. Errors with a `Refused`: 413 beyond `maxBytes`, 400 where it is not as it must be. */
export async function readJsonBody<T>(request: IncomingMessage, schema: z.ZodType<T>, maxBytes: number): Promise<T> {
  const text = await readText(request, maxBytes);
  let json: unknown;
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    throw new Refused(400, 'invalid argument: the body is not valid JSON');
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  // The value may be a key: only its place is named.
  const place = issue?.path.join('.') ?? '';
  throw new Refused(400, `invalid argument: ${place === '' ? 'the body' : `"${place}"`} is missing or not of its form`);
}

async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): Refused {
  return refuse('bodyTooLarge', { headers: { connection: 'close' } });
}
