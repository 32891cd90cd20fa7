import type { Access } from '../access/principal.ts';
import type { RequestHandler } from '../access/answer.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';

export interface S3Services {
  readonly objects: ObjectLayer;
  readonly access: Access;
  readonly region: string;
}

/** The S3 API over the object layer. */
export function createS3Api(_services: S3Services): RequestHandler {
  throw new Error('not yet');
}
