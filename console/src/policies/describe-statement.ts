import type { Statement } from '../../../protocol/console/answers.ts';
import { listed, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** Names of well-known groups of actions. Only exact matches get a name. */
const actionNames = (): Readonly<Record<string, string>> => ({
  '*': t.policies.everything,
  's3:*': t.policies.everyS3Action,
  'admin:*': t.policies.everyAdminAction,
  'kms:*': t.policies.everyKeyAction,
  'sts:*': t.policies.everyCredentialsAction,
  's3:Get*': t.policies.everyReadingS3Action,
  's3:List*': t.policies.everyListingS3Action,
});

export function describeAction(action: string): string {
  return actionNames()[action] ?? action;
}

/** Describes a principal of a bucket policy without its ARN prefix. */
export function describePrincipal(pattern: string): string {
  return pattern === '*' ? t.policies.everyone : pattern.replace(/^arn:[^:]*:iam:[^:]*:[^:]*:/, '');
}

/** Describes a resource without its ARN prefix. */
export function describeResource(pattern: string): string {
  const name = pattern.replace(/^arn:[^:]*:s3:[^:]*:[^:]*:/, '');
  if (name === '*') return t.policies.everyBucketAndObject;
  const whole = /^([^*?/$]+)\/\*$/.exec(name)?.[1];
  if (whole !== undefined) return say(t.policies.everyObjectIn, { whole });
  const bucket = /^[^*?/$]+$/.test(name);
  return bucket ? say(t.policies.theBucket, { name }) : name;
}

export function describeCondition({ operator, key, values }: Statement['conditions'][number]): string {
  const value = listed(values, 'or');
  switch (operator) {
    case 'Null':
      return values[0] === 'true' ? say(t.policies.isAbsent, { key }) : say(t.policies.isPresent, { key });
    case 'StringEquals':
      return say(t.policies.is, { key, value });
    case 'StringNotEquals':
      return say(t.policies.isNot, { key, value });
    case 'StringEqualsIgnoreCase':
      return say(t.policies.isInAnyCase, { key, value });
    case 'StringNotEqualsIgnoreCase':
      return say(t.policies.isNotInAnyCase, { key, value });
    case 'StringLike':
      return say(t.policies.isLike, { key, value });
    case 'StringNotLike':
      return say(t.policies.isNotLike, { key, value });
    default:
      return `${key} ${operator} ${value}`;
  }
}
