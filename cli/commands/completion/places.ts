import { displayName, parsePlace, type RemoteTarget } from '../../config/target.ts';
import { listBuckets } from '../../s3/buckets.ts';
import type { S3Client } from '../../s3/client.ts';
import { listObjects } from '../../s3/list-objects.ts';
import type { Context } from '../context.ts';

/** A terminal shows no more names at once. */
const maxPlaces = 200;

/**
 * Returns the places whose names begin with the word: aliases, buckets, and keys up to the next `/`. It asks the server, and returns nothing
 * when that fails, since a completion prints no errors.
 */
export async function placesOf(context: Context, word: string): Promise<readonly string[]> {
  try {
    const aliases = await context.aliases();
    if (!word.includes('/'))
      return [...aliases.keys()].filter((name) => name.startsWith(word)).map((name) => `${name}/`);
    const target = parsePlace(word, aliases);
    if (target === undefined) return [];
    const client = await context.client(target.alias);
    const isBucket = word.split('/').length === 2;
    return isBucket ? await bucketsOf(client, target.aliasName, word) : await keysOf(client, target);
  } catch {
    return [];
  }
}

async function bucketsOf(client: S3Client, aliasName: string, word: string): Promise<readonly string[]> {
  const places = (await listBuckets(client)).map(({ name }) => `${aliasName}/${name}/`);
  return places.filter((place) => place.startsWith(word)).slice(0, maxPlaces);
}

async function keysOf(client: S3Client, target: RemoteTarget): Promise<readonly string[]> {
  const { bucket, key } = target;
  const places: string[] = [];
  for await (const page of listObjects(client, { bucket, prefix: key, recursive: false, limit: maxPlaces })) {
    places.push(...page.map((one) => displayName(target, typeof one === 'string' ? one : one.key)));
  }
  return places;
}
