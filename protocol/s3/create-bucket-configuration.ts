/** The location that a CreateBucket body asks for; '' when it names none (or the body is empty). */
export function parseCreateBucketConfiguration(_body: string | Buffer): { readonly location: string } {
  throw new Error('not yet');
}
