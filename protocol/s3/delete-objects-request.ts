export interface DeleteObjectsRequest {
  readonly quiet: boolean;
  /** 1 to 1,000; keys are not checked here, since a bad one is an error of its own in the answer. */
  readonly objects: readonly { readonly key: string; readonly versionId?: string }[];
}

export function parseDeleteObjects(_body: string | Buffer): DeleteObjectsRequest {
  throw new Error('not yet');
}
