import type { S3Client } from '@aws-sdk/client-s3';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { ExpectedUploads, Witness } from './expected.ts';

export const BUCKET = 'crash';

/** A bucket with versions and object lock. */
export const VERSIONS = 'crash-versions';

const KEYS_OF_EACH = 4;

export interface Writing {
  readonly s3: S3Client;
  /** Nobody else writes under it. */
  readonly writer: string;
  readonly bucket: string;
  readonly random: SeededRandom;
  readonly witness: Witness;
  /** Where they are followed; otherwise each upload is complete, or abandoned, within one step. */
  readonly uploads?: ExpectedUploads;
  /** The bucket has versions and object lock, which are changed too. */
  readonly versions?: boolean;
  /** Told of answers in which the server says that it is in trouble (5xx). */
  readonly onTrouble?: (status: number | undefined, code: string) => void;
}

export function nameIn({ bucket, writer, random }: Writing): string {
  return `${bucket}/${writer}/${random.between(1, KEYS_OF_EACH)}`;
}

export function begin(witness: Witness, asked: string[], name: string, content: string | undefined): void {
  witness.begin(name, content);
  asked.push(name);
}
