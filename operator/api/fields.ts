import { z } from 'zod';

// Every string and list has a maximum: the API server refuses a CRD whose CEL rules could cost too much on unbounded ones.

/** Name of another object in the same namespace. */
export const objectName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

export const url = (help: string) => z.string().min(8).max(2048).describe(help);

export const port = z.int().min(1).max(65535);

export const host = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[A-Za-z0-9.:_-]+$/);

/** A key of a Secret. */
export const secretKeyRef = z.strictObject({
  name: objectName.describe('Name of the Secret.'),
  key: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[-._a-zA-Z0-9]+$/)
    .describe('Key in the Secret.'),
});

export const keyName = z
  .string()
  .min(1)
  .max(80)
  .regex(/^[A-Za-z0-9_-]+$/);

export const image = z
  .string()
  .min(1)
  .max(512)
  .describe('Container image. The local runtime runs the program it comes with.');
