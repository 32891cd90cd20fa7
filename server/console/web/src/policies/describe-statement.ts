import type { Statement } from '../../../contract/answers.ts';

/** Names of well-known groups of actions. Only exact matches get a name. */
const actionNames: Readonly<Record<string, string>> = {
  '*': 'everything',
  's3:*': 'every S3 action',
  'admin:*': 'every admin action',
  'kms:*': 'every key action',
  'sts:*': 'every credentials action',
  's3:Get*': 'every reading S3 action',
  's3:List*': 'every listing S3 action',
};

export function describeAction(action: string): string {
  return actionNames[action] ?? action;
}

/** Describes a principal of a bucket policy without its ARN prefix. */
export function describePrincipal(pattern: string): string {
  return pattern === '*' ? 'everyone' : pattern.replace(/^arn:[^:]*:iam:[^:]*:[^:]*:/, '');
}

/** Describes a resource without its ARN prefix. */
export function describeResource(pattern: string): string {
  const name = pattern.replace(/^arn:[^:]*:s3:[^:]*:[^:]*:/, '');
  if (name === '*') return 'every bucket and object';
  const whole = /^([^*?/$]+)\/\*$/.exec(name)?.[1];
  if (whole !== undefined) return `every object in ${whole}`;
  const bucket = /^[^*?/$]+$/.test(name);
  return bucket ? `the bucket ${name}` : name;
}

const operators: Readonly<Record<string, string>> = {
  StringEquals: 'is',
  StringNotEquals: 'is not',
  StringEqualsIgnoreCase: 'is, in any case,',
  StringNotEqualsIgnoreCase: 'is not, in any case,',
  StringLike: 'is like',
  StringNotLike: 'is not like',
};

export function describeCondition({ operator, key, values }: Statement['conditions'][number]): string {
  if (operator === 'Null') return `${key} is ${values[0] === 'true' ? 'absent' : 'present'}`;
  return `${key} ${operators[operator] ?? operator} ${values.join(' or ')}`;
}
