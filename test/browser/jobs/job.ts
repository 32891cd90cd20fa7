import type { S3Client } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import type { Hands } from './hands.ts';

/** The services that a job may use beside the hands of its user. */
export interface JobContext {
  readonly page: Page;
  readonly s3: S3Client;
  /** The address of the S3 API, for clients with other keys. */
  readonly endpoint: string;
  /** A name that no other job has, for buckets, users and policies. */
  readonly id: string;
  /** Calls the admin API as root. */
  readonly admin: (method: string, call: string, body?: unknown) => Promise<unknown>;
  /** A file of the user's machine. */
  readonly file: (name: string, content: string) => Promise<string>;
}

/** A daily job. It begins on the first page after the sign-in. */
export interface Job {
  readonly title: string;
  /** Makes by a client what must be there before. */
  prepare?(context: JobContext): Promise<unknown>;
  /** Does the job in the console. */
  work(hands: Hands, context: JobContext): Promise<unknown>;
  /** Fails until a client sees what was done. */
  check(context: JobContext): Promise<unknown>;
}
