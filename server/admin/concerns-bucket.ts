import { evaluate, type NamedPolicy } from '../../protocol/policy/evaluate.ts';

/** Whether a policy by itself allows to look into a bucket, or to read or put an object of any name. */
export function concernsBucket(policy: NamedPolicy, bucket: string): boolean {
  const asked = [
    ['s3:ListBucket', bucket],
    ['s3:GetObject', `${bucket}/`],
    ['s3:PutObject', `${bucket}/`],
  ] as const;
  return asked.some(
    ([action, resource]) => evaluate([policy], { action, resource, context: {}, variables: {} }).effect === 'allow',
  );
}
