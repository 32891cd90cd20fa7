import { describe, expect, it } from 'vitest';
import type { S3Client } from '../../s3/client.ts';
import type { Entry } from './entries/entry.ts';
import { deleteInBatches } from './remove-batches.ts';

const entry = (key: string, id: string) => ({ bucket: 'b', key, version: { id } }) as unknown as Entry;

/** Removes entries at a server with this answer, and returns what became of each. */
async function remove(entries: readonly Entry[], answer: string): Promise<string[]> {
  const client = { text: async () => ({ text: `<DeleteResult>${answer}</DeleteResult>` }) } as unknown as S3Client;
  const outcomes: string[] = [];
  const all = (async function* all() {
    yield* entries;
  })();
  for await (const removal of deleteInBatches(client, all)) {
    outcomes.push('failure' in removal ? removal.failure.code : 'deleted');
  }
  return outcomes;
}

describe('the answer to a removal of several versions', () => {
  it('may name the null version without its id', async () => {
    expect(await remove([entry('a/', 'null')], '<Deleted><Key>a/</Key></Deleted>')).toEqual(['deleted']);
    expect(await remove([entry('a/', 'null')], '<Deleted><Key>a/</Key><VersionId>null</VersionId></Deleted>')).toEqual([
      'deleted',
    ]);
  });

  it('is a failure for a version that it does not name', async () => {
    const answer = '<Deleted><Key>a</Key><VersionId>2</VersionId></Deleted>';
    expect(await remove([entry('a', '1'), entry('a', '2'), entry('a', 'null')], answer)).toEqual([
      'InternalError',
      'deleted',
      'InternalError',
    ]);
  });
});
